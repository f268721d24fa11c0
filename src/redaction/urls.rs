//! Masks logins and values of queries in the URLs of a text.

use std::borrow::Cow;

use super::named_values::redact_named_values;
use crate::syntax::MASK;

/// Masks logins in URLs, and the values of names such as `password` in URLs, forms and JSON.
#[must_use]
pub fn redact_credentials(text: &str) -> Cow<'_, str> {
    match redact_named_values(text) {
        Cow::Borrowed(text) => redact_urls(text, false),
        Cow::Owned(redacted) => Cow::Owned(match redact_urls(&redacted, false) {
            Cow::Borrowed(_) => redacted,
            Cow::Owned(redacted) => redacted,
        }),
    }
}

/// Masks logins and all values of queries in the URLs of `text`, for callers who may not see them.
#[must_use]
pub fn redact_query_values(text: &str) -> Cow<'_, str> {
    redact_urls(text, true)
}

/// Masks logins, and with `with_queries` the values of queries.
fn redact_urls(text: &str, with_queries: bool) -> Cow<'_, str> {
    let mut redacted = String::new();
    let mut copied_until = 0;
    let mut mask = |start: usize, end: usize| {
        if start < end && &text[start..end] != MASK {
            redacted.push_str(&text[copied_until..start]);
            redacted.push_str(MASK);
            copied_until = end;
        }
    };
    let mut search_from = 0;
    while let Some(found) = text[search_from..].find("://") {
        let authority_start = search_from + found + "://".len();
        let url_end = find_from(text, authority_start, is_url_end);
        let authority_end =
            find_from(&text[..url_end], authority_start, |c| matches!(c, '/' | '\\' | '?' | '#'));
        search_from = authority_end;
        if let Some(at_sign) = text[authority_start..authority_end].rfind('@') {
            mask(authority_start, authority_start + at_sign);
        }
        if with_queries {
            let query_start = find_from(&text[..url_end], authority_end, |c| c == '?');
            let query_end = find_from(&text[..url_end], query_start, |c| c == '#');
            let mut pair_start = query_start + 1;
            while pair_start < query_end {
                let pair_end = find_from(&text[..query_end], pair_start, |c| matches!(c, '&' | ';'));
                // Without a name, the pair is a value.
                let name_end = text[pair_start..pair_end].find('=').map_or(0, |at| at + 1);
                mask(pair_start + name_end, pair_end);
                pair_start = pair_end + 1;
            }
            search_from = url_end;
        }
    }
    if copied_until == 0 {
        return Cow::Borrowed(text);
    }
    redacted.push_str(&text[copied_until..]);
    Cow::Owned(redacted)
}

/// Returns the position of the first character from `from` on that `is_end` holds for, or the end.
fn find_from(text: &str, from: usize, is_end: impl Fn(char) -> bool) -> usize {
    text[from..].find(is_end).map_or(text.len(), |length| from + length)
}

fn is_url_end(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '`' | '"' | '<' | '>' | '…')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_and_named_values_are_masked() {
        for (text, expected) in [
            ("see `http://me:pw@a.test/x?y=1`", "see `http://********@a.test/x?y=1`"),
            ("http://tok@a.test?token=b&c=d", "http://********@a.test?token=********&c=d"),
            ("http://a.test/@b?c=d@e http://f@g", "http://a.test/@b?c=d@e http://********@g"),
            ("user=me&password=x", "user=me&password=********"),
            ("http://a.test/", "http://a.test/"),
            ("://", "://"),
        ] {
            assert_eq!(redact_credentials(text), expected);
        }
    }

    #[test]
    fn all_values_of_queries_are_masked() {
        for (text, expected) in [
            ("http://a.test/x?y=1&z&=2&w=#v", "http://a.test/x?y=********&********&=********&w=#v"),
            (
                "from `https://a:b@c?d=e`, `http://c?d=e…",
                "from `https://********@c?d=********`, `http://c?d=********…",
            ),
            ("is it? a=b", "is it? a=b"),
            ("http://a.test/x?y=********", "http://a.test/x?y=********"),
        ] {
            assert_eq!(redact_query_values(text), expected);
        }
    }
}
