//! Masks logins and values of queries in the URLs of a text.

use std::borrow::Cow;

use super::named_values::{is_sensitive_name, redact_named_values};
use crate::syntax::MASK;

/// Which values of queries are masked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MaskedQueryValues {
    None,
    /// Those whose names mark them as credentials.
    Credentials,
    All,
}

/// Masks logins in URLs, and the values of names such as `password` in URLs, forms and JSON.
#[must_use]
pub fn redact_credentials(text: &str) -> Cow<'_, str> {
    match redact_named_values(text) {
        Cow::Borrowed(text) => redact_urls(text, MaskedQueryValues::None),
        Cow::Owned(redacted) => Cow::Owned(match redact_urls(&redacted, MaskedQueryValues::None) {
            Cow::Borrowed(_) => redacted,
            Cow::Owned(redacted) => redacted,
        }),
    }
}

/// Masks logins and credentials in the URLs of `text`, a text for people.
#[must_use]
pub fn redact_url_credentials(text: &str) -> Cow<'_, str> {
    redact_urls(text, MaskedQueryValues::Credentials)
}

/// Masks logins and all values of queries in the URLs of `text`, for callers who may not see them.
#[must_use]
pub fn redact_query_values(text: &str) -> Cow<'_, str> {
    redact_urls(text, MaskedQueryValues::All)
}

fn redact_urls(text: &str, masked_query_values: MaskedQueryValues) -> Cow<'_, str> {
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
        let authority_end =
            find_from(text, authority_start, |c| is_url_end(c) || matches!(c, '/' | '\\' | '?' | '#'));
        search_from = authority_end;
        if let Some(at_sign) = text[authority_start..authority_end].rfind('@') {
            mask(authority_start, authority_start + at_sign);
        }
        if masked_query_values == MaskedQueryValues::None {
            continue;
        }
        // Searched for once for each part of the text, so that this takes linear time.
        let url_end = url_end(text, authority_end);
        search_from = url_end;
        let query_start = find_from(&text[..url_end], authority_end, |c| c == '?');
        let query_end = find_from(&text[..url_end], query_start, |c| c == '#');
        let mut pair_start = query_start + 1;
        while pair_start < query_end {
            let pair_end = find_from(&text[..query_end], pair_start, |c| matches!(c, '&' | ';'));
            let pair = &text[pair_start..pair_end];
            // Without a name, the pair is a value.
            let name_end = pair.find('=').map_or(0, |at| at + 1);
            // `&amp;` is a separator.
            let is_masked = match masked_query_values {
                MaskedQueryValues::All => pair != "amp",
                _ => name_end > 0 && is_sensitive_name(&pair[..name_end - 1]),
            };
            if is_masked {
                mask(pair_start + name_end, pair_end);
            }
            pair_start = pair_end + 1;
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

/// Returns where the URL that has a part at `from` ends, in plain text, JSON or HTML.
fn url_end(text: &str, from: usize) -> usize {
    let is_entity =
        |at: usize| ["&quot;", "&#39;", "&lt;", "&gt;"].iter().any(|end| text[at..].starts_with(end));
    // In JSON, a backslash stands before a quote or for a control character.
    let is_escape = |at: usize| {
        let escaped = text.as_bytes().get(at + 1);
        escaped.is_some_and(|byte| b"\"nrtu".contains(byte))
    };
    let mut ends =
        text[from..].char_indices().map(|(offset, c)| (from + offset, c)).filter(|&(at, c)| match c {
            '&' => is_entity(at),
            '\\' => is_escape(at),
            c => is_url_end(c),
        });
    ends.next().map_or(text.len(), |(at, _)| at)
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
    fn credentials_in_texts_for_people_are_masked_in_urls_only() {
        for (text, expected) in [
            ("`http://a:b@c/?token=d&x=e`", "`http://********@c/?token=********&x=e`"),
            ("AUTH=PLAIN", "AUTH=PLAIN"),
        ] {
            assert_eq!(redact_url_credentials(text), expected);
        }
    }

    #[test]
    fn texts_full_of_urls_take_linear_time() {
        for part in ["://", "://a", "://a@", "://?a=b", "://&quot"] {
            let text = part.repeat((1 << 20) / part.len());
            let _ = (redact_credentials(&text), redact_query_values(&text), redact_url_credentials(&text));
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
            ("&quot;http://a?x=1&amp;y=2&quot;, z", "&quot;http://a?x=********&amp;y=********&quot;, z"),
            (r#"{"a":"http://a?x=1\nb\"c","d":"e"}"#, r#"{"a":"http://a?x=********\nb\"c","d":"e"}"#),
            ("is it? a=b", "is it? a=b"),
            ("http://a.test/x?y=********", "http://a.test/x?y=********"),
        ] {
            assert_eq!(redact_query_values(text), expected);
        }
    }
}
