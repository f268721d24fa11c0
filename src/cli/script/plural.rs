//! Counts with their nouns.

/// Formats a count: `1 step`, `2 steps`.
pub(super) fn count_with_noun(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
