//! Reads one value: its type and bounds, and how each form writes it.

use serde_json::Value;

use super::fields::Intake;
use super::form::Form;
use super::wording::{is_empty, quoted, spelled};
use crate::schema::field::{Field, Kind, Legacy};
use crate::schema::url_login;
use crate::script;
use crate::syntax::format::TextFormat;
use crate::syntax::source::{Node, NodeValue};
use crate::syntax::{
    MASK, ValidationError, ValidationErrorKind, closest_match, display_value, truncate_value,
};

impl Intake<'_> {
    /// `None` when there is a fault, null when the value is to be unset.
    pub(super) fn value(
        &mut self,
        field: &Field,
        kind: &Kind,
        node: &Node,
        path: &str,
        complete: bool,
    ) -> Option<Value> {
        if node.is_null() || self.unsets(field, kind, node) {
            return Some(Value::Null);
        }
        match *kind {
            Kind::Object(table) => Some(Value::Object(self.object(table, node, path, &[], complete))),
            Kind::List { of, min, max } => self.list(field, of, (min, max), node, path),
            Kind::Text { min, max, format } => self.text(field, kind, (min, max), format, node, path),
            _ => match self.scalar(field, kind, node) {
                Some(value) => Some(value),
                None => self.refuse(field, kind, node, path),
            },
        }
    }

    /// Whether an empty text stands for no value: `port: ""` (behaviour.md 1), and all that is unset in
    /// the legacy API.
    fn unsets(&self, field: &Field, kind: &Kind, node: &Node) -> bool {
        if !is_empty(node) {
            return false;
        }
        let no_default = field.default_value().is_none();
        match kind {
            Kind::Int { .. } => no_default || self.form == Form::Legacy,
            // Required, it is missing then: the legacy API has no other word for unset (behaviour.md 2).
            Kind::Text { .. } => no_default && (!field.required || self.form == Form::Legacy),
            Kind::TextOf(choices) => !choices.contains(&"") && self.form == Form::Legacy,
            _ => self.form == Form::Legacy,
        }
    }

    fn list(
        &mut self,
        field: &Field,
        of: &'static Kind,
        (min, max): (usize, usize),
        node: &Node,
        path: &str,
    ) -> Option<Value> {
        let NodeValue::List(items) = &node.value else {
            let message = format!("`{path}` must be a list, not {}", quoted(node));
            self.faults.push(
                ValidationError::new(ValidationErrorKind::Type, path, node.position, message)
                    .with_value(display_value(node)),
            );
            return None;
        };
        if items.len() < min || items.len() > max {
            let bound = if items.len() < min { format!("at least {min}") } else { format!("at most {max}") };
            let entries = if bound.ends_with(" 1") { "entry" } else { "entries" };
            let message = format!("`{path}` must have {bound} {entries}, not {}", items.len());
            let fault = ValidationError::new(ValidationErrorKind::Length, path, node.position, message);
            self.faults.push(fault.with_value(items.len().to_string()));
            return None;
        }
        let before = self.faults.len();
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if self.gives_up(item.position) {
                break;
            }
            let inner = format!("{path}[{index}]");
            match self.value(field, of, item, &inner, true) {
                Some(Value::Null) => {
                    let message = format!("`{inner}` must be {}, not empty", of.wanted());
                    self.faults.push(ValidationError::new(
                        ValidationErrorKind::Type,
                        inner,
                        item.position,
                        message,
                    ));
                }
                Some(value) => values.push(value),
                None => {}
            }
        }
        (self.faults.len() == before).then_some(Value::Array(values))
    }

    fn text(
        &mut self,
        field: &Field,
        kind: &Kind,
        (min, max): (usize, usize),
        format: TextFormat,
        node: &Node,
        path: &str,
    ) -> Option<Value> {
        let Some(text) = self.as_text(node) else { return self.refuse(field, kind, node, path) };
        if text == MASK && (field.secret || format == TextFormat::Script) {
            return self.masked(field, node, path, text);
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
            let given = given(field, node);
            Some((
                ValidationErrorKind::Format,
                format!("`{path}` must be {}, not `{given}`", format.expected()),
            ))
        };
        match problem {
            Some((rule, message)) => {
                let fault =
                    ValidationError::new(rule, path, node.position, message).with_value(given(field, node));
                self.faults.push(fault);
                None
            }
            None => Some(Value::String(text)),
        }
    }

    /// A masked secret: kept as it is where an old value can stand in for it, a fault in files.
    fn masked(&mut self, field: &Field, node: &Node, path: &str, text: String) -> Option<Value> {
        if self.form != Form::File {
            return Some(Value::String(text));
        }
        let name = field.name;
        let message = format!("`{path}` is masked: `{MASK}` is not its value");
        let hint = format!(
            "give the value itself, or name its file as `{name}_file` or its variable as `{name}_env`"
        );
        self.faults.push(
            ValidationError::new(ValidationErrorKind::Secret, path, node.position, message)
                .with_value(MASK)
                .with_hint(hint),
        );
        None
    }

    fn as_text(&self, node: &Node) -> Option<String> {
        match &node.value {
            NodeValue::Text(text) => Some(text.clone()),
            NodeValue::Int(number) if self.form == Form::Legacy => Some(number.to_string()),
            NodeValue::Float(number) if self.form == Form::Legacy => Some(number.to_string()),
            _ => None,
        }
    }

    fn scalar(&self, field: &Field, kind: &Kind, node: &Node) -> Option<Value> {
        match *kind {
            Kind::Flag => self.as_flag(field, node).map(Value::Bool),
            Kind::Int { min, max } => {
                self.as_int(node).filter(|number| (min..=max).contains(number)).map(Value::from)
            }
            Kind::IntOf(choices) => {
                self.as_int(node).filter(|number| choices.contains(number)).map(Value::from)
            }
            Kind::Number { min, max } => self.as_number(node, min, max),
            Kind::TextOf(choices) => {
                let word = self.word(field, node)?;
                choices.iter().find(|choice| **choice == word).map(|choice| Value::from(*choice))
            }
            Kind::Any => Some(node.to_json()),
            Kind::Text { .. } | Kind::List { .. } | Kind::Object(_) => None,
        }
    }

    fn as_flag(&self, field: &Field, node: &Node) -> Option<bool> {
        match (&node.value, self.form) {
            (NodeValue::Bool(flag), _) => Some(*flag),
            (NodeValue::Text(text), Form::Legacy) => match text.to_ascii_lowercase().as_str() {
                "y" => Some(true),
                "n" => Some(false),
                "enabled" if field.legacy == Legacy::Enabled => Some(true),
                "disabled" if field.legacy == Legacy::Enabled => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn as_int(&self, node: &Node) -> Option<i64> {
        match (&node.value, self.form) {
            (NodeValue::Int(number), _) => Some(*number),
            (NodeValue::Text(text), Form::Legacy) => text.trim().parse().ok(),
            _ => None,
        }
    }

    fn as_number(&self, node: &Node, min: f64, max: f64) -> Option<Value> {
        let number = match (&node.value, self.form) {
            (NodeValue::Int(number), _) => *number as f64,
            (NodeValue::Float(number), _) => *number,
            (NodeValue::Text(text), Form::Legacy) => text.trim().parse().ok()?,
            _ => return None,
        };
        if !(min..=max).contains(&number) {
            return None;
        }
        match self.as_int(node).or_else(|| whole(number)) {
            Some(whole) => Some(Value::from(whole)),
            None => serde_json::Number::from_f64(number).map(Value::Number),
        }
    }

    /// The version 3 word of a choice. Numbers stand for the words that look like them, since YAML reads
    /// `http_version: 1.1` so, and `use_ssl_version` may be a number (behaviour.md 1).
    fn word(&self, field: &Field, node: &Node) -> Option<String> {
        let word = match &node.value {
            NodeValue::Text(text) => text.clone(),
            NodeValue::Int(number) => number.to_string(),
            NodeValue::Float(number) => format!("{number:?}"),
            _ => return None,
        };
        let codes = match field.legacy {
            Legacy::Coded(codes) | Legacy::Alias(codes) if self.form == Form::Legacy => codes,
            _ => &[],
        };
        let coded = codes.iter().find(|(code, _)| code.eq_ignore_ascii_case(&word));
        Some(coded.map_or(word, |(_, known)| (*known).to_owned()))
    }

    fn refuse(&mut self, field: &Field, kind: &Kind, node: &Node, path: &str) -> Option<Value> {
        let given = given(field, node);
        let message = format!("`{path}` must be {}, not {}", kind.wanted(), spelled(&given, node));
        let fault =
            ValidationError::new(refused_rule(kind, node), path, node.position, message).with_value(given);
        self.faults.push(match advice(kind, node) {
            Some(hint) => fault.with_hint(hint),
            None => fault,
        });
        None
    }
}

/// `number` as an integer when it is one: `4`, `4.0` and, in the legacy form, `"4"` are one value.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53 and without a fraction")]
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

fn refused_rule(kind: &Kind, node: &Node) -> ValidationErrorKind {
    match (kind, &node.value) {
        (Kind::TextOf(_), NodeValue::Text(_)) | (Kind::IntOf(_), NodeValue::Int(_)) => {
            ValidationErrorKind::Choice
        }
        (Kind::Int { .. } | Kind::Number { .. }, NodeValue::Int(_) | NodeValue::Float(_)) => {
            ValidationErrorKind::Range
        }
        _ => ValidationErrorKind::Type,
    }
}

fn advice(kind: &Kind, node: &Node) -> Option<String> {
    match (kind, &node.value) {
        (Kind::TextOf(choices), NodeValue::Text(text)) => {
            let folded = text.to_lowercase();
            let same = choices.iter().copied().find(|choice| choice.to_lowercase() == folded);
            let near = same.or_else(|| closest_match(text, choices.iter().copied()))?;
            Some(format!("did you mean `{near}`?"))
        }
        (Kind::Text { .. }, NodeValue::Int(_) | NodeValue::Float(_) | NodeValue::Bool(_)) => {
            Some("put it in quotes".to_owned())
        }
        (Kind::Flag | Kind::Int { .. } | Kind::IntOf(_) | Kind::Number { .. }, NodeValue::Text(text))
            if text.parse::<f64>().is_ok() || matches!(text.as_str(), "true" | "false") =>
        {
            Some("remove the quotes".to_owned())
        }
        _ => None,
    }
}

fn given(field: &Field, node: &Node) -> String {
    match node.as_text() {
        _ if field.secret => MASK.to_owned(),
        Some(text) if field.is_url() && url_login::masked(text).is_some() => {
            truncate_value(&url_login::masked(text).unwrap_or_default())
        }
        Some(text) if field.is_script() && script::has_secrets(text) => {
            format!("a text of {} bytes", text.len())
        }
        _ => display_value(node),
    }
}
