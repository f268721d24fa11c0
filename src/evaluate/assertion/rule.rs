//! An assertion: what it looks at, and what it expects there.

use std::ops::RangeInclusive;
use std::time::Duration;

use regex::Regex;

use super::answer::{Answer, Node, shortened};
use super::error::AssertionError;
use super::lookup::Lookup;
use super::pattern::compiled;
use super::settings::AssertionSettings;
use super::{answer, compare};
use crate::domain::{Failure, FailureKind, Phase};
use crate::syntax::comparison::comparisons_for;

/// What is looked at, ready to be looked up.
#[derive(Clone, Debug)]
enum Subject {
    Found(Lookup),
    Timeout(Duration),
    Status(Vec<RangeInclusive<u16>>),
}

/// How a node is tested, ready to be used.
#[derive(Clone, Debug)]
enum Test {
    Equals,
    AtMost,
    Contains,
    Matches(Regex),
    Exists,
    Count(usize),
}

/// A compiled assertion.
#[derive(Clone, Debug)]
pub struct Assertion {
    source: String,
    property: String,
    comparison: String,
    value: String,
    subject: Subject,
    test: Test,
    /// The comparison holds when no node fits.
    negative: bool,
}

impl Assertion {
    /// The assertion that `settings` describe (interface.md 2.3).
    ///
    /// # Errors
    /// [`AssertionError`] when the pair is not allowed, or a path, an expression or the value is no good.
    pub fn new(settings: &AssertionSettings) -> Result<Self, AssertionError> {
        let AssertionSettings { source, property, comparison, value } = settings.clone();
        let allowed = comparisons_for(&source).ok_or_else(|| AssertionError::Source(source.clone()))?;
        if !allowed.contains(&comparison.as_str()) {
            return Err(AssertionError::Pair { source_name: source, comparison });
        }
        let subject = subject(&source, &property, &value)?;
        let (test, negative) = test(&comparison, &value, &subject)?;
        Ok(Self { source, property, comparison, value, subject, test, negative })
    }

    /// Whether the source is the status code, which then decides in place of the rule for 400 and above.
    #[must_use]
    pub const fn is_on_status(&self) -> bool {
        matches!(self.subject, Subject::Status(_))
    }

    /// Whether it looks at the body.
    #[must_use]
    pub const fn reads_body(&self) -> bool {
        matches!(self.subject, Subject::Found(Lookup::Response | Lookup::Json(_) | Lookup::Xml(_)))
    }

    /// Whether it looks at the header fields.
    #[must_use]
    pub const fn reads_headers(&self) -> bool {
        matches!(self.subject, Subject::Found(Lookup::Header(_)))
    }

    /// Judges `answer`: a [`FailureKind::AssertionFailed`] when the assertion does not hold.
    #[must_use]
    pub fn judge(&self, answer: &Answer<'_>) -> Option<Failure> {
        let found = self.check(answer).err()?;
        let property = match self.property.as_str() {
            "" => String::new(),
            property => format!(" `{}`", shortened(property)),
        };
        let value = match self.test {
            Test::Exists => String::new(),
            _ => format!(" `{}`", shortened(&self.value)),
        };
        let detail = format!("{}{property} {}{value}: found {found}", self.source, self.comparison);
        Some(Failure::new(Phase::Validate, FailureKind::AssertionFailed, detail))
    }

    /// Fails with what was found instead.
    fn check(&self, answer: &Answer<'_>) -> Result<(), String> {
        let lookup = match &self.subject {
            Subject::Found(lookup) => lookup,
            Subject::Timeout(most) => {
                return if answer.elapsed <= *most {
                    Ok(())
                } else {
                    Err(format!("{:.3} seconds", answer.elapsed.as_secs_f64()))
                };
            }
            Subject::Status(codes) => {
                let among = codes.iter().any(|codes| codes.contains(&answer.status));
                return if among == self.negative { Err(answer.status.to_string()) } else { Ok(()) };
            }
        };
        let nodes = lookup.nodes(answer)?;
        let fitting = nodes.iter().position(|node| self.fits(node, answer));
        let holds = match &self.test {
            Test::Exists => nodes.is_empty() == self.negative,
            Test::Count(wanted) => nodes.len() == *wanted,
            _ => fitting.is_none() == self.negative,
        };
        if holds {
            return Ok(());
        }
        Err(match (lookup, &self.test, fitting) {
            (Lookup::Response, _, at) => self.told_body(answer.text, at.is_some()),
            (_, Test::Count(_), _) => format!("{} nodes", nodes.len()),
            (Lookup::Header(_), ..) => answer::told_header(&self.property, &nodes),
            (_, Test::Exists, _) | (_, _, None) => answer::told(&nodes),
            // Which one must not be there.
            (_, _, Some(at)) if nodes.len() > 1 => {
                format!("{} as node {} of {}", answer::told(&nodes[at..=at]), at + 1, nodes.len())
            }
            (_, _, Some(_)) => answer::told(&nodes),
        })
    }

    fn fits(&self, node: &Node<'_>, answer: &Answer<'_>) -> bool {
        match &self.test {
            Test::Exists | Test::Count(_) => true,
            Test::Equals => compare::equals(node, &self.value),
            Test::AtMost => compare::at_most(node, &self.value),
            Test::Contains => node.text().contains(&self.value),
            Test::Matches(regex) => answer.patience.finds(regex, &node.text()),
        }
    }

    /// A body in a few words; of what must not be in it, where it is.
    fn told_body(&self, text: &str, there: bool) -> String {
        let place = match &self.test {
            Test::Contains if there => text.find(&self.value),
            Test::Matches(regex) if there => regex.find(text).map(|found| found.start()),
            _ => None,
        };
        match place {
            Some(at) => {
                let line = 1 + text[..at].matches('\n').count();
                format!("it in line {line} of a text of {} bytes", text.len())
            }
            None => format!("a text of {} bytes", text.len()),
        }
    }
}

/// Judges `answer` by all `assertions` and tells every failure, in their order.
#[must_use]
pub fn judge_all(assertions: &[Assertion], answer: &Answer<'_>) -> Vec<Failure> {
    assertions.iter().filter_map(|assertion| assertion.judge(answer)).collect()
}

fn subject(source: &str, property: &str, value: &str) -> Result<Subject, AssertionError> {
    let bad_value = || AssertionError::Value(value.to_owned());
    Ok(match source {
        "Timeout" => Subject::Timeout(compare::seconds(value).ok_or_else(bad_value)?),
        "Status Code" => Subject::Status(compare::codes(value).ok_or_else(bad_value)?),
        _ => Subject::Found(Lookup::of(source, property)?),
    })
}

/// The test of a comparison, and whether it has to fail for every node.
fn test(comparison: &str, value: &str, subject: &Subject) -> Result<(Test, bool), AssertionError> {
    let bad_value = || AssertionError::Value(value.to_owned());
    Ok(match comparison {
        "equals" => (Test::Equals, false),
        "does not equal" => (Test::Equals, true),
        "contains" => (Test::Contains, false),
        "does not contain" => (Test::Contains, true),
        "exists" => (Test::Exists, false),
        "does not exist" => (Test::Exists, true),
        "count" => (Test::Count(value.trim().parse().map_err(|_| bad_value())?), false),
        "less than or equal" => {
            let fine = matches!(subject, Subject::Timeout(_)) || compare::number(value).is_some();
            if !fine {
                return Err(bad_value());
            }
            (Test::AtMost, false)
        }
        _ => (Test::Matches(compiled(value)?), comparison == "regular expression excludes"),
    })
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
