//! Errors of a document: position, rule, the value given, and a hint.

use std::fmt;
use std::sync::Arc;

use super::node::{Node, NodeValue, Position, SyntaxError};

/// The mask in place of a secret.
pub const MASK: &str = "********";

/// Maximum length of a value in a message, in characters.
const MAX_VALUE_CHARS: usize = 60;

/// The rule that a document violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValidationErrorKind {
    /// The text is not valid YAML or JSON.
    Syntax,
    /// The field does not exist.
    UnknownField,
    /// The field occurs twice.
    DuplicateField,
    /// A required field is missing.
    MissingField,
    /// The type of the value differs from that of the field.
    Type,
    /// The value is not one of the choices.
    Choice,
    /// The number is outside its bounds.
    Range,
    /// The text or list is too long or too short.
    Length,
    /// The text does not have the format of the field.
    Format,
    /// The field may not be set here.
    ReadOnly,
    /// The value conflicts with another field, or with the account.
    Conflict,
    /// A masked secret is given where its value is needed, or a secret could not be read.
    Secret,
}

impl ValidationErrorKind {
    /// Returns the stable name of this kind of error, as in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnknownField => "unknown",
            Self::DuplicateField => "duplicate",
            Self::MissingField => "missing",
            Self::Type => "type",
            Self::Choice => "choice",
            Self::Range => "range",
            Self::Length => "length",
            Self::Format => "format",
            Self::ReadOnly => "read_only",
            Self::Conflict => "conflict",
            Self::Secret => "secret",
        }
    }
}

/// One error of a document or settings file. Its text is `file:line:column: message`, with the hint on a line of its
/// own; unknown parts are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// The file with the error.
    pub file: Option<Arc<str>>,
    /// Position in its text.
    pub position: Position,
    /// The field, from the outermost to the inner one, such as `api_steps[0].url`; empty for the whole document.
    pub path: String,
    /// The rule that is violated.
    pub kind: ValidationErrorKind,
    /// The value given, truncated; `********` when it is a secret.
    pub value: Option<String>,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl ValidationError {
    /// Creates an error of the field `path` at `position`.
    pub fn new(
        kind: ValidationErrorKind,
        path: impl Into<String>,
        position: Position,
        message: impl Into<String>,
    ) -> Self {
        Self {
            file: None,
            position,
            path: path.into(),
            kind,
            value: None,
            message: message.into(),
            hint: None,
        }
    }

    /// Sets the value that was given.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the file.
    #[must_use]
    pub fn with_file(mut self, file: &Arc<str>) -> Self {
        self.file = Some(Arc::clone(file));
        self
    }

    /// Returns the outermost field, as named in legacy messages; empty for the whole document.
    #[must_use]
    pub fn root_field(&self) -> &str {
        self.path.split(['.', '[']).next().unwrap_or_default()
    }

    /// Returns status and message for the legacy API (behaviour.md 2): 64 for a missing field, 66 for an invalid value.
    #[must_use]
    pub fn legacy_status(&self) -> (u16, String) {
        let field = if self.path.is_empty() { "body" } else { self.root_field() };
        match self.kind {
            ValidationErrorKind::MissingField => (64, format!("Missing {field}")),
            _ => (66, format!("Invalid {field}")),
        }
    }
}

impl From<SyntaxError> for ValidationError {
    fn from(error: SyntaxError) -> Self {
        Self::new(ValidationErrorKind::Syntax, "", error.position, error.message)
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.position.is_known()) {
            (Some(file), true) => write!(f, "{file}:{}:{}: ", self.position.line, self.position.column)?,
            (Some(file), false) => write!(f, "{file}: ")?,
            (None, true) => write!(f, "{}:{}: ", self.position.line, self.position.column)?,
            (None, false) => {}
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ValidationError {}

/// Formats a value for a message: truncated, and only the type of a list or map.
#[must_use]
pub fn display_value(node: &Node) -> String {
    match &node.value {
        NodeValue::Null => "null".to_owned(),
        NodeValue::Bool(flag) => flag.to_string(),
        NodeValue::Int(number) => number.to_string(),
        NodeValue::Float(number) => number.to_string(),
        NodeValue::Text(text) => truncate_value(text),
        NodeValue::List(_) => "a list".to_owned(),
        NodeValue::Map(_) => "a map".to_owned(),
    }
}

/// Truncates `text` for a message, and replaces control characters by spaces.
#[must_use]
pub fn truncate_value(text: &str) -> String {
    let truncated: String =
        text.chars().take(MAX_VALUE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if truncated.len() < text.len() { format!("{truncated}…") } else { truncated }
}

/// Returns the known name closest to `name`, if it is similar enough to be meant.
#[must_use]
pub fn closest_match<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_VALUE_CHARS {
        // Longer than any known name; comparing would take quadratic time.
        return None;
    }
    let folded = name.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&folded, &candidate.replace('-', "_")), candidate))
        .filter(|(similarity, _)| *similarity > 0.84)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_formatted_as_file_line_column_message_and_hint() {
        let position = Position { line: 3, column: 7 };
        let error = ValidationError::new(
            ValidationErrorKind::UnknownField,
            "intervall",
            position,
            "`intervall` is not a field",
        );
        let error = error.with_file(&"a.yaml".into()).with_hint("did you mean `interval`?");
        assert_eq!(
            error.to_string(),
            "a.yaml:3:7: `intervall` is not a field\n  hint: did you mean `interval`?"
        );
    }

    #[test]
    fn a_long_value_is_cut_and_stays_on_one_line() {
        let text = truncate_value(&"x\n".repeat(100));
        assert_eq!(text.chars().count(), MAX_VALUE_CHARS + 1);
        assert!(!text.contains('\n'));
    }

    #[test]
    fn the_closest_match_is_similar() {
        assert_eq!(closest_match("intervall", ["name", "interval"]), Some("interval"));
        assert_eq!(closest_match("time-out", ["note", "timeout"]), Some("timeout"));
        assert_eq!(closest_match("colour", ["name", "interval"]), None);
    }
}
