//! From the texts of a form to the body of a call: what a browser sends becomes what a client of the API would send.

use serde_json::{Map, Value};

use super::input_names::clear_name;
use super::nested_values::{StoredValue, is_shown_by_field, report_masks, value_from_texts};
use super::plain_values::{key, node, scalar_from_text};
use super::text_from_values::{FormTexts, is_scalar, normalized};
use crate::schema::field::{Field, FieldType};
use crate::schema::{MonitorDocument, SecretMode};
use crate::syntax::node::{Node, NodeValue, Position};
use crate::syntax::{ValidationError, ValidationErrorKind};

/// The values of the monitor that a form changes; empty for a new one.
#[derive(Debug, Default)]
pub(super) struct StoredValues {
    masked: Map<String, Value>,
    revealed: Map<String, Value>,
}

impl StoredValues {
    /// Returns the values of `document`.
    pub(super) fn of(document: &MonitorDocument) -> Self {
        let values = |mode| document.to_json(mode);
        Self { masked: values(SecretMode::Masked), revealed: values(SecretMode::Revealed) }
    }

    /// Returns values whose secrets are unknown: masks go back as they are.
    pub(super) fn masked(values: &Map<String, Value>) -> Self {
        Self { masked: values.clone(), revealed: values.clone() }
    }

    /// Returns what is stored of the field `name`.
    pub(super) fn get(&self, name: &str) -> StoredValue<'_> {
        StoredValue { masked: self.masked.get(name), revealed: self.revealed.get(name) }
    }
}

/// Returns the body with the fields whose `texts` differ from `shown`, what the form showed: what nobody touched stays as it
/// is, whatever a browser makes of its text. A new monitor, which `is_new` says, also has the fields that it needs. An
/// empty input unsets a field.
///
/// # Errors
/// Every text that is not even YAML.
pub(super) fn body_from_texts(
    fields: &[&'static Field],
    texts: &FormTexts,
    shown: &FormTexts,
    stored: &StoredValues,
    is_new: bool,
) -> Result<Node, Vec<ValidationError>> {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    for field in fields {
        let clears_secret = field.secret && texts.contains_key(&clear_name(field.name));
        let is_needed = is_new && field.is_required_in_v3();
        if !clears_secret && !is_needed && !is_changed(field, texts, shown, stored) {
            continue;
        }
        let value = match (&field.field_type, texts.get(field.name).map(|text| normalized(text))) {
            _ if clears_secret => Ok(NodeValue::Null),
            _ if is_shown_by_field(field.name, texts) => {
                let value = value_from_texts(field, field.name, texts, stored.get(field.name));
                if let Some(value) = &value {
                    report_masks(value, field.name, &mut errors);
                }
                match value {
                    None if is_new => continue,
                    value => Ok(emptied(&field.field_type, value)),
                }
            }
            (FieldType::Bool, text) => Ok(NodeValue::Bool(text.as_deref() == Some("true"))),
            (_, None) => continue,
            (_, Some(text)) if text.is_empty() && (field.secret || is_new) => continue,
            (_, Some(text)) if text.is_empty() => Ok(NodeValue::Null),
            (_, Some(text)) => value_from_text(field, &text),
        };
        match value {
            Ok(value) => entries.push((key(field.name), node(value))),
            Err(message) => {
                let position = Position::default();
                errors.push(ValidationError::new(ValidationErrorKind::Format, field.name, position, message));
            }
        }
    }
    if errors.is_empty() { Ok(node(NodeValue::Map(entries))) } else { Err(errors) }
}

/// Returns the value of a change: what is no longer in the form is unset.
fn emptied(field_type: &FieldType, value: Option<NodeValue>) -> NodeValue {
    match (field_type, value) {
        (FieldType::Object(_), value) => {
            with_defaults(field_type, value.unwrap_or(NodeValue::Map(Vec::new())))
        }
        (_, value) => value.unwrap_or(NodeValue::Null),
    }
}

/// Whether the text of `field` differs from the one in `shown`. Of secrets nothing is shown, and a field without an input has
/// not changed.
pub(super) fn is_changed(field: &Field, texts: &FormTexts, shown: &FormTexts, stored: &StoredValues) -> bool {
    if is_shown_by_field(field.name, texts) && is_shown_by_field(field.name, shown) {
        let value = |texts| value_from_texts(field, field.name, texts, stored.get(field.name));
        return value(texts) != value(shown);
    }
    // A box without a mark is not sent.
    let is_marked = |texts: &FormTexts| texts.get(field.name).is_some_and(|text| text == "true");
    match (&field.field_type, texts.get(field.name)) {
        (FieldType::Bool, _) => is_marked(texts) != is_marked(shown),
        _ if is_shown_by_field(field.name, texts) => true,
        (_, None) => false,
        (_, Some(text)) => normalized(text) != normalized(shown.get(field.name).map_or("", String::as_str)),
    }
}

/// Returns the value that `text` stands for, or what is wrong with it.
fn value_from_text(field: &Field, text: &str) -> Result<NodeValue, String> {
    match &field.field_type {
        FieldType::List { item_type, .. } if is_scalar(item_type) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            Ok(NodeValue::List(lines.map(|line| node(scalar_from_text(item_type, line))).collect()))
        }
        FieldType::List { .. } | FieldType::Object(_) | FieldType::Any => match Node::from_yaml_snippet(text)
        {
            Ok(parsed) => Ok(with_defaults(&field.field_type, parsed.value)),
            Err(error) => {
                let Position { line, column } = error.position;
                Err(format!("`{}` is no YAML: line {line}, column {column}: {error}", field.name))
            }
        },
        FieldType::Text { .. } => Ok(NodeValue::Text(text.to_owned())),
        scalar => Ok(scalar_from_text(scalar, text)),
    }
}

/// Adds to an object the defaults of the fields that it lacks: a change keeps what it does not name, but a person who removes
/// a line wants the value gone.
fn with_defaults(field_type: &FieldType, value: NodeValue) -> NodeValue {
    match (field_type, value) {
        (FieldType::Object(table), NodeValue::Map(mut entries)) => {
            for field in table.fields().iter().filter(|field| field.is_settable()) {
                if !entries.iter().any(|(key, _)| key.name == field.name) {
                    let default =
                        field.default_value().map_or(NodeValue::Null, |value| Node::from(value).value);
                    entries.push((key(field.name), node(default)));
                }
            }
            NodeValue::Map(entries)
        }
        (_, value) => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::MonitorType;
    use crate::schema::table::for_type;

    fn body(texts: &[(&str, &str)], is_new: bool) -> Result<serde_json::Value, Vec<ValidationError>> {
        body_with(&[], texts, is_new)
    }

    fn body_with(
        shown: &[(&str, &str)],
        texts: &[(&str, &str)],
        is_new: bool,
    ) -> Result<serde_json::Value, Vec<ValidationError>> {
        let to_texts = |pairs: &[(&str, &str)]| -> FormTexts {
            pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let fields: Vec<_> = for_type(MonitorType::Website)
            .fields()
            .iter()
            .copied()
            .filter(|field| field.is_settable())
            .collect();
        body_from_texts(&fields, &to_texts(texts), &to_texts(shown), &StoredValues::default(), is_new)
            .map(|body| body.to_json())
    }

    #[test]
    fn texts_become_values_of_their_fields() {
        let texts = [
            ("name", "shop"),
            ("interval", " 5 "),
            ("enabled", "true"),
            ("depends_on", "7\r\n 8 \r\n\r\n"),
            ("custom_properties", "- {id: 3, value: a}"),
            ("alert_note", "a\r\nb"),
            ("timeout", "soon"),
        ];
        let body = body(&texts, true).unwrap();
        assert_eq!(body["name"], "shop");
        assert_eq!(body["interval"], 5);
        assert_eq!(body["enabled"], true);
        assert_eq!(body["depends_on"], json!([7, 8]));
        assert_eq!(body["custom_properties"], json!([{"id": 3, "value": "a"}]));
        assert_eq!((&body["alert_note"], &body["timeout"]), (&json!("a\nb"), &json!("soon")));
        assert!(body.get("note").is_none(), "{body}");
    }

    #[test]
    fn what_nobody_touched_is_not_sent() {
        let shown = [
            ("name", "shop"),
            ("note", "a\r\nb"),
            ("enabled", "true"),
            ("interval", "5"),
            ("alert_note", "x"),
        ];
        let sent = [("name", "shop"), ("note", "a\nb"), ("interval", "5"), ("alert_note", " ")];
        assert_eq!(body_with(&shown, &sent, false).unwrap(), json!({"enabled": false, "alert_note": " "}));
        // A new monitor has what the API asks for, even where it is the default.
        let new =
            body_with(&[("interval", "5")], &[("interval", "5"), ("interval_seconds", "30")], true).unwrap();
        assert_eq!(new["interval_seconds"], 30);
    }

    #[test]
    fn an_empty_input_unsets_a_field_of_a_change_but_keeps_a_secret() {
        let secret = for_type(MonitorType::Website).fields().iter().find(|field| field.secret).unwrap().name;
        let changed = body_with(&[("note", "x")], &[("note", ""), (secret, "")], false).unwrap();
        assert!(changed["note"].is_null() && changed.get("note").is_some());
        assert!(changed.get(secret).is_none() && changed.get("name").is_none(), "{changed}");
        let cleared = body(&[(&clear_name(secret), "true")], false).unwrap();
        assert!(cleared.get(secret).is_some_and(serde_json::Value::is_null));
    }

    #[test]
    fn what_is_no_yaml_or_has_aliases_is_an_error_of_its_field() {
        for text in ["[{", "- &a {id: 3, value: x}\n- *a\n"] {
            let errors = body(&[("custom_properties", text)], true).unwrap_err();
            assert_eq!(errors[0].path, "custom_properties");
        }
    }
}
