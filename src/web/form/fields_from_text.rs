//! From the texts of a form to the body of a call: what a browser sends becomes what a client of the API would send.

use super::text_from_values::{FormTexts, is_scalar};
use crate::schema::field::{Field, FieldType};
use crate::syntax::node::{Key, Node, NodeValue, Position};
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Prefix of the name of the check box that removes a stored secret.
pub(super) const CLEAR_PREFIX: &str = "clear-";

/// Returns the body with the fields of `texts`. `is_new` leaves empty inputs out; in a change, they unset the field.
///
/// # Errors
/// Every text that is not even YAML.
pub(super) fn body_from_texts(
    fields: &[&'static Field],
    texts: &FormTexts,
    is_new: bool,
) -> Result<Node, Vec<ValidationError>> {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    for field in fields {
        let clears_secret = texts.contains_key(&format!("{CLEAR_PREFIX}{}", field.name));
        let text = texts.get(field.name).map(String::as_str).unwrap_or_default();
        let value = match field.field_type {
            // A box without a mark is not sent.
            FieldType::Bool => Some(Ok(NodeValue::Bool(text == "true"))),
            _ if field.secret && clears_secret => Some(Ok(NodeValue::Null)),
            _ if text.trim().is_empty() && (field.secret || is_new || field.required) => None,
            _ if text.trim().is_empty() => Some(Ok(NodeValue::Null)),
            _ => Some(value_from_text(field, text)),
        };
        match value {
            None => {}
            Some(Ok(value)) => entries.push((key(field.name), node(value))),
            Some(Err(error)) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(node(NodeValue::Map(entries))) } else { Err(errors) }
}

fn value_from_text(field: &Field, text: &str) -> Result<NodeValue, ValidationError> {
    match &field.field_type {
        FieldType::List { item_type, .. } if is_scalar(item_type) => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok(NodeValue::List(lines.map(|line| node(scalar_from_text(item_type, line))).collect()))
        }
        FieldType::List { .. } | FieldType::Object(_) | FieldType::Any => {
            Node::from_yaml(text).map(|parsed| parsed.value).map_err(|error| {
                let message = format!(
                    "`{}` is no YAML: line {}, column {}: {error}",
                    field.name, error.position.line, error.position.column
                );
                ValidationError::new(ValidationErrorKind::Format, field.name, Position::default(), message)
            })
        }
        // Browsers send line breaks of texts as CR LF (WHATWG HTML 4.10.21.8).
        FieldType::Text { .. } => Ok(NodeValue::Text(text.replace("\r\n", "\n"))),
        scalar => Ok(scalar_from_text(scalar, text.trim())),
    }
}

/// Returns the value that `text` stands for; a text that is no number stays one, for the rule about it.
fn scalar_from_text(field_type: &FieldType, text: &str) -> NodeValue {
    let as_text = || NodeValue::Text(text.to_owned());
    match field_type {
        FieldType::Int { .. } | FieldType::IntEnum(_) => {
            text.parse().map_or_else(|_| as_text(), NodeValue::Int)
        }
        FieldType::Float { .. } => text.parse().map_or_else(|_| as_text(), NodeValue::Float),
        FieldType::Bool => NodeValue::Bool(text == "true"),
        _ => as_text(),
    }
}

fn key(name: &str) -> Key {
    Key { name: name.to_owned(), position: Position::default() }
}

fn node(value: NodeValue) -> Node {
    Node { value, position: Position::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::MonitorType;
    use crate::schema::table::for_type;

    fn body(texts: &[(&str, &str)], is_new: bool) -> Result<serde_json::Value, Vec<ValidationError>> {
        let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let fields: Vec<_> = for_type(MonitorType::Website)
            .fields()
            .iter()
            .copied()
            .filter(|field| field.is_settable())
            .collect();
        body_from_texts(&fields, &texts, is_new).map(|body| body.to_json())
    }

    #[test]
    fn texts_become_values_of_their_fields() {
        let texts = [
            ("name", "shop"),
            ("interval", "5"),
            ("enabled", "true"),
            ("depends_on", "7\r\n 8 \r\n\r\n"),
            ("custom_properties", "- {id: 3, value: a}"),
            ("alert_note", "a\r\nb"),
            ("timeout", "soon"),
        ];
        let body = body(&texts, true).unwrap();
        assert_eq!(body["name"], "shop");
        assert_eq!(body["interval"], 5);
        assert_eq!((&body["enabled"], &body["retry_on_failure"]), (&json!(true), &json!(false)));
        assert_eq!(body["depends_on"], json!([7, 8]));
        assert_eq!(body["custom_properties"], json!([{"id": 3, "value": "a"}]));
        assert_eq!((&body["alert_note"], &body["timeout"]), (&json!("a\nb"), &json!("soon")));
        assert!(body.get("note").is_none(), "{body}");
    }

    #[test]
    fn an_empty_input_unsets_a_field_of_a_change_but_keeps_a_secret() {
        let secret = for_type(MonitorType::Website).fields().iter().find(|field| field.secret).unwrap().name;
        let changed = body(&[("note", ""), (secret, "")], false).unwrap();
        assert!(changed["note"].is_null() && changed.get("note").is_some());
        assert!(changed.get(secret).is_none() && changed.get("name").is_none(), "{changed}");
        let cleared = body(&[(&format!("{CLEAR_PREFIX}{secret}"), "true")], false).unwrap();
        assert!(cleared.get(secret).is_some_and(serde_json::Value::is_null));
    }

    #[test]
    fn what_is_no_yaml_is_an_error_of_its_field() {
        let errors = body(&[("custom_properties", "[{")], true).unwrap_err();
        assert_eq!(errors[0].path, "custom_properties");
        assert!(errors[0].message.contains("line"), "{errors:?}");
    }
}
