//! How long expressions may search a text. The time that they take grows with the text only, but a few take minutes
//! for a megabyte, and a search that has begun cannot be stopped. So the beginning of a long text is searched first,
//! then a longer one, and the whole of it only when what those took says that it will be over in time.

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use regex::Regex;

/// Bytes of the first part; shorter texts are searched at once.
const FIRST: usize = 32 * 1024;
/// How much longer each part is than the one before: all parts together take a third of what the whole takes.
const GROWTH: usize = 4;

/// Says how long a search may still take.
pub struct Patience<'a> {
    left: Option<Box<dyn Fn() -> Duration + 'a>>,
    over: Cell<bool>,
}

impl fmt::Debug for Patience<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("over", &self.over).finish_non_exhaustive()
    }
}

impl<'a> Patience<'a> {
    /// That without an end.
    #[must_use]
    pub fn endless() -> Self {
        Self { left: None, over: Cell::new(false) }
    }

    /// That of somebody who has as long as `left` says, whenever it is asked.
    pub fn of(left: impl Fn() -> Duration + 'a) -> Self {
        Self { left: Some(Box::new(left)), over: Cell::new(false) }
    }

    /// Whether a search was not made, since it would have taken too long. What others came to behind it is worth
    /// nothing.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Whether `regex` matches in `text`; `false` as well when it takes too long.
    pub(super) fn finds(&self, regex: &Regex, text: &str) -> bool {
        self.lasts(regex, text) && regex.is_match(text)
    }

    /// Whether there is time to search all of `text`.
    pub(super) fn lasts(&self, regex: &Regex, text: &str) -> bool {
        let Some(left) = self.left.as_ref().filter(|_| !self.is_over()) else { return !self.is_over() };
        let mut bytes = FIRST;
        let mut before = left();
        while bytes < text.len() && !before.is_zero() {
            let next = bytes.saturating_mul(GROWTH).min(text.len());
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
        self.over.set(before.is_zero());
        !before.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Takes milliseconds for a kilobyte.
    const SLOW: &str = r"(\w{1,90}\s){1,90}#";

    #[test]
    fn a_search_that_would_take_too_long_is_not_made() {
        let text = "word and wörd ".repeat(100_000);
        let (slow, began, most) = (Regex::new(SLOW).unwrap(), Instant::now(), Duration::from_secs(2));
        let patience = Patience::of(move || most.saturating_sub(began.elapsed()));
        assert!(!patience.finds(&slow, &text));
        assert!(patience.is_over());
        // A part may take what is left when it is begun, and no part is begun that would take more.
        assert!(began.elapsed() < 3 * most, "{:?}", began.elapsed());
        // Nothing else is searched behind it.
        assert!(!patience.finds(&Regex::new("word").unwrap(), &text));
    }

    #[test]
    fn what_is_searched_in_time_comes_to_what_it_comes_to() {
        let text = format!("{}needle{}ende", "x ".repeat(200_000), "ü".repeat(100_000));
        let most = Duration::from_secs(3600);
        for (expression, found) in [
            ("needle", true),
            ("ende$", true),
            ("^x x", true),
            ("ü$", false),
            (r"x\b \z", false),
            ("nadel", false),
        ] {
            for patience in [Patience::of(move || most), Patience::endless()] {
                assert_eq!(patience.finds(&Regex::new(expression).unwrap(), &text), found, "{expression}");
                assert!(!patience.is_over(), "{expression}");
            }
        }
        let late = Patience::of(|| Duration::ZERO);
        assert!(!late.finds(&Regex::new("x").unwrap(), "x") && late.is_over());
    }
}
