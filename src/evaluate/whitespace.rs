//! White space in source text: which characters count, and the folding of runs.

use std::borrow::Cow;

/// Entities for a no-break space in HTML source.
const NO_BREAK_SPACE_ENTITIES: [&str; 4] = ["&nbsp;", "&#160;", "&#xa0;", "&#xA0;"];

/// A word or a run of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextToken<'a> {
    /// No white space.
    Text(&'a str),
    /// A run of white space without a line break.
    Space,
    /// A run of white space with a line break.
    LineBreak,
}

/// Folds every run of white space (including no-break spaces, as characters and as HTML entities) into one character: a
/// line break when the run has one, else a space.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    let mut normalized = String::new();
    let mut copied_until = 0;
    let mut position = 0;
    while let Some((start, end, has_line_break)) = next_whitespace_run(text, position) {
        let replacement = if has_line_break { "\n" } else { " " };
        if &text[start..end] != replacement {
            if normalized.is_empty() {
                normalized.reserve(text.len());
            }
            normalized.push_str(&text[copied_until..start]);
            normalized.push_str(replacement);
            copied_until = end;
        }
        position = end;
    }
    if copied_until == 0 {
        return Cow::Borrowed(text);
    }
    normalized.push_str(&text[copied_until..]);
    Cow::Owned(normalized)
}

/// Whether `text` has any white space.
pub(super) fn contains_whitespace(text: &str) -> bool {
    next_whitespace_run(text, 0).is_some()
}

/// Splits `text` at its runs of white space.
pub(super) fn tokenize(text: &str) -> Vec<TextToken<'_>> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some((start, end, has_line_break)) = next_whitespace_run(text, position) {
        if position < start {
            tokens.push(TextToken::Text(&text[position..start]));
        }
        tokens.push(if has_line_break { TextToken::LineBreak } else { TextToken::Space });
        position = end;
    }
    if position < text.len() {
        tokens.push(TextToken::Text(&text[position..]));
    }
    tokens
}

/// Returns the first run of white space at or after `from`: start, end, and whether it has a line break.
fn next_whitespace_run(text: &str, from: usize) -> Option<(usize, usize, bool)> {
    let bytes = text.as_bytes();
    let mut start = from;
    loop {
        // Letters, digits and most of ASCII cannot begin white space: skip them without decoding.
        start += bytes[start..].iter().position(|&byte| byte <= b' ' || byte == b'&' || byte >= 0xc2)?;
        match leading_whitespace(&text[start..]) {
            Some((length, is_line_break)) => {
                let mut end = start + length;
                let mut has_line_break = is_line_break;
                while let Some((length, is_line_break)) = leading_whitespace(&text[end..]) {
                    end += length;
                    has_line_break |= is_line_break;
                }
                return Some((start, end, has_line_break));
            }
            None => start += text[start..].chars().next().map_or(1, char::len_utf8),
        }
    }
}

/// Returns the length of the white space at the start of `text`, and whether it is a line break.
fn leading_whitespace(text: &str) -> Option<(usize, bool)> {
    if text.as_bytes().first()? == &b'&' {
        return NO_BREAK_SPACE_ENTITIES
            .iter()
            .find(|entity| text.starts_with(**entity))
            .map(|entity| (entity.len(), false));
    }
    let first = text.chars().next()?;
    let is_line_break = matches!(first, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    first.is_whitespace().then_some((first.len_utf8(), is_line_break))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_fold_into_one_space_or_one_line_break() {
        for (text, folded) in [
            ("", ""),
            ("word", "word"),
            ("a b", "a b"),
            ("a  b", "a b"),
            ("a\tb", "a b"),
            ("a\u{a0}b", "a b"),
            ("a&nbsp;&#160; &#xA0;b", "a b"),
            ("a&nbspb", "a&nbspb"),
            ("a\nb", "a\nb"),
            ("a \r\n  b", "a\nb"),
            ("a\u{2028}b", "a\nb"),
            ("\u{3000}é\u{202f}", " é "),
            ("é\u{301}ÿ€𝄞 ", "é\u{301}ÿ€𝄞 "),
        ] {
            assert_eq!(normalize(text), folded, "{text:?}");
        }
    }

    #[test]
    fn a_text_without_runs_is_not_copied() {
        assert!(matches!(normalize("one two\nthree"), Cow::Borrowed(_)));
    }

    #[test]
    fn tokens_distinguish_spaces_from_line_breaks() {
        assert_eq!(
            tokenize(" a\n\nb"),
            [TextToken::Space, TextToken::Text("a"), TextToken::LineBreak, TextToken::Text("b")]
        );
    }
}
