//! Changes of the lists in a form, which is shown again then: add an item, remove, copy or move it.

use super::input_names::{count_name, find_field, item_path, split_item};
use super::nested_values::item_count;
use super::text_from_values::{FormTexts, add_item_texts};
use crate::schema::field::{Field, FieldType};
use crate::schema::table::FieldTable;

/// A change of a list in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ItemEdit {
    kind: EditKind,
    list: String,
    /// Place of the item; of no use for a new one, which goes to the end.
    index: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditKind {
    Add,
    Remove,
    Copy,
    /// To this place.
    Move(usize),
}

impl ItemEdit {
    /// Reads the value of a button: `add LIST`, `remove ITEM`, `copy ITEM`, `up ITEM`, `down ITEM`, `move ITEM PLACE`; `None`
    /// for any other.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let (action, path) = (words.next()?, words.next()?);
        if action == "add" {
            return Some(Self { kind: EditKind::Add, list: path.to_owned(), index: 0 });
        }
        let (list, index) = split_item(path)?;
        let kind = match action {
            "remove" => EditKind::Remove,
            "copy" => EditKind::Copy,
            "up" => EditKind::Move(index.saturating_sub(1)),
            "down" => EditKind::Move(index.saturating_add(1)),
            "move" => EditKind::Move(words.next()?.parse().ok()?),
            _ => return None,
        };
        Some(Self { kind, list: list.to_owned(), index })
    }

    /// Changes `texts`; returns the path of the item that the person goes on with, if there is one. Does nothing when
    /// `fields` have no such list, or it has no such item.
    pub(super) fn apply(&self, fields: &[&'static Field], texts: &mut FormTexts) -> Option<String> {
        let (table, max) = find_list(fields, &self.list)?;
        let count = item_count(&self.list, texts);
        if matches!(self.kind, EditKind::Add | EditKind::Copy) && count >= max {
            return None;
        }
        let mut items = take_items(&self.list, count, texts);
        let goes_on_with = match self.kind {
            EditKind::Add => {
                let mut item = FormTexts::new();
                add_item_texts(table, "", None, &mut item);
                items.push(item);
                Some(count)
            }
            _ if self.index >= count => None,
            EditKind::Remove => {
                items.remove(self.index);
                Some(self.index).filter(|index| *index < items.len())
            }
            EditKind::Copy => {
                let mut copy = items[self.index].clone();
                if table.field("id").is_some_and(|id| !id.required) {
                    copy.remove(".id");
                }
                items.insert(self.index + 1, copy);
                Some(self.index + 1)
            }
            EditKind::Move(place) => {
                let place = place.min(count - 1);
                let item = items.remove(self.index);
                items.insert(place, item);
                Some(place)
            }
        };
        put_items(&self.list, items, texts);
        goes_on_with.map(|index| item_path(&self.list, index))
    }
}

/// Returns the fields of the items of the list `path`, and how many it may have.
fn find_list(fields: &[&'static Field], path: &str) -> Option<(&'static FieldTable, usize)> {
    match &find_field(fields, path)?.field_type {
        FieldType::List { item_type: FieldType::Object(table), max, .. } => Some((table, *max)),
        _ => None,
    }
}

/// Takes the texts of the first `count` items of `list` out of `texts`, with names below those of the items.
fn take_items(list: &str, count: usize, texts: &mut FormTexts) -> Vec<FormTexts> {
    let mut items = vec![FormTexts::new(); count];
    let prefix = format!("{list}[");
    let names: Vec<String> = texts.keys().filter(|name| name.starts_with(&prefix)).cloned().collect();
    for name in names {
        let Some(text) = texts.remove(&name) else { continue };
        let Some((index, rest)) = name[prefix.len()..].split_once(']') else { continue };
        if let Some(item) = index.parse().ok().and_then(|index: usize| items.get_mut(index)) {
            item.insert(rest.to_owned(), text);
        }
    }
    items
}

/// Puts the items of `list` back into `texts`.
fn put_items(list: &str, items: Vec<FormTexts>, texts: &mut FormTexts) {
    texts.insert(count_name(list), items.len().to_string());
    for (index, item) in items.into_iter().enumerate() {
        let path = item_path(list, index);
        texts.extend(item.into_iter().map(|(rest, text)| (format!("{path}{rest}"), text)));
    }
}

/// Returns the texts without the items behind `index` of `list`.
pub(super) fn without_later_items(list: &str, index: usize, texts: &FormTexts) -> FormTexts {
    let mut kept = texts.clone();
    let mut items = take_items(list, item_count(list, texts), &mut kept);
    items.truncate(index + 1);
    put_items(list, items, &mut kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MonitorType;
    use crate::web::form::form_fields::settable_fields;

    /// Applies the buttons to a form with the steps `names`, and returns the names then, and what is gone on with.
    fn edit(names: &[&str], buttons: &[&str]) -> (Vec<String>, Option<String>) {
        let fields = settable_fields(MonitorType::WebsiteApi);
        let mut texts = FormTexts::from([(count_name("api_steps"), names.len().to_string())]);
        for (index, name) in names.iter().enumerate() {
            texts.insert(format!("api_steps[{index}].step_name"), (*name).to_owned());
        }
        let mut path = None;
        for button in buttons {
            path = ItemEdit::parse(button).unwrap().apply(&fields, &mut texts);
        }
        let name = |index| texts.get(&format!("api_steps[{index}].step_name")).cloned().unwrap_or_default();
        ((0..item_count("api_steps", &texts)).map(name).collect(), path)
    }

    #[test]
    fn items_are_added_removed_copied_and_moved() {
        for (button, expected, next) in [
            ("add api_steps", &["a", "b", "c", ""][..], Some(3)),
            ("remove api_steps[0]", &["b", "c"], Some(0)),
            ("remove api_steps[2]", &["a", "b"], None),
            ("copy api_steps[1]", &["a", "b", "b", "c"], Some(2)),
            ("up api_steps[2]", &["a", "c", "b"], Some(1)),
            ("up api_steps[0]", &["a", "b", "c"], Some(0)),
            ("down api_steps[0]", &["b", "a", "c"], Some(1)),
            ("move api_steps[0] 9", &["b", "c", "a"], Some(2)),
            ("remove api_steps[3]", &["a", "b", "c"], None),
        ] {
            let (names, path) = edit(&["a", "b", "c"], &[button]);
            assert_eq!(names, expected, "{button}");
            assert_eq!(path, next.map(|index| format!("api_steps[{index}]")), "{button}");
        }
    }

    #[test]
    fn items_of_items_move_with_them() {
        let buttons = ["add api_steps[0].assertions", "add api_steps[0].head.headers", "down api_steps[0]"];
        let fields = settable_fields(MonitorType::WebsiteApi);
        let mut texts = FormTexts::from([(count_name("api_steps"), "2".to_owned())]);
        for button in buttons {
            ItemEdit::parse(button).unwrap().apply(&fields, &mut texts).unwrap();
        }
        for list in ["assertions", "head.headers"] {
            assert_eq!(item_count(&format!("api_steps[0].{list}"), &texts), 0, "{list}");
            assert_eq!(item_count(&format!("api_steps[1].{list}"), &texts), 1, "{list}");
        }
        // Inputs of a new item show their defaults.
        assert_eq!(texts["api_steps[1].assertions[0].value"], "1");
    }

    #[test]
    fn what_is_no_list_changes_nothing_and_lists_have_an_end() {
        let fields = settable_fields(MonitorType::WebsiteApi);
        for path in
            ["name", "api_steps[0].url", "nothing", "api_steps.assertions", "api_steps[0]x.assertions"]
        {
            let mut texts = FormTexts::new();
            let edit = ItemEdit::parse(&format!("add {path}")).unwrap();
            assert_eq!(edit.apply(&fields, &mut texts), None, "{path}");
            assert!(texts.is_empty(), "{path}: {texts:?}");
        }
        for wrong in ["", "add", "remove api_steps", "turn api_steps[0]", "move api_steps[0]"] {
            assert_eq!(ItemEdit::parse(wrong), None, "{wrong}");
        }
        let names: Vec<&str> = std::iter::repeat_n("x", 50).collect();
        assert_eq!(edit(&names, &["add api_steps"]).0.len(), 50);
    }

    #[test]
    fn trying_a_step_leaves_out_the_later_ones() {
        let mut texts = FormTexts::from([(count_name("api_steps"), "12".to_owned())]);
        for index in 0..12 {
            texts.insert(format!("api_steps[{index}].url"), String::new());
        }
        let kept = without_later_items("api_steps", 1, &texts);
        assert_eq!(item_count("api_steps", &kept), 2);
        assert_eq!(kept.len(), 3, "{kept:?}");
    }
}
