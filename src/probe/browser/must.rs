//! What a text of the page must be, so that an act passes.

use std::sync::Arc;

use regex::Regex;

use super::page::PageAccess;
use crate::domain::{Failure, FailureKind, Phase, truncate};
use crate::evaluate::SearchBudget;
use crate::evaluate::template::EscapeContext;
use crate::net::Deadline;
use crate::probe::apart::{LONG_TEXT, apart};
use crate::script::dialect::{Matcher, Pattern};

/// Characters of a text that a failure shows.
pub(super) const SHOWN: usize = 200;

/// A [`Matcher`] with its texts filled in.
#[derive(Clone, Debug)]
pub(super) enum Must {
    Anything,
    Equals(String),
    Contains(String),
    Matches(Regex),
    Not(Box<Self>),
    AtLeast(u64),
    AtMost(u64),
}

impl Must {
    /// Anything but `text`.
    pub(super) fn differ(text: &str) -> Self {
        Self::Not(Box::new(Self::Equals(text.to_owned())))
    }

    /// Whether `text` is so. A long one is searched apart from the threads that wait for other browsers, and no longer
    /// than until `deadline`.
    ///
    /// # Errors
    /// [`FailureKind::Internal`] for a search that would take longer.
    pub(super) async fn holds(&self, text: &Arc<str>, deadline: Deadline) -> Result<bool, Failure> {
        if text.len() <= LONG_TEXT {
            return self.judge(text, deadline);
        }
        let (must, text) = (self.clone(), Arc::clone(text));
        apart("the search in the page", deadline, move || must.judge(&text, deadline)).await?
    }

    fn judge(&self, text: &str, deadline: Deadline) -> Result<bool, Failure> {
        let patience = SearchBudget::with_remaining(|| deadline.left());
        let fits = self.fits(text, &patience);
        if patience.is_exhausted() {
            let bytes = text.len();
            let why = format!("searching {bytes} bytes of the page would take longer than the script may");
            return Err(Failure::new(Phase::Play, FailureKind::Internal, why));
        }
        Ok(fits)
    }

    fn fits(&self, text: &str, patience: &SearchBudget<'_>) -> bool {
        match self {
            Self::Anything => true,
            Self::Equals(wanted) => spaces(wanted) == spaces(text),
            Self::Contains(wanted) => spaces(text).contains(&spaces(wanted)),
            Self::Matches(regex) => patience.is_match(regex, text),
            Self::Not(of) => !of.fits(text, patience),
            Self::AtLeast(least) => text.parse::<u64>().is_ok_and(|count| count >= *least),
            Self::AtMost(most) => text.parse::<u64>().is_ok_and(|count| count <= *most),
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Anything => "be there".to_owned(),
            Self::Equals(wanted) => format!("be `{}`", truncate(wanted, SHOWN)),
            Self::Contains(wanted) => format!("contain `{}`", truncate(wanted, SHOWN)),
            Self::Matches(regex) => format!("match `{}`", truncate(regex.as_str(), SHOWN)),
            Self::Not(of) => format!("not {}", of.words()),
            Self::AtLeast(least) => format!("be at least {least}"),
            Self::AtMost(most) => format!("be at most {most}"),
        }
    }
}

/// What must hold, with its texts filled in.
pub(super) fn prepared(page: PageAccess<'_>, must: &Matcher) -> Result<Must, Failure> {
    Ok(match must {
        Matcher::Equals(text) => Must::Equals(page.filled(text, EscapeContext::Value)?),
        Matcher::Contains(text) => Must::Contains(page.filled(text, EscapeContext::Value)?),
        Matcher::Matches(Pattern(regex)) => Must::Matches(regex.clone()),
        Matcher::Not(of) => Must::Not(Box::new(prepared(page, of)?)),
        Matcher::AtLeast(count) => Must::AtLeast(*count),
        Matcher::AtMost(count) => Must::AtMost(*count),
    })
}

/// What `regex` takes from `text`, which it was seen to match: its first group, or all that it matches.
///
/// # Errors
/// As of [`Must::holds`].
pub(super) async fn taken(
    regex: &Regex,
    text: &Arc<str>,
    deadline: Deadline,
) -> Result<Option<String>, Failure> {
    let group = |regex: &Regex, text: &str| {
        let found = regex.captures(text)?;
        Some(found.get(1).or(found.get(0))?.as_str().to_owned())
    };
    if text.len() <= LONG_TEXT {
        return Ok(group(regex, text));
    }
    let (regex, text) = (regex.clone(), Arc::clone(text));
    apart("the search in the page", deadline, move || group(&regex, &text)).await
}

/// Runs of white space as one space, as a reader sees them.
fn spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_search_that_would_take_too_long_is_said_to_be_one() {
        let slow = Must::Matches(Regex::new("x.{40}[a-w]").unwrap());
        let text: Arc<str> = "x".repeat(8 << 20).into();
        let failure = slow.holds(&text, Deadline::within(Duration::from_millis(20))).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Internal, "{failure}");
        let quick = Must::Not(Box::new(Must::Contains("y".to_owned())));
        assert!(quick.holds(&text, Deadline::within(Duration::from_mins(1))).await.unwrap());
    }

    #[tokio::test]
    async fn the_first_group_is_taken_of_short_and_of_long_texts() {
        let deadline = Deadline::within(Duration::from_mins(1));
        for filling in ["", &" ".repeat(2 * LONG_TEXT)] {
            let text: Arc<str> = format!("{filling}sum: 12.50").into();
            for (pattern, found) in [(r"(\d+)\.", Some("12")), (r"\d+\.\d+", Some("12.50")), ("Sum", None)] {
                let regex = Regex::new(pattern).unwrap();
                assert_eq!(taken(&regex, &text, deadline).await.unwrap().as_deref(), found, "{pattern}");
            }
        }
    }
}
