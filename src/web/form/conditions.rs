//! Which inputs have an effect only for some values of another one: a script of the page hides them otherwise.

/// When an input has an effect: the input `field` beside it holds one of `values`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Name of the field that decides, in the same object.
    pub(super) field: &'static str,
    /// Its values, separated by `|`; `*` is any but an empty one.
    pub(super) values: &'static str,
}

/// Field, the field that decides, and its values.
const CONDITIONS: &[(&str, &str, &str)] = &[
    ("custom_method", "http_method", "CUSTOM"),
    ("post", "http_method", "POST|CUSTOM"),
    ("post_body", "http_method", "POST|PUT|PATCH|DELETE"),
    ("post_content_type", "http_method", "POST|PUT|PATCH|DELETE"),
    ("schema", "comparison", "matches schema"),
    ("start_day", "persistent", "true"),
    ("start_time", "persistent", "true"),
    ("end_day", "persistent", "true"),
    ("end_time", "persistent", "true"),
    ("from_date", "persistent", "false"),
    ("thru_date", "persistent", "false"),
    ("days", "type", "dynamic"),
    ("keyword_match_type", "keyword_string", "*"),
    ("keyword_match_invert", "keyword_string", "*"),
    ("keyword_match_case", "keyword_string", "*"),
    ("keyword_match_whole_word", "keyword_string", "*"),
    ("keyword_allow_line_wrap", "keyword_string", "*"),
    ("keyword_normalize_spaces", "keyword_string", "*"),
    ("keyword_action", "keyword_string", "*"),
];

/// Returns when the input of the field `name` has an effect; `None` for always.
pub(super) fn condition_of(name: &str) -> Option<Condition> {
    let (_, field, values) = CONDITIONS.iter().find(|(conditional, ..)| *conditional == name)?;
    Some(Condition { field, values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MonitorType;
    use crate::schema::field::FieldType;
    use crate::schema::table::{FieldTable, for_type};
    use crate::web::form::records::{PAGES, PERFORMANCE_ALERTS};

    /// Checks each condition whose input is in `table`: the field that decides is there, and can have the values.
    fn check(table: &FieldTable, seen: &mut Vec<&'static str>) {
        for field in table.fields() {
            match &field.field_type {
                FieldType::Object(inner) | FieldType::List { item_type: FieldType::Object(inner), .. } => {
                    check(inner, seen);
                }
                _ => {}
            }
            let Some(condition) = condition_of(field.name) else { continue };
            // A field of the same name may stand beside others in another object: it has an effect always.
            let Some(decides) = table.field(condition.field) else { continue };
            if let FieldType::TextEnum(choices) = decides.field_type {
                let values = condition.values.split('|');
                assert!(
                    values.clone().any(|value| choices.contains(&value)),
                    "{}: {condition:?}",
                    table.name
                );
            }
            seen.push(field.name);
        }
    }

    #[test]
    fn every_condition_is_about_fields_of_the_same_object() {
        let mut seen = Vec::new();
        let of_monitors = MonitorType::ALL.iter().map(|monitor_type| for_type(*monitor_type));
        for table in of_monitors.chain(PAGES.iter().chain([&PERFORMANCE_ALERTS]).map(|pages| pages.table)) {
            check(table, &mut seen);
        }
        for (name, ..) in CONDITIONS {
            assert!(seen.contains(name), "`{name}` stands beside no such field");
        }
    }
}
