//! How long expressions may search a text. The time that they take grows with the text only, but a few take minutes
//! for a megabyte, and a search that has begun cannot be stopped. So the beginning of a long text is searched first,
//! then a longer one, and the whole of it only when what those took says that it will be over in time.

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use regex::Regex;

/// Bytes of the first part; shorter texts are searched at once. The worst expressions take some tenths of a second
/// for them.
const FIRST_CHUNK_BYTES: usize = 4 * 1024;
/// How much longer each part is than the one before: all parts together take a third of what the whole takes.
const CHUNK_GROWTH: usize = 4;

/// Says how long a search may still take.
pub struct SearchBudget<'a> {
    remaining: Option<Box<dyn Fn() -> Duration + 'a>>,
    exhausted: Cell<bool>,
}

impl fmt::Debug for SearchBudget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("over", &self.exhausted).finish_non_exhaustive()
    }
}

impl<'a> SearchBudget<'a> {
    /// That without an end.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { remaining: None, exhausted: Cell::new(false) }
    }

    /// That of somebody who has as long as `left` says, whenever it is asked.
    pub fn with_remaining(left: impl Fn() -> Duration + 'a) -> Self {
        Self { remaining: Some(Box::new(left)), exhausted: Cell::new(false) }
    }

    /// Whether a search was not made, since it would have taken too long. What others came to behind it is worth
    /// nothing.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// Whether `regex` matches in `text`; `false` as well when it takes too long.
    #[must_use]
    pub fn is_match(&self, regex: &Regex, text: &str) -> bool {
        self.allows(regex, text) && regex.is_match(text)
    }

    /// Whether there is time to search all of `text`.
    pub(super) fn allows(&self, regex: &Regex, text: &str) -> bool {
        let Some(left) = self.remaining.as_ref().filter(|_| !self.is_exhausted()) else {
            return !self.is_exhausted();
        };
        let mut bytes = FIRST_CHUNK_BYTES;
        let mut before = left();
        while bytes < text.len() && !before.is_zero() {
            let next = bytes.saturating_mul(CHUNK_GROWTH).min(text.len());
            // What it comes to says nothing of the whole: a part ends where the text does not.
            let _ = regex.is_match(&text[..text.floor_char_boundary(bytes)]);
            let after = left();
            let took = before.saturating_sub(after);
            if took.mul_f64(next as f64 / bytes as f64) > after {
                before = Duration::ZERO;
            } else {
                (bytes, before) = (next, after);
            }
        }
        self.exhausted.set(before.is_zero());
        !before.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A patience of somebody who has so many seconds left, each time that it is asked.
    fn seconds(left: &'static [u64]) -> (SearchBudget<'static>, std::rc::Rc<Cell<usize>>) {
        let asked = std::rc::Rc::new(Cell::new(0));
        let count = std::rc::Rc::clone(&asked);
        let budget = SearchBudget::with_remaining(move || {
            let at = count.get();
            count.set(at + 1);
            Duration::from_secs(left[at])
        });
        (budget, asked)
    }

    #[test]
    fn a_search_that_would_take_too_long_is_not_made() {
        let (text, regex) = ("a".repeat(100 * 1024), Regex::new("a").unwrap());
        // Parts of 4, 16 and 64 KiB, then the whole of 100 KiB.
        for (left, found) in [
            (&[99, 98, 93, 61][..], true),
            // The third part took 32 s, so that the whole would take 50 s.
            (&[92, 91, 86, 54], true),
            (&[87, 86, 81, 49], false),
            (&[99, 98, 39], false),
            (&[99, 79], false),
            (&[0], false),
        ] {
            let (budget, asked) = seconds(left);
            assert_eq!((budget.is_match(&regex, &text), budget.is_exhausted()), (found, !found), "{left:?}");
            assert_eq!(asked.get(), left.len(), "{left:?}");
            // Nothing is searched behind one that was not made.
            assert!(found || !budget.is_match(&regex, "a"));
        }
        let (budget, _) = seconds(&[1]);
        assert!(budget.is_match(&regex, &text[..4 * 1024]) && !budget.is_exhausted());
    }

    #[test]
    fn what_is_searched_in_time_comes_to_what_it_comes_to() {
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
            for budget in [SearchBudget::with_remaining(move || max), SearchBudget::unlimited()] {
                assert_eq!(budget.is_match(&Regex::new(expression).unwrap(), &text), found, "{expression}");
                assert!(!budget.is_exhausted(), "{expression}");
            }
        }
        let late = SearchBudget::with_remaining(|| Duration::ZERO);
        assert!(!late.is_match(&Regex::new("x").unwrap(), "x") && late.is_exhausted());
    }
}
