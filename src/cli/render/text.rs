//! Texts of a target, made harmless for a terminal.

use std::borrow::Cow;

use crate::domain::truncate;

/// Characters of a URL that are shown.
const URL: usize = 90;

/// `text` of a target, so that it is nothing but text on a terminal: control characters are spelled out.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let spelled = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// A URL in the length of a line.
pub(super) fn shown(url: &str) -> String {
    truncate(&plain(url), URL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_cannot_paint_the_terminal_or_move_its_cursor() {
        assert_eq!(plain("a\x1b[31m\u{9b}2J\nb\u{7}"), "a\\u{1b}[31m\\u{9b}2J\\nb\\u{7}");
        assert!(matches!(plain("größer – 大"), Cow::Borrowed("größer – 大")));
    }
}
