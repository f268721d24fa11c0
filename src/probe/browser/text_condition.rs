//! Conditions on texts of the page.

use std::sync::Arc;

use super::current_page::CurrentPage;
use crate::domain::{Failure, FailureKind, Phase, truncate};
use crate::evaluate::SearchBudget;
use crate::evaluate::template::EscapeContext;
use crate::net::Deadline;
use crate::probe::blocking_pool::{INLINE_SEARCH_BYTES, run_blocking};
use crate::script::language::Matcher;
use crate::syntax::pattern::CompiledPattern;

/// Longest text that a failure quotes, in characters.
pub(super) const MAX_QUOTED_CHARS: usize = 200;

/// A [`Matcher`] with its texts filled in.
#[derive(Clone, Debug)]
pub(super) enum TextCondition {
    AnyText,
    Equals(String),
    Contains(String),
    Matches(CompiledPattern),
    Not(Box<Self>),
    AtLeast(u64),
    AtMost(u64),
}

impl TextCondition {
    /// Returns a condition that holds for any text but `text`.
    pub(super) fn differs_from(text: &str) -> Self {
        Self::Not(Box::new(Self::Equals(text.to_owned())))
    }

    /// Whether `text` meets the condition. A long text is searched on a blocking thread, until `deadline` at most.
    ///
    /// # Errors
    /// Fails with [`FailureKind::Internal`] when the search would take longer.
    pub(super) async fn is_met_by(&self, text: &Arc<str>, deadline: Deadline) -> Result<bool, Failure> {
        if text.len() <= INLINE_SEARCH_BYTES {
            return self.evaluate(text, deadline);
        }
        let (condition, text) = (self.clone(), Arc::clone(text));
        run_blocking("the search in the page", deadline, move || condition.evaluate(&text, deadline)).await?
    }

    fn evaluate(&self, text: &str, deadline: Deadline) -> Result<bool, Failure> {
        let budget = SearchBudget::with_remaining_time(|| deadline.remaining());
        let matches = self.matches(text, &budget);
        if budget.is_exhausted() {
            let bytes = text.len();
            let reason = format!("searching {bytes} bytes of the page would take longer than the script may");
            return Err(Failure::new(Phase::RunScript, FailureKind::Internal, reason));
        }
        Ok(matches)
    }

    fn matches(&self, text: &str, budget: &SearchBudget<'_>) -> bool {
        match self {
            Self::AnyText => true,
            Self::Equals(expected) => collapse_whitespace(expected) == collapse_whitespace(text),
            Self::Contains(expected) => collapse_whitespace(text).contains(&collapse_whitespace(expected)),
            Self::Matches(pattern) => budget.is_match(pattern, text),
            Self::Not(inner) => !inner.matches(text, budget),
            Self::AtLeast(min) => text.parse::<u64>().is_ok_and(|count| count >= *min),
            Self::AtMost(max) => text.parse::<u64>().is_ok_and(|count| count <= *max),
        }
    }

    /// Returns what the text must do, in words that follow "must": `contain …`.
    pub(super) fn requirement(&self) -> String {
        match self {
            Self::AnyText => "exist".to_owned(),
            Self::Equals(expected) => format!("be `{}`", truncate(expected, MAX_QUOTED_CHARS)),
            Self::Contains(expected) => format!("contain `{}`", truncate(expected, MAX_QUOTED_CHARS)),
            Self::Matches(pattern) => format!("match `{}`", truncate(pattern.source(), MAX_QUOTED_CHARS)),
            Self::Not(inner) => format!("not {}", inner.requirement()),
            Self::AtLeast(min) => format!("be at least {min}"),
            Self::AtMost(max) => format!("be at most {max}"),
        }
    }
}

/// Fills in the texts of `matcher`.
pub(super) fn render_condition(page: CurrentPage<'_>, matcher: &Matcher) -> Result<TextCondition, Failure> {
    Ok(match matcher {
        Matcher::Equals(text) => TextCondition::Equals(page.render(text, EscapeContext::Value)?),
        Matcher::Contains(text) => TextCondition::Contains(page.render(text, EscapeContext::Value)?),
        Matcher::Matches(pattern) => TextCondition::Matches(page.compile(pattern)?),
        Matcher::Not(inner) => TextCondition::Not(Box::new(render_condition(page, inner)?)),
        Matcher::AtLeast(count) => TextCondition::AtLeast(*count),
        Matcher::AtMost(count) => TextCondition::AtMost(*count),
    })
}

/// Returns the first group of `pattern` in `text`, or the whole match without groups. `text` is known to match.
///
/// # Errors
/// Fails like [`TextCondition::is_met_by`].
pub(super) async fn first_capture_group(
    pattern: &CompiledPattern,
    text: &Arc<str>,
    deadline: Deadline,
) -> Result<Option<String>, Failure> {
    let group = |pattern: &CompiledPattern, text: &str| pattern.first_group_or_match(text).map(str::to_owned);
    if text.len() <= INLINE_SEARCH_BYTES {
        return Ok(group(pattern, text));
    }
    let (pattern, text) = (pattern.clone(), Arc::clone(text));
    run_blocking("the search in the page", deadline, move || group(&pattern, &text)).await
}

/// Replaces each run of white space by one space, as browsers render it.
fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::syntax::pattern::HaystackKind;

    #[tokio::test]
    async fn a_search_beyond_its_deadline_fails_as_internal() {
        // On random text this takes a second, even with an optimised regex crate.
        let slow = TextCondition::Matches(
            CompiledPattern::new("(?:[a-h][a-z ]{1,60}){1,20}[0-9A-Z]", HaystackKind::Text).unwrap(),
        );
        let mut seed = 7_u64;
        let letter = |_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b"abcdefgh x"[(seed >> 33) as usize % 10])
        };
        let text: Arc<str> = (0..2 * INLINE_SEARCH_BYTES).map(letter).collect::<String>().into();
        let failure = slow.is_met_by(&text, Deadline::within(Duration::from_millis(20))).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Internal, "{failure}");
        let quick = TextCondition::Not(Box::new(TextCondition::Contains("y".to_owned())));
        assert!(quick.is_met_by(&text, Deadline::within(Duration::from_mins(1))).await.unwrap());
    }

    #[tokio::test]
    async fn the_first_group_is_captured_in_short_and_long_texts() {
        let deadline = Deadline::within(Duration::from_mins(1));
        for filling in ["", &" ".repeat(2 * INLINE_SEARCH_BYTES)] {
            let text: Arc<str> = format!("{filling}sum: 12.50").into();
            for (pattern, found) in [(r"(\d+)\.", Some("12")), (r"\d+\.\d+", Some("12.50")), ("Sum", None)] {
                let regex = CompiledPattern::new(pattern, HaystackKind::Text).unwrap();
                assert_eq!(
                    first_capture_group(&regex, &text, deadline).await.unwrap().as_deref(),
                    found,
                    "{pattern}"
                );
            }
        }
    }
}
