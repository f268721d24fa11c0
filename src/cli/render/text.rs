//! Texts of a target, made harmless for a terminal.

use std::borrow::Cow;

use crate::domain::truncate;

/// Characters of a URL that are shown.
const MAX_URL_CHARS: usize = 90;

/// `text` of a target, so that it is nothing but text on a terminal: control characters are spelled out.
#[must_use]
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let spelled = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// A URL in the length of a line.
pub(super) fn shortened_url(url: &str) -> String {
    truncate(&escape_controls(url), MAX_URL_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_cannot_paint_the_terminal_or_move_its_cursor() {
        assert_eq!(escape_controls("a\x1b[31m\u{9b}2J\nb\u{7}"), "a\\u{1b}[31m\\u{9b}2J\\nb\\u{7}");
        assert!(matches!(escape_controls("größer – 大"), Cow::Borrowed("größer – 大")));
    }
}
