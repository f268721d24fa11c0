//! Counts with their nouns.

/// Formats a count: `1 step`, `2 steps`.
pub(in crate::cli) fn count_with_noun(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
