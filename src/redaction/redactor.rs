//! Texts that let somebody in, taken out of what is kept of requests and answers.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::LazyLock;

use regex::Regex;

use crate::syntax::MASK;
use crate::syntax::escape::Escape;
use crate::syntax::word_set::WordSet;

/// Bytes of a text that is masked where it is found; a shorter one stands anywhere by chance.
const MIN_SECRET_BYTES: usize = 4;

/// What stands where a text was cut.
const ELLIPSIS: char = '…';
/// Bytes of the shortest text that is cut without one: shorter ones are whole.
const MIN_TRUNCATED_BYTES: usize = 1000;

/// Names of members, and of pairs of a form or query, whose values let somebody in.
static SENSITIVE_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // `author` is nobody's secret.
    let auth = r"authori[sz]ation|authentication|\bauth\b|[-_]auth|auth[-_]";
    let name = "passw|pwd|secret|token|api[-_]?key|session|cookie|jwt|bearer|credential";
    Regex::new(&format!("(?i){name}|{auth}")).ok()
});

/// One of these stands in each name that [`SENSITIVE_NAME`] finds.
const SENSITIVE_WORDS: [&str; 11] =
    ["passw", "pwd", "secret", "token", "key", "session", "cookie", "jwt", "bearer", "credential", "auth"];

/// Two letters of each of [`SENSITIVE_WORDS`]: to look for them takes less time than to look for names.
const PREFILTER_BIGRAMS: [&[u8; 2]; 8] = [b"ss", b"pw", b"cr", b"ok", b"ey", b"jw", b"be", b"au"];

/// To [`SENSITIVE_NAME`] an `s` and a `k`.
const NON_ASCII_CASE_FOLDS: [char; 2] = ['\u{17f}', '\u{212a}'];

/// Of each byte, which of [`PREFILTER_BIGRAMS`] it is the first or the second letter of.
const fn bigram_letter_bits(place: usize) -> [u8; 256] {
    let (mut bits, mut clue) = ([0; 256], 0);
    while clue < PREFILTER_BIGRAMS.len() {
        let letter = PREFILTER_BIGRAMS[clue][place];
        bits[letter as usize] |= 1 << clue;
        bits[letter.to_ascii_uppercase() as usize] |= 1 << clue;
        clue += 1;
    }
    bits
}

fn is_prefilter_bigram(two: &[u8]) -> bool {
    const FIRST: [u8; 256] = bigram_letter_bits(0);
    const SECOND: [u8; 256] = bigram_letter_bits(1);
    FIRST[usize::from(two[0])] & SECOND[usize::from(two[1])] != 0
}

/// Texts that are taken out, in every way in which a URL, a form, JSON or XML writes them.
#[derive(Default)]
pub struct Redactor(Vec<String>);

impl Redactor {
    /// Those of `secrets`.
    #[must_use]
    pub fn from_secrets<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut written = Vec::new();
        for secret in secrets.filter(|secret| secret.len() >= MIN_SECRET_BYTES) {
            for escape in [Escape::Raw, Escape::Component, Escape::Form, Escape::JsonString, Escape::Xml] {
                if let Ok(form) = escape.apply(secret)
                    && !written.iter().any(|known: &String| *known == form)
                {
                    written.push(form.into_owned());
                }
            }
        }
        // One that begins like another must not leave the end of that behind.
        written.sort_by_key(|written| Reverse(written.len()));
        Self(written)
    }

    /// `text` without them. One that was cut, at the end of a long text or before an ellipsis, is taken out as far as
    /// it stands there.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let ends_cut = text.len() >= MIN_TRUNCATED_BYTES;
        let may_be_cut = !self.0.is_empty() && (ends_cut || text.contains(ELLIPSIS));
        let mut text = Cow::Borrowed(text);
        for written in &self.0 {
            if text.contains(written.as_str()) {
                text = Cow::Owned(text.replace(written.as_str(), MASK));
            }
            if may_be_cut && let Some(hidden) = redact_truncated(&text, written, ends_cut) {
                text = Cow::Owned(hidden);
            }
        }
        text
    }
}

/// `text` without the beginnings of `written` before each ellipsis, and with `ends_cut` at its end; `None` when there
/// are none.
fn redact_truncated(text: &str, written: &str, ends_cut: bool) -> Option<String> {
    let mut hidden = String::new();
    let (mut kept, mut from) = (0, 0);
    let ends = text.match_indices(ELLIPSIS).map(|(at, _)| at).chain(ends_cut.then_some(text.len()));
    for end in ends {
        if let Some(begin) = truncated_secret_at_end(&text[from..end], written) {
            hidden.push_str(&text[kept..from + begin]);
            hidden.push_str(MASK);
            kept = end;
        }
        from = end;
    }
    if kept == 0 {
        return None;
    }
    hidden.push_str(&text[kept..]);
    Some(hidden)
}

/// Where the longest beginning of `written`, but not all of it, stands at the end of `text`; `None` when that is too
/// short to tell anything.
fn truncated_secret_at_end(text: &str, written: &str) -> Option<usize> {
    let (text, written) = (text.as_bytes(), written.as_bytes());
    let (first, from) =
        (written.first_chunk::<MIN_SECRET_BYTES>()?, text.len().saturating_sub(written.len() - 1));
    let tail = &text[from..];
    let begins = |&at: &usize| tail[at..].first_chunk() == Some(first) && written.starts_with(&tail[at..]);
    (0..tail.len().saturating_sub(MIN_SECRET_BYTES - 1)).find(begins).map(|at| from + at)
}

/// `text`, the beginning of a body or a URL, without the values that stand behind names such as `password`: of
/// members of JSON, and of pairs of a form or query. A cut text may end within a value.
#[must_use]
pub fn redact_named_values(text: &str) -> Cow<'_, str> {
    let mut kept = NamedValueRedactor { text, redacted: String::new(), copied_to: 0 };
    if !text.is_ascii() && text.contains(NON_ASCII_CASE_FOLDS) {
        kept.search_all();
    } else {
        kept.search_prefiltered();
    }
    if kept.redacted.is_empty() {
        return Cow::Borrowed(text);
    }
    kept.redacted.push_str(&text[kept.copied_to..]);
    Cow::Owned(kept.redacted)
}

/// A text on its way to one without values.
struct NamedValueRedactor<'t> {
    text: &'t str,
    /// The beginning of it, with masks.
    redacted: String,
    /// Where the rest begins.
    copied_to: usize,
}

impl NamedValueRedactor<'_> {
    /// Looks wherever a member or a pair may begin.
    fn search_all(&mut self) {
        // A pair may stand at the very beginning; all else begins with one of three characters.
        let mut next = (!self.text.is_empty()).then_some(0);
        while let Some(at) = next {
            let mut behind = at + 1;
            if let Some(named) = json_member(self.text, at).or_else(|| form_pair(self.text, at)) {
                behind = named.end;
                self.redact_value(&named);
            }
            let rest = &self.text.as_bytes()[behind..];
            next =
                rest.iter().position(|byte| matches!(byte, b'"' | b'&' | b'?')).map(|begins| behind + begins);
        }
    }

    /// The same, quicker: looks around each of [`PREFILTER_BIGRAMS`], of which most texts have few. Each place where a member or a
    /// pair may begin is tried once, so that no text takes more than a few passes.
    fn search_prefiltered(&mut self) {
        let bytes = self.text.as_bytes();
        let (mut at, mut seen) = (0, 0);
        let (mut member_at, mut pair_at) = (None, Some(0));
        while let Some(clue) = bytes[at..].windows(2).position(is_prefilter_bigram) {
            let clue = at + clue;
            let last = |is_begin: fn(&u8) -> bool| bytes[seen..clue].iter().rposition(is_begin);
            member_at = last(|byte| matches!(byte, b'"' | b'\\')).map(|begins| seen + begins).or(member_at);
            pair_at = last(|byte| matches!(byte, b'&' | b'?')).map(|begins| seen + begins).or(pair_at);
            (at, seen) = (clue + 1, clue);
            if let Some(named) = first_named_value(self.text, member_at.take(), pair_at.take()) {
                (at, seen) = (named.end, named.end);
                self.redact_value(&named);
            }
        }
    }

    fn redact_value(&mut self, named: &NamedValue) {
        self.redacted.reserve(self.text.len());
        for part in [&self.text[self.copied_to..named.value], named.quote, MASK, named.quote] {
            self.redacted.push_str(part);
        }
        self.copied_to = named.end;
    }
}

/// A value behind a telling name.
struct NamedValue {
    /// Where it begins.
    value: usize,
    /// Where it ends.
    end: usize,
    /// What stands around its mask.
    quote: &'static str,
}

/// The member that begins at one place or the pair that begins at another, the first of them where both do.
fn first_named_value(text: &str, member_at: Option<usize>, pair_at: Option<usize>) -> Option<NamedValue> {
    let member = || json_member(text, member_at?);
    let pair = || form_pair(text, pair_at?);
    if member_at < pair_at { member().or_else(pair) } else { pair().or_else(member) }
}

/// The member of JSON that begins with the quote at `at`.
fn json_member(text: &str, at: usize) -> Option<NamedValue> {
    let bytes = text.as_bytes();
    let rest = bytes.get(at + 1..).filter(|_| bytes[at] == b'"')?;
    let quote = at + 1 + rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    let colon = skip_whitespace(text, quote + 1);
    if bytes[quote] != b'"' || bytes.get(colon) != Some(&b':') || !is_sensitive_name(&text[at + 1..quote]) {
        return None;
    }
    json_value(text, colon + 1)
}

/// The value of a member, behind the colon: a string or a number.
fn json_value(text: &str, from: usize) -> Option<NamedValue> {
    let bytes = text.as_bytes();
    let value = skip_whitespace(text, from);
    let end = match bytes.get(value)? {
        b'"' => string_end(text, value + 1),
        first => {
            let digits = value + usize::from(*first == b'-');
            bytes.get(digits).filter(|byte| byte.is_ascii_digit())?;
            let is_number = |byte: &u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
            bytes[digits..].iter().position(|byte| !is_number(byte)).map_or(bytes.len(), |more| digits + more)
        }
    };
    Some(NamedValue { value, end, quote: "\"" })
}

/// The end of the string that began before `at`, with its quote where it has one.
fn string_end(text: &str, mut at: usize) -> usize {
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

/// The pair of a form or query that begins at `at`, or behind it.
fn form_pair(text: &str, at: usize) -> Option<NamedValue> {
    let start = match text.as_bytes()[at] {
        b'&' | b'?' => at + 1,
        _ if at == 0 => 0,
        _ => return None,
    };
    let is_end = |c: char| matches!(c, '=' | '&' | '?' | '"') || c.is_whitespace();
    let name = start + text[start..].find(is_end)?;
    if text.as_bytes()[name] != b'=' || !is_sensitive_name(&text[start..name]) {
        return None;
    }
    let value = name + 1;
    let is_end = |c: char| matches!(c, '&' | '"' | '#') || c.is_whitespace();
    let end = text[value..].find(is_end).map_or(text.len(), |end| value + end);
    Some(NamedValue { value, end, quote: "" })
}

fn skip_whitespace(text: &str, from: usize) -> usize {
    text[from..].find(|c: char| !c.is_whitespace()).map_or(text.len(), |spaces| from + spaces)
}

/// Whether this name of a member or a pair says that its value lets somebody in.
fn is_sensitive_name(name: &str) -> bool {
    static WORDS: WordSet<11> = WordSet::new(SENSITIVE_WORDS);
    let is_odd = || !name.is_ascii() && name.contains(NON_ASCII_CASE_FOLDS);
    (WORDS.matches(name.as_bytes()) || is_odd())
        && SENSITIVE_NAME.as_ref().is_some_and(|named| named.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_behind_telling_names_are_masked() {
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
    fn values_that_were_cut_are_masked_as_far_as_they_stand_there() {
        let redactor = Redactor::from_secrets(["correct horse", "staple"].into_iter());
        for (text, masked) in [
            ("it is `correct ho…`, twice correct…", "it is `********…`, twice ********…"),
            ("it is correct ho…, corr… and corre", "it is ********…, ********… and corre"),
            ("cor… correct", "cor… correct"),
            ("…corr…", "…********…"),
            ("é corr… é", "é ********… é"),
            ("a…", "a…"),
            ("", ""),
        ] {
            assert_eq!(redactor.redact(text), masked, "{text}");
        }
        let long = "x".repeat(MIN_TRUNCATED_BYTES);
        assert_eq!(redactor.redact(&format!("{long} correct h")), format!("{long} ********"));
        assert_eq!(Redactor::default().redact("corr…"), "corr…");
    }

    /// What [`redact_named_values`] does, as one expression: too dear to be asked of every body.
    fn expressed(text: &str) -> Cow<'_, str> {
        static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
            let name = SENSITIVE_NAME.as_ref().unwrap().as_str().trim_start_matches("(?i)");
            let json =
                format!(r#"("[^"\\]*(?:{name})[^"\\]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|-?[0-9][0-9.eE+-]*)"#);
            let form = format!(r##"((?:^|[&?])[^=&?\s"]*(?:{name})[^=&?\s"]*=)[^&\s"#]*"##);
            Regex::new(&format!("(?i){json}|{form}")).unwrap()
        });
        WHOLE.replace_all(text, |found: &regex::Captures<'_>| match (found.get(1), found.get(2)) {
            (Some(member), _) => format!("{}\"{MASK}\"", member.as_str()),
            (_, pair) => format!("{}{MASK}", pair.unwrap().as_str()),
        })
    }

    #[test]
    fn the_same_is_masked_as_by_the_expression() {
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
        let (mut state, mut masked) = (7_u64, 0);
        for _ in 0..50_000 {
            let mut text = String::new();
            for _ in 0..(state >> 60) + 2 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PARTS[(state >> 33) as usize % PARTS.len()]);
            }
            assert_eq!(redact_named_values(&text), expressed(&text), "{text}");
            masked += u32::from(redact_named_values(&text) != text);
        }
        assert!(masked > 1_000, "{masked}");
    }

    /// One that took time by the square of a text would not end here.
    #[test]
    fn long_texts_full_of_clues_are_gone_through_a_few_times_only() {
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
    fn each_hint_has_a_clue() {
        for hint in SENSITIVE_WORDS {
            assert!(hint.as_bytes().windows(2).any(is_prefilter_bigram), "{hint}");
        }
    }

    #[test]
    fn the_longer_one_of_two_secrets_is_masked_whole() {
        let redactor = Redactor::from_secrets(["abcd", "abcdef"].into_iter());
        assert_eq!(redactor.redact("x=abcdef&y=abcd"), "x=********&y=********");
    }
}
