//! An assertion between two runs: small, and with variables that are known once the steps before have run.

use std::borrow::Cow;

use super::compiled::Assertion;
use super::error::AssertionError;
use super::settings::AssertionSettings;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{EscapeContext, Template, Variables};

/// An assertion of a step.
#[derive(Clone, Debug)]
pub enum AssertionTemplate {
    /// Compiled.
    Compiled(Box<Assertion>),
    /// Its settings and its value: with variables, or a regular expression, which compiled takes tens of
    /// kilobytes and at worst megabytes, too much to keep.
    Deferred(Box<(AssertionSettings, Template)>),
}

impl AssertionTemplate {
    /// The assertion that `settings` describe (interface.md 2.3).
    ///
    /// # Errors
    /// As [`Assertion::new`], which for one with variables can fail later too.
    pub fn new(settings: &AssertionSettings) -> Result<Self, AssertionError> {
        let escape = match settings.comparison.as_str() {
            "regular expression includes" | "regular expression excludes" => EscapeContext::Regex,
            _ => EscapeContext::Value,
        };
        let value = Template::new(&settings.value, escape);
        if value.has_placeholders() {
            return Ok(Self::Deferred(Box::new((settings.clone(), value))));
        }
        let assertion = Assertion::new(settings)?;
        Ok(match escape {
            EscapeContext::Regex => Self::Deferred(Box::new((settings.clone(), value))),
            _ => Self::Compiled(Box::new(assertion)),
        })
    }

    /// Whether the source is the status code, which then decides in place of the rule for 400 and above.
    #[must_use]
    pub fn checks_status(&self) -> bool {
        match self {
            Self::Compiled(assertion) => assertion.checks_status(),
            Self::Deferred(open) => open.0.source == "Status Code",
        }
    }

    /// Whether it looks at the body.
    #[must_use]
    pub fn reads_body(&self) -> bool {
        match self {
            Self::Compiled(assertion) => assertion.reads_body(),
            Self::Deferred(open) => {
                matches!(open.0.source.as_str(), "Response" | "JSON Response" | "XML Response")
            }
        }
    }

    /// Whether it looks at the header fields.
    #[must_use]
    pub fn reads_headers(&self) -> bool {
        match self {
            Self::Compiled(assertion) => assertion.reads_headers(),
            Self::Deferred(open) => open.0.source == "Header",
        }
    }

    /// Whether it takes more than a moment to get ready.
    #[must_use]
    pub fn is_regex(&self) -> bool {
        matches!(self, Self::Deferred(open) if open.0.comparison.starts_with("regular"))
    }

    /// The assertion with the values of `variables`.
    ///
    /// # Errors
    /// [`FailureKind::VariableUnknown`], or [`FailureKind::AssertionFailed`] when the value does not fit the
    /// comparison.
    pub fn resolve(&self, variables: &Variables) -> Result<Cow<'_, Assertion>, Failure> {
        let (settings, value) = match self {
            Self::Compiled(assertion) => return Ok(Cow::Borrowed(assertion)),
            Self::Deferred(open) => (&open.0, &open.1),
        };
        let settings = AssertionSettings { value: value.render(variables)?, ..settings.clone() };
        let failed = |error: AssertionError| {
            Failure::new(Phase::Validate, FailureKind::AssertionFailed, error.to_string())
        };
        Assertion::new(&settings).map(Cow::Owned).map_err(failed)
    }
}
