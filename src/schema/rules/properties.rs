//! Rules for values of the account's properties (fields.md 3, `custom_properties`): each names a property and one of
//! its values, and no property occurs twice. Checked where the properties of the account are known.

use serde_json::Value;

use super::rule_context::RuleContext;
use crate::syntax::ValidationErrorKind;

pub(super) fn check(cx: &mut RuleContext<'_>) {
    if !cx.are_valid(&["custom_properties"]) || !cx.has_field("custom_properties") {
        return;
    }
    let Some(properties) = cx.context().properties else { return };
    let int = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_i64).unwrap_or_default();
    let references: Vec<(i64, i64)> = cx
        .document()
        .list("custom_properties")
        .iter()
        .map(|entry| (int(entry, "id"), int(entry, "value_id")))
        .collect();
    for (index, (id, value_id)) in references.iter().copied().enumerate() {
        let path = format!("custom_properties[{index}]");
        if references[..index].iter().any(|(earlier, _)| *earlier == id) {
            let path = format!("{path}.id");
            cx.add_error(
                ValidationErrorKind::Conflict,
                &path,
                format!("`{path}`: property `{id}` is in the list already"),
            );
            continue;
        }
        match properties.get(&id) {
            None => {
                let path = format!("{path}.id");
                cx.add_conflict(&path, format!("`{path}`: there is no property `{id}`"));
            }
            Some(property) if !property.values.contains_key(&value_id) => {
                let path = format!("{path}.value_id");
                let name = &property.name;
                cx.add_conflict(&path, format!("`{path}`: the property `{name}` has no value `{value_id}`"));
            }
            Some(_) => {}
        }
    }
}
