//! Says what values a kind takes, for messages.

use super::definition::Kind;
use crate::syntax::format::TextFormat;

impl Kind {
    /// What is wanted, as messages say it after `must be`.
    #[must_use]
    pub fn wanted(&self) -> String {
        match self {
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Int { min, max } if *min == i64::MIN && *max == i64::MAX => "a whole number".to_owned(),
            Self::Int { min, max: i64::MAX } => format!("a whole number of at least {min}"),
            Self::Int { min, max } => format!("a whole number from {min} to {max}"),
            Self::IntOf(choices) => format!("one of {}", listed(choices)),
            Self::Number { min, max } if min.is_infinite() || max.is_infinite() => "a number".to_owned(),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Text { format: TextFormat::Any, .. } => "a text".to_owned(),
            Self::Text { format, .. } => format.expected().to_owned(),
            Self::TextOf([""]) => "empty".to_owned(),
            Self::TextOf(choices) => format!("one of {}", quoted(choices)),
            Self::List { .. } => "a list".to_owned(),
            Self::Object(_) => "a map of fields".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }
}

fn listed(choices: &[i64]) -> String {
    choices.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

fn quoted(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ")
}
