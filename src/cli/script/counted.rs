//! Counts with their nouns.

/// `1 step`, `2 steps`.
pub(super) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
