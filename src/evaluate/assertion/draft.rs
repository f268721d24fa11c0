//! An assertion between two runs: small, and with variables that are known once the steps before have run.

use std::borrow::Cow;

use serde_json::Value;

use super::error::AssertionError;
use super::rule::Assertion;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{Place, Template, Variables};

/// An assertion of a step.
#[derive(Clone, Debug)]
pub enum Draft {
    /// Compiled.
    Ready(Box<Assertion>),
    /// The document and its value: with variables, or a regular expression, which compiled takes tens of
    /// kilobytes and at worst megabytes, too much to keep.
    Open(Box<(Value, Template)>),
}

impl Draft {
    /// That of a document (interface.md 2.3).
    ///
    /// # Errors
    /// As [`Assertion::of`], which for one with variables can fail later too.
    pub fn of(document: &Value) -> Result<Self, AssertionError> {
        let part = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
        let place = match part("comparison") {
            "regular expression includes" | "regular expression excludes" => Place::Regex,
            _ => Place::Value,
        };
        let value = Template::new(document.get("value").and_then(Value::as_str).unwrap_or("1"), place);
        if value.has_names() {
            return Ok(Self::Open(Box::new((document.clone(), value))));
        }
        let assertion = Assertion::of(document)?;
        Ok(match place {
            Place::Regex => Self::Open(Box::new((document.clone(), value))),
            _ => Self::Ready(Box::new(assertion)),
        })
    }

    /// Whether the source is the status code, which then decides in place of the rule for 400 and above.
    #[must_use]
    pub fn is_on_status(&self) -> bool {
        match self {
            Self::Ready(assertion) => assertion.is_on_status(),
            Self::Open(open) => open.0.get("source").and_then(Value::as_str) == Some("Status Code"),
        }
    }

    /// Whether it looks at the body.
    #[must_use]
    pub fn reads_body(&self) -> bool {
        match self {
            Self::Ready(assertion) => assertion.reads_body(),
            Self::Open(open) => {
                let source = open.0.get("source").and_then(Value::as_str);
                matches!(source, Some("Response" | "JSON Response" | "XML Response"))
            }
        }
    }

    /// Whether it looks at the header fields.
    #[must_use]
    pub fn reads_headers(&self) -> bool {
        match self {
            Self::Ready(assertion) => assertion.reads_headers(),
            Self::Open(open) => open.0.get("source").and_then(Value::as_str) == Some("Header"),
        }
    }

    /// Whether it takes more than a moment to get ready.
    #[must_use]
    pub fn is_regex(&self) -> bool {
        let comparison = |open: &(Value, Template)| {
            open.0.get("comparison").and_then(Value::as_str).is_some_and(|name| name.starts_with("regular"))
        };
        matches!(self, Self::Open(open) if comparison(open))
    }

    /// The assertion with the values of `variables`.
    ///
    /// # Errors
    /// [`FailureKind::VariableUnknown`], or [`FailureKind::AssertionFailed`] when the value does not fit the
    /// comparison.
    pub fn ready(&self, variables: &Variables) -> Result<Cow<'_, Assertion>, Failure> {
        let (document, value) = match self {
            Self::Ready(assertion) => return Ok(Cow::Borrowed(assertion)),
            Self::Open(open) => (&open.0, &open.1),
        };
        let mut document = document.clone();
        if let Some(entries) = document.as_object_mut() {
            entries.insert("value".to_owned(), Value::String(value.filled(variables)?));
        }
        let failed = |error: AssertionError| {
            Failure::new(Phase::Validate, FailureKind::AssertionFailed, error.to_string())
        };
        Assertion::of(&document).map(Cow::Owned).map_err(failed)
    }
}
