//! Masks the values of names such as `password`: members of JSON, and pairs of forms and queries.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::syntax::MASK;
use crate::syntax::substring_set::SubstringSet;

/// Names of JSON members, and of form or query pairs, whose values are credentials.
static SENSITIVE_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // `author` is not a credential.
    let auth = r"authori[sz]ation|authentication|\bauth\b|[-_]auth|auth[-_]";
    let name = "passw|pwd|secret|token|api[-_]?key|session|cookie|jwt|bearer|credential";
    Regex::new(&format!("(?i){name}|{auth}")).ok()
});

/// Every name that [`SENSITIVE_NAME`] matches contains one of these.
const SENSITIVE_NAME_PARTS: [&str; 11] =
    ["passw", "pwd", "secret", "token", "key", "session", "cookie", "jwt", "bearer", "credential", "auth"];

/// A letter pair of each of [`SENSITIVE_NAME_PARTS`]. Searching for these pairs is faster than searching for names.
const PREFILTER_BIGRAMS: [&[u8; 2]; 8] = [b"ss", b"pw", b"cr", b"ok", b"ey", b"jw", b"be", b"au"];

/// [`SENSITIVE_NAME`] matches these case-insensitively as `s` and `k`.
const NON_ASCII_CASE_FOLDS: [char; 2] = ['\u{17f}', '\u{212a}'];

/// For each byte, a bit set of the [`PREFILTER_BIGRAMS`] that have it as letter `position`.
const fn bigram_letter_bits(position: usize) -> [u8; 256] {
    let (mut bits, mut index) = ([0; 256], 0);
    while index < PREFILTER_BIGRAMS.len() {
        let letter = PREFILTER_BIGRAMS[index][position];
        bits[letter as usize] |= 1 << index;
        bits[letter.to_ascii_uppercase() as usize] |= 1 << index;
        index += 1;
    }
    bits
}

fn is_prefilter_bigram(pair: &[u8]) -> bool {
    const FIRST: [u8; 256] = bigram_letter_bits(0);
    const SECOND: [u8; 256] = bigram_letter_bits(1);
    FIRST[usize::from(pair[0])] & SECOND[usize::from(pair[1])] != 0
}

/// Masks the values of names such as `password` in `text`, the beginning of a body or a URL: values of JSON members,
/// and of form or query pairs. A truncated text may end within a value.
#[must_use]
pub fn redact_named_values(text: &str) -> Cow<'_, str> {
    let found = find_named_values(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut copied_until = 0;
    for NamedValue { start, end, quote } in found {
        for part in [&text[copied_until..start], quote, MASK, quote] {
            redacted.push_str(part);
        }
        copied_until = end;
    }
    redacted.push_str(&text[copied_until..]);
    Cow::Owned(redacted)
}

/// Returns the values that [`redact_named_values`] masks, decoded.
pub fn named_values(text: &str) -> impl Iterator<Item = String> {
    find_named_values(text).into_iter().map(|NamedValue { start, end, quote }| {
        let value = &text[start..end];
        if quote.is_empty() {
            let pair = format!("={value}");
            return url::form_urlencoded::parse(pair.as_bytes()).map(|(_, value)| value).collect();
        }
        serde_json::from_str(value).unwrap_or_else(|_| value.trim_matches('"').to_owned())
    })
}

fn find_named_values(text: &str) -> Vec<NamedValue> {
    let mut search = NamedValueSearch { text, found: Vec::new() };
    if !text.is_ascii() && text.contains(NON_ASCII_CASE_FOLDS) {
        search.search_exhaustively();
    } else {
        search.search_prefiltered();
    }
    search.found
}

/// State of the search in one text.
struct NamedValueSearch<'t> {
    text: &'t str,
    found: Vec<NamedValue>,
}

impl NamedValueSearch<'_> {
    /// Tries every position where a member or a pair may start.
    fn search_exhaustively(&mut self) {
        // A pair may start at the beginning of the text; everything else starts with one of three characters.
        let mut next = (!self.text.is_empty()).then_some(0);
        while let Some(position) = next {
            let mut end = position + 1;
            if let Some(named_value) =
                parse_json_member(self.text, position).or_else(|| parse_form_pair(self.text, position))
            {
                end = named_value.end;
                self.found.push(named_value);
            }
            let rest = &self.text.as_bytes()[end..];
            next = rest.iter().position(|byte| matches!(byte, b'"' | b'&' | b'?')).map(|offset| end + offset);
        }
    }

    /// Like [`Self::search_exhaustively`], but faster: tries only the surroundings of [`PREFILTER_BIGRAMS`], which
    /// most texts rarely contain. Each possible start of a member or pair is tried once, so that every text takes a
    /// few passes at most.
    fn search_prefiltered(&mut self) {
        let bytes = self.text.as_bytes();
        let (mut next_search_at, mut searched_to) = (0, 0);
        let (mut member_at, mut pair_at) = (None, Some(0));
        while let Some(bigram_at) = bytes[next_search_at..].windows(2).position(is_prefilter_bigram) {
            let bigram_at = next_search_at + bigram_at;
            let last_position_of =
                |is_begin: fn(&u8) -> bool| bytes[searched_to..bigram_at].iter().rposition(is_begin);
            member_at = last_position_of(|byte| matches!(byte, b'"' | b'\\'))
                .map(|offset| searched_to + offset)
                .or(member_at);
            pair_at = last_position_of(|byte| matches!(byte, b'&' | b'?'))
                .map(|offset| searched_to + offset)
                .or(pair_at);
            (next_search_at, searched_to) = (bigram_at + 1, bigram_at);
            if let Some(named_value) = parse_first_named_value(self.text, member_at.take(), pair_at.take()) {
                (next_search_at, searched_to) = (named_value.end, named_value.end);
                self.found.push(named_value);
            }
        }
    }
}

/// A value with a sensitive name.
struct NamedValue {
    /// Start of the value.
    start: usize,
    /// End of the value.
    end: usize,
    /// Quote around the mask.
    quote: &'static str,
}

/// Returns the member at `member_at` or the pair at `pair_at`; with both, the one that starts first.
fn parse_first_named_value(
    text: &str,
    member_at: Option<usize>,
    pair_at: Option<usize>,
) -> Option<NamedValue> {
    let member = || parse_json_member(text, member_at?);
    let pair = || parse_form_pair(text, pair_at?);
    if member_at < pair_at { member().or_else(pair) } else { pair().or_else(member) }
}

/// Parses the JSON member that starts with the quote at `at`.
fn parse_json_member(text: &str, at: usize) -> Option<NamedValue> {
    let bytes = text.as_bytes();
    let rest = bytes.get(at + 1..).filter(|_| bytes[at] == b'"')?;
    let closing_quote = at + 1 + rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    let colon = skip_whitespace(text, closing_quote + 1);
    if bytes[closing_quote] != b'"'
        || bytes.get(colon) != Some(&b':')
        || !is_sensitive_name(&text[at + 1..closing_quote])
    {
        return None;
    }
    parse_json_value(text, colon + 1)
}

/// Parses the value of a member, after the colon: a string or a number.
fn parse_json_value(text: &str, from: usize) -> Option<NamedValue> {
    let bytes = text.as_bytes();
    let value_start = skip_whitespace(text, from);
    let end = match bytes.get(value_start)? {
        b'"' => json_string_end(text, value_start + 1),
        first => {
            let digits_start = value_start + usize::from(*first == b'-');
            bytes.get(digits_start).filter(|byte| byte.is_ascii_digit())?;
            let is_number = |byte: &u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
            bytes[digits_start..]
                .iter()
                .position(|byte| !is_number(byte))
                .map_or(bytes.len(), |length| digits_start + length)
        }
    };
    Some(NamedValue { start: value_start, end, quote: "\"" })
}

/// Returns the end of the string that started before `at`, including its closing quote if it has one.
fn json_string_end(text: &str, mut at: usize) -> usize {
    loop {
        match text.as_bytes().get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => match text[at + 1..].chars().next() {
                None | Some('\n') => return at,
                Some(escaped) => at += 1 + escaped.len_utf8(),
            },
            Some(_) => at += 1,
            None => return at,
        }
    }
}

/// Parses the pair of a form or query that starts at `at`, or right after it.
fn parse_form_pair(text: &str, at: usize) -> Option<NamedValue> {
    let start = match text.as_bytes()[at] {
        b'&' | b'?' => at + 1,
        _ if at == 0 => 0,
        _ => return None,
    };
    let is_end = |c: char| matches!(c, '=' | '&' | '?' | '"') || c.is_whitespace();
    let name_end = start + text[start..].find(is_end)?;
    if text.as_bytes()[name_end] != b'=' || !is_sensitive_name(&text[start..name_end]) {
        return None;
    }
    let value_start = name_end + 1;
    let is_end = |c: char| matches!(c, '&' | '"' | '#' | '`') || c.is_whitespace();
    let end = text[value_start..].find(is_end).map_or(text.len(), |end| value_start + end);
    Some(NamedValue { start: value_start, end, quote: "" })
}

fn skip_whitespace(text: &str, from: usize) -> usize {
    text[from..].find(|c: char| !c.is_whitespace()).map_or(text.len(), |spaces| from + spaces)
}

/// Whether the name of a member or a pair marks its value as a credential.
#[must_use]
pub fn is_sensitive_name(name: &str) -> bool {
    static WORDS: SubstringSet<11> = SubstringSet::new(SENSITIVE_NAME_PARTS);
    let may_fold = || !name.is_ascii() && name.contains(NON_ASCII_CASE_FOLDS);
    (WORDS.occurs_in(name.as_bytes()) || may_fold())
        && SENSITIVE_NAME.as_ref().is_some_and(|pattern| pattern.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_sensitive_names_are_masked() {
        for (text, expected) in [
            (
                r#"{"user": "me", "password": "s\"ecret", "n": 1}"#,
                r#"{"user": "me", "password": "********", "n": 1}"#,
            ),
            (r#"{"access_token":"abc"#, r#"{"access_token":"********""#),
            (r#"{"Api-Key" : 12.5e3}"#, r#"{"Api-Key" : "********"}"#),
            (r#"{"tokens": ["a"], "author": "Bob"}"#, r#"{"tokens": ["a"], "author": "Bob"}"#),
            (r#"{"auth":"Bearer x","x_auth":"y"}"#, r#"{"auth":"********","x_auth":"********"}"#),
            ("user=me&passwd=a%20b&x=1", "user=me&passwd=********&x=1"),
            ("http://a/b?sessionid=1&c=d#e", "http://a/b?sessionid=********&c=d#e"),
            ("http://a/token/x?c=d", "http://a/token/x?c=d"),
            ("nothing to hide", "nothing to hide"),
        ] {
            assert_eq!(redact_named_values(text), expected);
        }
    }

    #[test]
    fn values_of_sensitive_names_are_decoded() {
        let text = r#"{"password": "s\"cret", "pin_token": 12.5, "a": "b"}"#;
        assert_eq!(named_values(text).collect::<Vec<_>>(), ["s\"cret", "12.5"]);
        let text = "http://a.test/?token=a%20b+c&d=e&pwd=&secret=x#y";
        assert_eq!(named_values(text).collect::<Vec<_>>(), ["a b c", "", "x"]);
    }

    /// The same as [`redact_named_values`], as one regular expression, which is too slow to run on every body.
    fn redact_by_regex(text: &str) -> Cow<'_, str> {
        static MASKED_VALUES: LazyLock<Regex> = LazyLock::new(|| {
            let name = SENSITIVE_NAME.as_ref().unwrap().as_str().trim_start_matches("(?i)");
            let json =
                format!(r#"("[^"\\]*(?:{name})[^"\\]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|-?[0-9][0-9.eE+-]*)"#);
            let form = format!(r##"((?:^|[&?])[^=&?\s"]*(?:{name})[^=&?\s"]*=)[^&\s"#`]*"##);
            Regex::new(&format!("(?i){json}|{form}")).unwrap()
        });
        MASKED_VALUES.replace_all(text, |found: &regex::Captures<'_>| match (found.get(1), found.get(2)) {
            (Some(member), _) => format!("{}\"{MASK}\"", member.as_str()),
            (_, pair) => format!("{}{MASK}", pair.unwrap().as_str()),
        })
    }

    #[test]
    fn the_same_values_are_masked_as_by_the_regex() {
        const PARTS: &[&str] = &[
            "\"",
            "\"",
            "\"",
            "\"",
            "\\",
            "pass",
            "word",
            "PASSWD",
            "token",
            "To\u{212a}en",
            "pa\u{17f}\u{17f}wd",
            "api",
            "-",
            "_",
            "key",
            "auth",
            "or",
            "=",
            "=",
            "&",
            "?",
            ":",
            ":",
            " ",
            "12",
            "é",
            "{",
            ",",
            "x",
            "#",
            "cookie",
            "\n",
            "\u{a0}",
        ];
        let (mut random_state, mut masked_count) = (7_u64, 0);
        for _ in 0..50_000 {
            let mut text = String::new();
            for _ in 0..(random_state >> 60) + 2 {
                random_state = random_state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PARTS[(random_state >> 33) as usize % PARTS.len()]);
            }
            assert_eq!(redact_named_values(&text), redact_by_regex(&text), "{text}");
            masked_count += u32::from(redact_named_values(&text) != text);
        }
        assert!(masked_count > 1_000, "{masked_count}");
    }

    /// A search with quadratic run time would not finish here.
    #[test]
    fn long_texts_full_of_bigrams_take_linear_time() {
        for (part, masked) in [
            ("s", false),
            ("&ss", false),
            ("ss ", false),
            ("\\ss", false),
            ("\"ss", false),
            ("?ss\"&ok", false),
            ("&token=1", true),
        ] {
            let text = part.repeat((1 << 22) / part.len());
            assert_eq!(redact_named_values(&text) != text, masked, "{part}");
            let text = format!("\"{text}");
            assert_eq!(redact_named_values(&text) != text, masked, "a quote and {part}");
        }
    }

    #[test]
    fn each_sensitive_word_contains_a_prefilter_bigram() {
        for word in SENSITIVE_NAME_PARTS {
            assert!(word.as_bytes().windows(2).any(is_prefilter_bigram), "{word}");
        }
    }
}
