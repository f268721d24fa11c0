//! Limits the time that regular expressions may search a text. Their time is linear in the text, but a few take minutes
//! for a megabyte, and a search in progress cannot be stopped. So the beginning of a long text is searched first, then
//! a longer part, and the whole of it only when those times show that it will finish in time.

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use crate::syntax::pattern::CompiledPattern;

/// Size of the first part in bytes; shorter texts are searched at once. The worst expressions take some tenths of a
/// second for it.
const FIRST_CHUNK_BYTES: usize = 4 * 1024;
/// Growth of each part over the one before: all parts together take a third of the time of the whole.
const CHUNK_GROWTH: usize = 4;

/// The time that all searches together may still take.
pub struct SearchBudget<'a> {
    /// Returns the time left at each call; `None` for no limit.
    remaining_time: Option<Box<dyn Fn() -> Duration + 'a>>,
    /// Set when a search was skipped; all later ones are skipped too.
    is_exhausted: Cell<bool>,
}

impl fmt::Debug for SearchBudget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchBudget").field("is_exhausted", &self.is_exhausted).finish_non_exhaustive()
    }
}

impl<'a> SearchBudget<'a> {
    /// Creates a budget without a limit.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { remaining_time: None, is_exhausted: Cell::new(false) }
    }

    /// Creates a budget whose remaining time is what `remaining` returns at each call.
    pub fn with_remaining_time(remaining: impl Fn() -> Duration + 'a) -> Self {
        Self { remaining_time: Some(Box::new(remaining)), is_exhausted: Cell::new(false) }
    }

    /// Whether a search was skipped because it would have taken too long. Results of later searches are invalid.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }

    /// Whether `pattern` matches in `text`; also `false` when that takes too long.
    #[must_use]
    pub fn is_match(&self, pattern: &CompiledPattern, text: &str) -> bool {
        self.can_finish_search(pattern, text) && pattern.is_match(text)
    }

    /// Whether all of `text` can be searched in time, judged by searches of its beginning; if not, exhausts the budget.
    pub(super) fn can_finish_search(&self, pattern: &CompiledPattern, text: &str) -> bool {
        let Some(remaining) = self.remaining_time.as_ref().filter(|_| !self.is_exhausted()) else {
            return !self.is_exhausted();
        };
        let mut chunk_bytes = FIRST_CHUNK_BYTES;
        let mut remaining_before = remaining();
        while chunk_bytes < text.len() && !remaining_before.is_zero() {
            let next_chunk_bytes = chunk_bytes.saturating_mul(CHUNK_GROWTH).min(text.len());
            // The result is discarded: the part ends where the text does not.
            let _ = pattern.is_match(&text[..text.floor_char_boundary(chunk_bytes)]);
            let remaining_after = remaining();
            let elapsed = remaining_before.saturating_sub(remaining_after);
            if elapsed.mul_f64(next_chunk_bytes as f64 / chunk_bytes as f64) > remaining_after {
                remaining_before = Duration::ZERO;
            } else {
                (chunk_bytes, remaining_before) = (next_chunk_bytes, remaining_after);
            }
        }
        self.is_exhausted.set(remaining_before.is_zero());
        !remaining_before.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::HaystackKind;

    /// Returns a budget with these remaining seconds, one value per call, and the number of calls.
    fn budget_with_remaining_seconds(
        remaining: &'static [u64],
    ) -> (SearchBudget<'static>, std::rc::Rc<Cell<usize>>) {
        let calls = std::rc::Rc::new(Cell::new(0));
        let count = std::rc::Rc::clone(&calls);
        let budget = SearchBudget::with_remaining_time(move || {
            let call_index = count.get();
            count.set(call_index + 1);
            Duration::from_secs(remaining[call_index])
        });
        (budget, calls)
    }

    #[test]
    fn a_search_that_would_take_too_long_is_skipped() {
        let (text, regex) = ("a".repeat(100 * 1024), CompiledPattern::new("a", HaystackKind::Text).unwrap());
        // Parts of 4, 16 and 64 KiB, then the whole of 100 KiB.
        for (remaining, found) in [
            (&[99, 98, 93, 61][..], true),
            // The third part took 32 s, so the whole would take 50 s.
            (&[92, 91, 86, 54], true),
            (&[87, 86, 81, 49], false),
            (&[99, 98, 39], false),
            (&[99, 79], false),
            (&[0], false),
        ] {
            let (budget, calls) = budget_with_remaining_seconds(remaining);
            assert_eq!(
                (budget.is_match(&regex, &text), budget.is_exhausted()),
                (found, !found),
                "{remaining:?}"
            );
            assert_eq!(calls.get(), remaining.len(), "{remaining:?}");
            // After a skipped search all others are skipped too.
            assert!(found || !budget.is_match(&regex, "a"));
        }
        let (budget, _) = budget_with_remaining_seconds(&[1]);
        assert!(budget.is_match(&regex, &text[..4 * 1024]) && !budget.is_exhausted());
    }

    #[test]
    fn a_search_in_time_has_the_result_of_the_expression() {
        let text = format!("{}needle{}ende", "x ".repeat(200_000), "ü".repeat(100_000));
        let max = Duration::from_hours(1);
        for (expression, found) in [
            ("needle", true),
            ("ende$", true),
            ("^x x", true),
            ("ü$", false),
            (r"x\b \z", false),
            ("nadel", false),
        ] {
            for budget in [SearchBudget::with_remaining_time(move || max), SearchBudget::unlimited()] {
                assert_eq!(
                    budget.is_match(&CompiledPattern::new(expression, HaystackKind::Text).unwrap(), &text),
                    found,
                    "{expression}"
                );
                assert!(!budget.is_exhausted(), "{expression}");
            }
        }
        let late = SearchBudget::with_remaining_time(|| Duration::ZERO);
        assert!(
            !late.is_match(&CompiledPattern::new("x", HaystackKind::Text).unwrap(), "x")
                && late.is_exhausted()
        );
    }
}
