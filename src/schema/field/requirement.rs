//! Describes for error messages which values a type accepts.

use super::definition::FieldType;
use crate::syntax::text_format::TextFormat;

impl FieldType {
    /// Returns the expected values, worded to follow `must be` in a message.
    #[must_use]
    pub fn requirement(&self) -> String {
        match self {
            Self::Bool => "`true` or `false`".to_owned(),
            Self::Int { min, max } if *min == i64::MIN && *max == i64::MAX => "a whole number".to_owned(),
            Self::Int { min, max: i64::MAX } => format!("a whole number of at least {min}"),
            Self::Int { min, max } => format!("a whole number from {min} to {max}"),
            Self::IntEnum(choices) => format!("one of {}", join_numbers(choices)),
            Self::Float { min, max } if min.is_infinite() || max.is_infinite() => "a number".to_owned(),
            Self::Float { min, max } => format!("a number from {min} to {max}"),
            Self::Text { format: TextFormat::Any | TextFormat::Name, .. } => "a text".to_owned(),
            Self::Text { format, .. } => format.requirement().to_owned(),
            Self::TextEnum([""]) => "empty".to_owned(),
            Self::TextEnum(choices) => format!("one of {}", join_quoted(choices)),
            Self::List { .. } => "a list".to_owned(),
            Self::Object(_) => "a map of fields".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }
}

fn join_numbers(choices: &[i64]) -> String {
    choices.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

fn join_quoted(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ")
}
