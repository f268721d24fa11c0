//! Compiled assertions: what they read, and what they expect.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use super::error::AssertionError;
use super::lookup::Lookup;
use super::response::{ParsedResponse, ResponseNode, one_line_excerpt};
use super::settings::AssertionSettings;
use super::{compare, response, schema_match};
use crate::domain::{Failure, FailureKind, Phase};
use crate::syntax::comparison::{MATCHES_SCHEMA, comparisons_for};
use crate::syntax::json_schema::JsonSchema;
use crate::syntax::pattern::{CompiledPattern, HaystackKind, PatternError, check_source_size};
use crate::syntax::status_codes::HttpStatusCodes;

/// The subject of an assertion, compiled.
#[derive(Clone, Debug)]
enum AssertionSubject {
    Lookup(Lookup),
    MaxDuration(Duration),
    HttpStatusCodes(HttpStatusCodes),
}

/// The test of a node, compiled.
#[derive(Clone, Debug)]
enum AssertionTest {
    Equals,
    /// The number is less than, equal to or greater than the value, as the function accepts it.
    NumberOrder(fn(Ordering) -> bool),
    Contains,
    Matches(CompiledPattern),
    Exists,
    Count(usize),
    MatchesSchema(Arc<JsonSchema>),
}

/// A compiled assertion.
#[derive(Clone, Debug)]
pub struct Assertion {
    source: String,
    property: String,
    comparison: String,
    value: String,
    subject: AssertionSubject,
    test: AssertionTest,
    /// Whether the assertion holds when no node passes the test.
    negated: bool,
}

impl Assertion {
    /// Compiles the assertion that `settings` describe (interface.md 2.3).
    ///
    /// # Errors
    /// [`AssertionError`] when the source and the comparison do not go together, or a path, an expression or the value
    /// is invalid.
    pub fn new(settings: &AssertionSettings) -> Result<Self, AssertionError> {
        Self::with_compiler(settings, |value| CompiledPattern::new(value, HaystackKind::Text))
    }

    /// Checks `settings` like [`Assertion::new`], except that a regular expression is not compiled.
    ///
    /// # Errors
    /// Like [`Assertion::new`].
    pub(super) fn check_without_compiling(settings: &AssertionSettings) -> Result<(), AssertionError> {
        check_source_size(&settings.value)?;
        Self::with_compiler(settings, |_| CompiledPattern::new("", HaystackKind::Text)).map(drop)
    }

    /// Like [`Assertion::new`], with a regular expression that `compile` compiles.
    ///
    /// # Errors
    /// Like [`Assertion::new`].
    pub(super) fn with_compiler(
        settings: &AssertionSettings,
        compile: impl FnOnce(&str) -> Result<CompiledPattern, PatternError>,
    ) -> Result<Self, AssertionError> {
        let AssertionSettings { source, property, comparison, value, schema } = settings.clone();
        let allowed_comparisons =
            comparisons_for(&source).ok_or_else(|| AssertionError::UnknownSource(source.clone()))?;
        if !allowed_comparisons.contains(&comparison.as_str()) {
            return Err(AssertionError::UnsupportedComparison { source_name: source, comparison });
        }
        let subject = compile_subject(&source, &property, &value)?;
        let (test, negated) = if comparison == MATCHES_SCHEMA {
            (AssertionTest::MatchesSchema(Arc::new(JsonSchema::new(&schema.unwrap_or_default())?)), false)
        } else {
            compile_test(&comparison, &value, &subject, compile)?
        };
        Ok(Self { source, property, comparison, value, subject, test, negated })
    }

    /// Whether the source is the status code, which then replaces the rule for 400 and above.
    #[must_use]
    pub const fn checks_status(&self) -> bool {
        matches!(self.subject, AssertionSubject::HttpStatusCodes(_))
    }

    /// Whether it reads the body.
    #[must_use]
    pub const fn reads_body(&self) -> bool {
        matches!(self.subject, AssertionSubject::Lookup(Lookup::BodyText | Lookup::Json(_) | Lookup::Xml(_)))
    }

    /// Whether it reads the header fields.
    #[must_use]
    pub const fn reads_headers(&self) -> bool {
        matches!(self.subject, AssertionSubject::Lookup(Lookup::Header(_)))
    }

    /// Checks `response`: returns a [`FailureKind::AssertionFailed`] when the assertion does not hold.
    #[must_use]
    pub fn evaluate(&self, response: &ParsedResponse<'_>) -> Option<Failure> {
        let (kind, found) = match (&self.test, &self.subject) {
            (AssertionTest::MatchesSchema(schema), AssertionSubject::Lookup(lookup)) => {
                schema_match::evaluate(schema, lookup, response).err()?
            }
            _ => (FailureKind::AssertionFailed, format!("found {}", self.test_response(response).err()?)),
        };
        let property = match self.property.as_str() {
            "" => String::new(),
            property => format!(" `{}`", one_line_excerpt(property)),
        };
        let value = match self.test {
            AssertionTest::Exists | AssertionTest::MatchesSchema(_) => String::new(),
            _ => format!(" `{}`", one_line_excerpt(&self.value)),
        };
        let detail = format!("{}{property} {}{value}: {found}", self.source, self.comparison);
        Some(Failure::new(Phase::Validate, kind, detail))
    }

    /// Tests `response`. The error describes what was found instead.
    fn test_response(&self, response: &ParsedResponse<'_>) -> Result<(), String> {
        let lookup = match &self.subject {
            AssertionSubject::Lookup(lookup) => lookup,
            AssertionSubject::MaxDuration(max) => {
                return if response.elapsed <= *max {
                    Ok(())
                } else {
                    Err(format!("{:.3} seconds", response.elapsed.as_secs_f64()))
                };
            }
            AssertionSubject::HttpStatusCodes(codes) => {
                let is_listed = codes.contains(response.status);
                return if is_listed == self.negated { Err(response.status.to_string()) } else { Ok(()) };
            }
        };
        let nodes = lookup.select(response)?;
        let matching_index = nodes.iter().position(|node| self.node_matches(node, response));
        let holds = match &self.test {
            AssertionTest::Exists => nodes.is_empty() == self.negated,
            AssertionTest::Count(expected) => nodes.len() == *expected,
            _ => matching_index.is_none() == self.negated,
        };
        if holds {
            return Ok(());
        }
        Err(match (lookup, &self.test, matching_index) {
            (Lookup::BodyText, _, index) => self.describe_body(response.body_text, index.is_some()),
            (_, AssertionTest::Count(_), _) => format!("{} nodes", nodes.len()),
            (Lookup::Header(_), ..) => response::describe_header(&self.property, &nodes),
            (_, AssertionTest::Exists, _) | (_, _, None) => response::describe_nodes(&nodes),
            // Name the node that must not be there.
            (_, _, Some(index)) if nodes.len() > 1 => {
                format!(
                    "{} as node {} of {}",
                    response::describe_nodes(&nodes[index..=index]),
                    index + 1,
                    nodes.len()
                )
            }
            (_, _, Some(_)) => response::describe_nodes(&nodes),
        })
    }

    fn node_matches(&self, node: &ResponseNode<'_>, response: &ParsedResponse<'_>) -> bool {
        match &self.test {
            AssertionTest::Exists | AssertionTest::Count(_) | AssertionTest::MatchesSchema(_) => true,
            AssertionTest::Equals => compare::equals(node, &self.value),
            AssertionTest::NumberOrder(is_wanted) => compare::has_wanted_order(node, &self.value, *is_wanted),
            AssertionTest::Contains => node.text().contains(&self.value),
            AssertionTest::Matches(pattern) => response.search_budget.is_match(pattern, &node.text()),
        }
    }

    /// Describes a body in a few words; with its line if it contains text that it must not.
    fn describe_body(&self, text: &str, contains_match: bool) -> String {
        let position = match &self.test {
            AssertionTest::Contains if contains_match => text.find(&self.value),
            AssertionTest::Matches(pattern) if contains_match => pattern.match_start(text),
            _ => None,
        };
        match position {
            Some(offset) => {
                let line = 1 + text[..offset].matches('\n').count();
                format!("it in line {line} of a text of {} bytes", text.len())
            }
            None => format!("a text of {} bytes", text.len()),
        }
    }
}

/// Checks `response` against all `assertions` and returns every failure, in their order.
#[must_use]
pub fn evaluate_all(assertions: &[Assertion], response: &ParsedResponse<'_>) -> Vec<Failure> {
    assertions.iter().filter_map(|assertion| assertion.evaluate(response)).collect()
}

fn compile_subject(source: &str, property: &str, value: &str) -> Result<AssertionSubject, AssertionError> {
    let invalid_value = || AssertionError::InvalidValue(value.to_owned());
    Ok(match source {
        "Timeout" => AssertionSubject::MaxDuration(compare::parse_seconds(value).ok_or_else(invalid_value)?),
        "Status Code" => {
            AssertionSubject::HttpStatusCodes(HttpStatusCodes::parse(value).ok_or_else(invalid_value)?)
        }
        _ => AssertionSubject::Lookup(Lookup::new(source, property)?),
    })
}

fn number_order_test(
    value: &str,
    subject: &AssertionSubject,
    is_wanted: fn(Ordering) -> bool,
) -> Result<AssertionTest, AssertionError> {
    let is_valid =
        matches!(subject, AssertionSubject::MaxDuration(_)) || compare::parse_number(value).is_some();
    if is_valid {
        Ok(AssertionTest::NumberOrder(is_wanted))
    } else {
        Err(AssertionError::InvalidValue(value.to_owned()))
    }
}

/// Compiles the test of a comparison. Also returns whether the test must fail for every node.
fn compile_test(
    comparison: &str,
    value: &str,
    subject: &AssertionSubject,
    compile: impl FnOnce(&str) -> Result<CompiledPattern, PatternError>,
) -> Result<(AssertionTest, bool), AssertionError> {
    let invalid_value = || AssertionError::InvalidValue(value.to_owned());
    Ok(match comparison {
        "equals" => (AssertionTest::Equals, false),
        "does not equal" => (AssertionTest::Equals, true),
        "contains" => (AssertionTest::Contains, false),
        "does not contain" => (AssertionTest::Contains, true),
        "exists" => (AssertionTest::Exists, false),
        "does not exist" => (AssertionTest::Exists, true),
        "count" => (AssertionTest::Count(value.trim().parse().map_err(|_| invalid_value())?), false),
        "less than" => (number_order_test(value, subject, Ordering::is_lt)?, false),
        "less than or equal" => (number_order_test(value, subject, Ordering::is_le)?, false),
        "greater than" => (number_order_test(value, subject, Ordering::is_gt)?, false),
        "greater than or equal" => (number_order_test(value, subject, Ordering::is_ge)?, false),
        _ => (AssertionTest::Matches(compile(value)?), comparison == "regular expression excludes"),
    })
}

#[cfg(test)]
#[path = "compiled_tests.rs"]
mod tests;
