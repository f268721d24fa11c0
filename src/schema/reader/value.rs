//! Reads one value: its type and bounds, and its form in each input format.

use serde_json::Value;

use super::fields::FieldReader;
use super::input_format::InputFormat;
use super::messages::{is_empty_text, quote_node, quote_value};
use crate::schema::field::{Field, FieldType, LegacyEncoding};
use crate::schema::url_credentials;
use crate::syntax::node::{Node, NodeValue};
use crate::syntax::text_format::TextFormat;
use crate::syntax::{
    MASK, ValidationError, ValidationErrorKind, closest_match, display_value, truncate_value,
};

impl FieldReader<'_> {
    /// Reads a value: `None` after an error, null when the value is unset.
    pub(super) fn read_value(
        &mut self,
        field: &Field,
        field_type: &FieldType,
        node: &Node,
        path: &str,
        must_be_complete: bool,
    ) -> Option<Value> {
        if node.is_null() || self.is_unset(field, field_type, node) {
            return Some(Value::Null);
        }
        match *field_type {
            FieldType::Object(table) => {
                Some(Value::Object(self.read_object(table, node, path, &[], must_be_complete)))
            }
            FieldType::List { item_type, min, max } => {
                self.read_list(field, item_type, (min, max), node, path)
            }
            FieldType::Text { min, max, format } => {
                self.read_text(field, field_type, (min, max), format, node, path)
            }
            _ => match self.read_scalar(field, field_type, node) {
                Some(value) => Some(value),
                None => self.add_type_error(field, field_type, node, path),
            },
        }
    }

    /// Whether an empty text means unset: `port: ""` (behaviour.md 1), and every unset value in the legacy API.
    fn is_unset(&self, field: &Field, field_type: &FieldType, node: &Node) -> bool {
        if !is_empty_text(node) {
            return false;
        }
        let no_default = field.default_value().is_none();
        match field_type {
            FieldType::Int { .. } => no_default || self.format == InputFormat::Legacy,
            // If required, it then counts as missing: the legacy API has no other way to unset (behaviour.md 2).
            FieldType::Text { .. } => no_default && (!field.required || self.format == InputFormat::Legacy),
            FieldType::TextEnum(choices) => !choices.contains(&"") && self.format == InputFormat::Legacy,
            _ => self.format == InputFormat::Legacy,
        }
    }

    fn read_list(
        &mut self,
        field: &Field,
        item_type: &'static FieldType,
        (min, max): (usize, usize),
        node: &Node,
        path: &str,
    ) -> Option<Value> {
        let NodeValue::List(items) = &node.value else {
            let message = format!("`{path}` must be a list, not {}", quote_node(node));
            self.errors.push(
                ValidationError::new(ValidationErrorKind::Type, path, node.position, message)
                    .with_value(display_value(node)),
            );
            return None;
        };
        if items.len() < min || items.len() > max {
            let bound = if items.len() < min { format!("at least {min}") } else { format!("at most {max}") };
            let entries = if bound.ends_with(" 1") { "entry" } else { "entries" };
            let message = format!("`{path}` must have {bound} {entries}, not {}", items.len());
            let error = ValidationError::new(ValidationErrorKind::Length, path, node.position, message);
            self.errors.push(error.with_value(items.len().to_string()));
            return None;
        }
        let error_count_before = self.errors.len();
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if self.too_many_errors(item.position) {
                break;
            }
            let item_path = format!("{path}[{index}]");
            match self.read_value(field, item_type, item, &item_path, true) {
                Some(Value::Null) => {
                    let message = format!("`{item_path}` must be {}, not empty", item_type.requirement());
                    self.errors.push(ValidationError::new(
                        ValidationErrorKind::Type,
                        item_path,
                        item.position,
                        message,
                    ));
                }
                Some(value) => values.push(value),
                None => {}
            }
        }
        (self.errors.len() == error_count_before).then_some(Value::Array(values))
    }

    fn read_text(
        &mut self,
        field: &Field,
        field_type: &FieldType,
        (min, max): (usize, usize),
        format: TextFormat,
        node: &Node,
        path: &str,
    ) -> Option<Value> {
        let text = match &node.value {
            NodeValue::Map(_) if format == TextFormat::JsonSchema => Some(node.to_json().to_string()),
            _ => self.parse_text(node),
        };
        let Some(text) = text else {
            return self.add_type_error(field, field_type, node, path);
        };
        if text == MASK && (field.secret || field.embedded_secrets().is_some()) {
            return self.read_masked(field, node, path, text);
        }
        let length = text.chars().count();
        let problem = if length < min {
            Some((ValidationErrorKind::Length, format!("`{path}` must not be empty")))
        } else if length > max {
            let message = format!("`{path}` must have at most {max} characters, not {length}");
            Some((ValidationErrorKind::Length, message))
        } else if format.matches(&text) {
            None
        } else {
            let value = display_input(field, node);
            Some((
                ValidationErrorKind::Format,
                format!("`{path}` must be {}, not `{value}`", format.requirement()),
            ))
        };
        match problem {
            Some((error_kind, message)) => {
                let error = ValidationError::new(error_kind, path, node.position, message)
                    .with_value(display_input(field, node));
                self.errors.push(error);
                None
            }
            None => Some(Value::String(text)),
        }
    }

    /// Reads a masked secret: kept where a stored value can replace the mask later, an error in files.
    fn read_masked(&mut self, field: &Field, node: &Node, path: &str, text: String) -> Option<Value> {
        if self.format != InputFormat::File {
            return Some(Value::String(text));
        }
        let name = field.name;
        let message = format!("`{path}` is masked: `{MASK}` is not its value");
        let hint = format!(
            "give the value itself, or name its file as `{name}_file` or its variable as `{name}_env`"
        );
        self.errors.push(
            ValidationError::new(ValidationErrorKind::Secret, path, node.position, message)
                .with_value(MASK)
                .with_hint(hint),
        );
        None
    }

    fn parse_text(&self, node: &Node) -> Option<String> {
        match &node.value {
            NodeValue::Text(text) => Some(text.clone()),
            NodeValue::Int(number) if self.format == InputFormat::Legacy => Some(number.to_string()),
            NodeValue::Float(number) if self.format == InputFormat::Legacy => Some(number.to_string()),
            _ => None,
        }
    }

    fn read_scalar(&self, field: &Field, field_type: &FieldType, node: &Node) -> Option<Value> {
        match *field_type {
            FieldType::Bool => self.parse_bool(field, node).map(Value::Bool),
            FieldType::Int { min, max } => {
                self.parse_int(node).filter(|number| (min..=max).contains(number)).map(Value::from)
            }
            FieldType::IntEnum(choices) => {
                self.parse_int(node).filter(|number| choices.contains(number)).map(Value::from)
            }
            FieldType::Float { min, max } => self.parse_float(node, min, max),
            FieldType::TextEnum(choices) => {
                let name = self.parse_choice(field, node)?;
                choices.iter().find(|choice| **choice == name).map(|choice| Value::from(*choice))
            }
            FieldType::Any => Some(node.to_json()),
            FieldType::Text { .. } | FieldType::List { .. } | FieldType::Object(_) => None,
        }
    }

    fn parse_bool(&self, field: &Field, node: &Node) -> Option<bool> {
        match (&node.value, self.format) {
            (NodeValue::Bool(flag), _) => Some(*flag),
            (NodeValue::Text(text), InputFormat::Legacy) => match text.to_ascii_lowercase().as_str() {
                "y" => Some(true),
                "n" => Some(false),
                "enabled" if field.legacy == LegacyEncoding::EnabledDisabled => Some(true),
                "disabled" if field.legacy == LegacyEncoding::EnabledDisabled => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn parse_int(&self, node: &Node) -> Option<i64> {
        match (&node.value, self.format) {
            (NodeValue::Int(number), _) => Some(*number),
            (NodeValue::Text(text), InputFormat::Legacy) => text.trim().parse().ok(),
            _ => None,
        }
    }

    fn parse_float(&self, node: &Node, min: f64, max: f64) -> Option<Value> {
        let number = match (&node.value, self.format) {
            (NodeValue::Int(number), _) => *number as f64,
            (NodeValue::Float(number), _) => *number,
            (NodeValue::Text(text), InputFormat::Legacy) => text.trim().parse().ok()?,
            _ => return None,
        };
        if !(min..=max).contains(&number) {
            return None;
        }
        match self.parse_int(node).or_else(|| exact_integer(number)) {
            Some(integer) => Some(Value::from(integer)),
            None => serde_json::Number::from_f64(number).map(Value::Number),
        }
    }

    /// Returns the version 3 name of a choice. Numbers stand for the names that look like them, since YAML reads
    /// `http_version: 1.1` as a number, and `use_ssl_version` may be a number (behaviour.md 1).
    fn parse_choice(&self, field: &Field, node: &Node) -> Option<String> {
        let name = match &node.value {
            NodeValue::Text(text) => text.clone(),
            NodeValue::Int(number) => number.to_string(),
            NodeValue::Float(number) => format!("{number:?}"),
            _ => return None,
        };
        let codes = match field.legacy {
            LegacyEncoding::Coded(codes) | LegacyEncoding::InputAliases(codes)
                if self.format == InputFormat::Legacy =>
            {
                codes
            }
            _ => &[],
        };
        let code_entry = codes.iter().find(|(code, _)| code.eq_ignore_ascii_case(&name));
        Some(code_entry.map_or(name, |(_, v3_name)| (*v3_name).to_owned()))
    }

    /// Reports that the value is not of its type; always returns `None`, for the caller to return.
    fn add_type_error(
        &mut self,
        field: &Field,
        field_type: &FieldType,
        node: &Node,
        path: &str,
    ) -> Option<Value> {
        let given = display_input(field, node);
        let message =
            format!("`{path}` must be {}, not {}", field_type.requirement(), quote_value(&given, node));
        let error = ValidationError::new(error_kind(field_type, node), path, node.position, message)
            .with_value(given);
        self.errors.push(match hint_for(field_type, node) {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
        None
    }
}

/// Returns `number` as an integer if it is one: `4`, `4.0` and, in the legacy format, `"4"` are the same value.
fn exact_integer(number: f64) -> Option<i64> {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53 and without a fraction")]
    (number.fract() == 0.0 && number.abs() < MAX_EXACT).then_some(number as i64)
}

fn error_kind(field_type: &FieldType, node: &Node) -> ValidationErrorKind {
    match (field_type, &node.value) {
        (FieldType::TextEnum(_), NodeValue::Text(_)) | (FieldType::IntEnum(_), NodeValue::Int(_)) => {
            ValidationErrorKind::Choice
        }
        (FieldType::Int { .. } | FieldType::Float { .. }, NodeValue::Int(_) | NodeValue::Float(_)) => {
            ValidationErrorKind::Range
        }
        _ => ValidationErrorKind::Type,
    }
}

fn hint_for(field_type: &FieldType, node: &Node) -> Option<String> {
    match (field_type, &node.value) {
        (FieldType::TextEnum(choices), NodeValue::Text(text)) => {
            let folded = text.to_lowercase();
            let same_ignoring_case = choices.iter().copied().find(|choice| choice.to_lowercase() == folded);
            let closest_choice =
                same_ignoring_case.or_else(|| closest_match(text, choices.iter().copied()))?;
            Some(format!("did you mean `{closest_choice}`?"))
        }
        (FieldType::Text { .. }, NodeValue::Int(_) | NodeValue::Float(_) | NodeValue::Bool(_)) => {
            Some("put it in quotes".to_owned())
        }
        (
            FieldType::Bool | FieldType::Int { .. } | FieldType::IntEnum(_) | FieldType::Float { .. },
            NodeValue::Text(text),
        ) if text.parse::<f64>().is_ok() || matches!(text.as_str(), "true" | "false") => {
            Some("remove the quotes".to_owned())
        }
        _ => None,
    }
}

fn display_input(field: &Field, node: &Node) -> String {
    match node.as_text() {
        _ if field.secret => MASK.to_owned(),
        Some(text) if field.is_url() => truncate_value(&url_credentials::mask_invalid(text)),
        // What is no script may be a part of one.
        Some(text) if field.embedded_secrets().is_some() => format!("a text of {} bytes", text.len()),
        _ => display_value(node),
    }
}
