//! Makes text from a target safe to print on a terminal.

use std::borrow::Cow;

use crate::domain::truncate;

/// Most characters of a printed URL.
const MAX_URL_CHARS: usize = 90;

/// Escapes the control characters in `text`, which comes from a target, so that a terminal only prints it.
#[must_use]
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escape_char = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escape_char).collect())
}

/// Shortens a URL to fit a line.
pub(super) fn shorten_url(url: &str) -> String {
    truncate(&escape_controls(url), MAX_URL_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_controls("a\x1b[31m\u{9b}2J\nb\u{7}"), "a\\u{1b}[31m\\u{9b}2J\\nb\\u{7}");
        assert!(matches!(escape_controls("größer – 大"), Cow::Borrowed("größer – 大")));
    }
}
