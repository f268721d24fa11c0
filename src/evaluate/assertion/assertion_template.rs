//! An assertion as stored between runs: small, and possibly with variables that are only known after earlier steps.

use std::borrow::Cow;

use super::compiled::Assertion;
use super::error::AssertionError;
use super::settings::AssertionSettings;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::pattern_cache::{PatternCache, pattern_failure};
use crate::evaluate::template::{EscapeContext, Template, Variables};
use crate::syntax::comparison::MATCHES_SCHEMA;
use crate::syntax::pattern::HaystackKind;

/// An assertion of a step.
#[derive(Clone, Debug)]
pub enum AssertionTemplate {
    /// Compiled already.
    Compiled(Box<Assertion>),
    /// Settings and value, compiled when needed: the value has variables, or is a regular expression, which takes tens
    /// of kilobytes when compiled and at worst a megabyte, or there is a schema, which takes even more.
    Deferred(Box<(AssertionSettings, Template)>),
}

impl AssertionTemplate {
    /// Creates the assertion that `settings` describe (interface.md 2.3).
    ///
    /// # Errors
    /// As [`Assertion::new`]; with variables it can also fail later.
    pub fn new(settings: &AssertionSettings) -> Result<Self, AssertionError> {
        if settings.comparison == MATCHES_SCHEMA {
            let value_template = Template::new("", EscapeContext::Value);
            return Ok(Self::Deferred(Box::new((settings.clone(), value_template))));
        }
        let escape_context = match settings.comparison.as_str() {
            "regular expression includes" | "regular expression excludes" => EscapeContext::Regex,
            _ => EscapeContext::Value,
        };
        let value_template = Template::new(&settings.value, escape_context);
        if value_template.has_placeholders() {
            return Ok(Self::Deferred(Box::new((settings.clone(), value_template))));
        }
        if escape_context == EscapeContext::Regex {
            Assertion::check_without_compiling(settings)?;
            return Ok(Self::Deferred(Box::new((settings.clone(), value_template))));
        }
        Ok(Self::Compiled(Box::new(Assertion::new(settings)?)))
    }

    /// Whether the source is the status code, which then replaces the rule for 400 and above.
    #[must_use]
    pub fn checks_status(&self) -> bool {
        match self {
            Self::Compiled(assertion) => assertion.checks_status(),
            Self::Deferred(deferred) => deferred.0.source == "Status Code",
        }
    }

    /// Whether it reads the body.
    #[must_use]
    pub fn reads_body(&self) -> bool {
        match self {
            Self::Compiled(assertion) => assertion.reads_body(),
            Self::Deferred(deferred) => {
                matches!(deferred.0.source.as_str(), "Response" | "JSON Response" | "XML Response")
            }
        }
    }

    /// Whether it reads the header fields.
    #[must_use]
    pub fn reads_headers(&self) -> bool {
        match self {
            Self::Compiled(assertion) => assertion.reads_headers(),
            Self::Deferred(deferred) => deferred.0.source == "Header",
        }
    }

    /// Whether it is a regular expression or a schema, which take a while to compile and to evaluate.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        let is_slow = |name: &str| name.starts_with("regular") || name == MATCHES_SCHEMA;
        matches!(self, Self::Deferred(deferred) if is_slow(&deferred.0.comparison))
    }

    /// Returns the assertion with the values of `variables`. `patterns` keeps a regular expression that has none.
    ///
    /// # Errors
    /// [`FailureKind::VariableNotSet`]; [`FailureKind::AssertionFailed`] when the value with variables does not suit
    /// the comparison; [`FailureKind::PatternTooLarge`] when a regular expression of the settings is too large.
    pub fn resolve(
        &self,
        variables: &Variables,
        patterns: &PatternCache,
    ) -> Result<Cow<'_, Assertion>, Failure> {
        let (settings, value_template) = match self {
            Self::Compiled(assertion) => return Ok(Cow::Borrowed(assertion)),
            Self::Deferred(deferred) => (&deferred.0, &deferred.1),
        };
        let assertion = if value_template.has_placeholders() {
            let value = value_template.render(variables)?;
            Assertion::new(&AssertionSettings { value, ..settings.clone() })
        } else {
            Assertion::with_compiler(settings, |value| patterns.compile(value, HaystackKind::Text))
        };
        assertion.map(Cow::Owned).map_err(|error| match error {
            AssertionError::InvalidRegex(error) if !value_template.has_placeholders() => pattern_failure(
                Phase::Validate,
                &format!("`value` of an assertion on `{}`", settings.source),
                &error,
            ),
            // It was checked when it was stored.
            error @ AssertionError::InvalidSchema(_) => {
                Failure::new(Phase::Validate, FailureKind::Internal, error.to_string())
            }
            error => Failure::new(Phase::Validate, FailureKind::AssertionFailed, error.to_string()),
        })
    }
}
