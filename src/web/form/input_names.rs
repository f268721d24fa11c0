//! Names of the inputs of a form: the path of their field, such as `api_steps[0].url`, as in messages of the API. What a form
//! needs to know of an input has the name of the input and a mark that no path has.

use crate::schema::field::{Field, FieldType};

/// Name of the buttons that do something else than save.
pub(super) const ACTION_NAME: &str = "do";

/// Name of the choice of the location that a check is run from.
pub(super) const CHECK_LOCATION: &str = "check_location";

/// The list whose items can be tried one by one.
pub(super) const STEPS: &str = "api_steps";

/// Returns the name of the input that removes the stored secret `path`.
pub(super) fn clear_name(path: &str) -> String {
    format!("{path}@clear")
}

/// Returns the name of the input with the secret `path` that was typed before, sealed.
pub(super) fn sealed_name(path: &str) -> String {
    format!("{path}@sealed")
}

/// Returns the name of the input that says how many items the list `path` has.
pub(super) fn count_name(path: &str) -> String {
    format!("{path}@count")
}

/// Returns the name of the input that says that the form shows the object `path` field by field.
pub(super) fn object_name(path: &str) -> String {
    format!("{path}@object")
}

/// Returns the name of the input that says which stored item the item `path` was.
pub(super) fn origin_name(path: &str) -> String {
    format!("{path}@origin")
}

/// Returns the path of the item `index` of the list `list`.
pub(super) fn item_path(list: &str, index: usize) -> String {
    format!("{list}[{index}]")
}

/// Returns the path of the field `name` of the object `object`.
pub(super) fn member_path(object: &str, name: &str) -> String {
    format!("{object}.{name}")
}

/// Splits the path of an item into that of its list and its place.
pub(super) fn split_item(path: &str) -> Option<(&str, usize)> {
    let (list, index) = path.strip_suffix(']')?.rsplit_once('[')?;
    Some((list, index.parse().ok()?))
}

/// Whether what `path` names lies in what `ancestor` names, or is that.
pub(super) fn is_within(path: &str, ancestor: &str) -> bool {
    path.strip_prefix(ancestor).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '@']))
}

/// Finds the field `path` below `fields`, in lists and objects too.
pub(super) fn find_field(fields: &[&'static Field], path: &str) -> Option<&'static Field> {
    let name = path.split(['.', '[']).next()?;
    let field = *fields.iter().find(|field| field.name == name)?;
    match (&field.field_type, &path[name.len()..]) {
        (_, "") => Some(field),
        (FieldType::List { item_type: FieldType::Object(table), .. }, rest) => {
            let (index, member) = rest.strip_prefix('[')?.split_once("].")?;
            index.parse::<usize>().ok()?;
            find_field(table.fields(), member)
        }
        (FieldType::Object(table), rest) => find_field(table.fields(), rest.strip_prefix('.')?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_split_from_their_lists() {
        assert_eq!(split_item("a[0].b[12]"), Some(("a[0].b", 12)));
        for wrong in ["a", "a[0].b", "a[x]", "a[-1]", "[", "a0]"] {
            assert_eq!(split_item(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_path_lies_within_itself_and_its_ancestors_only() {
        for ancestor in ["a", "a[1]", "a[1].b"] {
            assert!(is_within("a[1].b", ancestor), "{ancestor}");
        }
        for other in ["a[1].bc", "a[1].", "a[1", "b", "a[1].b.c"] {
            assert!(!is_within("a[1].b", other), "{other}");
        }
    }
}
