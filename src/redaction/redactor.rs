//! Masks known secrets in texts.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::encoded_forms::{self, MIN_SECRET_BYTES};
use crate::sync::RwLock;
use crate::syntax::MASK;

/// Marks the end of a truncated text.
const ELLIPSIS: [u8; 3] = *b"\xe2\x80\xa6";
/// A text of at least this many bytes may have been truncated without an ellipsis; a shorter one is complete.
const MIN_TRUNCATED_TEXT_BYTES: usize = 100;

/// Masks secrets in text, in every form in which a URL, a form, JSON, XML or Base64 encodes them. Without secrets it
/// costs nothing.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Secrets>>);

struct Secrets {
    /// Every form of every secret.
    forms: Box<[String]>,
    /// Finds the forms; `None` when they are too many for it.
    automaton: Option<AhoCorasick>,
}

/// A redactor that is replaced when the settings are read again.
#[derive(Debug, Default)]
pub struct SharedRedactor(RwLock<Arc<Redactor>>);

impl SharedRedactor {
    /// Creates one whose first redactor is `redactor`.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self(RwLock::new(Arc::new(redactor)))
    }

    /// Returns the current redactor.
    #[must_use]
    pub fn current(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.read())
    }

    /// Uses the current redactor of `other` from now on.
    pub fn replace_by(&self, other: &Self) {
        *self.0.write() = other.current();
    }
}

/// Collects the secrets of a [`Redactor`].
#[derive(Default)]
pub struct SecretSet(Vec<String>);

impl SecretSet {
    /// Adds `secret`. One of fewer than four bytes is ignored, since it occurs by chance.
    pub fn add(&mut self, secret: &str) {
        encoded_forms::add_secret(&mut self.0, secret);
    }

    /// Adds `secret` of `user`, alone and as `user:secret`.
    pub fn add_login(&mut self, user: &str, secret: &str) {
        self.add(secret);
        encoded_forms::add_login(&mut self.0, user, secret);
    }

    /// Whether there is nothing to mask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the redactor of these secrets.
    #[must_use]
    pub fn into_redactor(self) -> Redactor {
        if self.is_empty() {
            return Redactor(None);
        }
        let forms = self.0.into_boxed_slice();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .dense_depth(1)
            .build(&forms)
            .ok();
        Redactor(Some(Arc::new(Secrets { forms, automaton })))
    }
}

impl Redactor {
    /// Creates a redactor of `secrets`.
    #[must_use]
    pub fn from_secrets<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut set = SecretSet::default();
        secrets.for_each(|secret| set.add(secret));
        set.into_redactor()
    }

    /// Whether there is nothing to mask.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Masks the secrets in `text`. Also masks the beginning of a secret that was truncated: at the end of a long text,
    /// before an ellipsis, or before the end of a quote.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let secret_ranges = self.find(text.as_bytes());
        if secret_ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut copied_until = 0;
        for Range { start, end } in secret_ranges {
            redacted.push_str(&text[copied_until..start]);
            redacted.push_str(MASK);
            copied_until = end;
        }
        redacted.push_str(&text[copied_until..]);
        Cow::Owned(redacted)
    }

    /// Masks the secrets in a file, whatever its type. `None` when there are none.
    #[must_use]
    pub fn redact_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let secret_ranges = self.find(bytes);
        if secret_ranges.is_empty() {
            return None;
        }
        let mut redacted = Vec::with_capacity(bytes.len());
        let mut copied_until = 0;
        for Range { start, end } in secret_ranges {
            redacted.extend_from_slice(&bytes[copied_until..start]);
            redacted.extend_from_slice(MASK.as_bytes());
            copied_until = end;
        }
        redacted.extend_from_slice(&bytes[copied_until..]);
        Some(redacted)
    }

    /// Returns where to put masks, in order. Secrets that overlap are masked as one.
    fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let Some(secrets) = &self.0 else { return Vec::new() };
        let mut secret_ranges = secrets.find(text);
        secrets.find_truncated(text, &mut secret_ranges);
        secret_ranges.sort_unstable_by_key(|range| range.start);
        secret_ranges.dedup_by(|next, range| {
            let overlap = next.start < range.end;
            if overlap {
                range.end = range.end.max(next.end);
            }
            overlap
        });
        secret_ranges
    }

    /// Masks the secrets in `text`.
    pub fn redact_in_place(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }
}

/// Shows the number of the forms of secrets, never the forms.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let form_count = self.0.as_ref().map_or(0, |secrets| secrets.forms.len());
        write!(f, "Redactor({form_count} texts)")
    }
}

impl Secrets {
    fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        if let Some(automaton) = &self.automaton {
            return automaton.find_overlapping_iter(text).map(|found| found.range()).collect();
        }
        let occurrences = |form: &str| {
            let starts = text.windows(form.len()).enumerate().filter(|(_, part)| *part == form.as_bytes());
            starts.map(|(start, part)| start..start + part.len()).collect::<Vec<_>>()
        };
        self.forms.iter().flat_map(|form| occurrences(form)).collect()
    }

    /// Adds the beginnings of secrets before each ellipsis in `text`, and at the end of a long one.
    fn find_truncated(&self, text: &[u8], secret_ranges: &mut Vec<Range<usize>>) {
        let mut search_from = 0;
        let mut find_before = |end: usize| {
            let before = &text[search_from..end];
            // Some texts have a space before the ellipsis.
            for before in [before, before.trim_ascii_end()] {
                let starts = self.forms.iter().filter_map(|form| truncated_secret_at_end(before, form));
                if let Some(start) = starts.min() {
                    secret_ranges.push(search_from + start..search_from + before.len());
                    break;
                }
            }
            search_from = end;
        };
        for (at, byte) in text.iter().enumerate() {
            if *byte == b'`' || *byte == ELLIPSIS[0] && text[at..].starts_with(&ELLIPSIS) {
                find_before(at);
            }
        }
        if text.len() >= MIN_TRUNCATED_TEXT_BYTES {
            find_before(text.len());
        }
    }
}

/// Returns the start of the longest proper prefix of `secret` at the end of `text`; `None` when it is too short to be
/// recognised.
fn truncated_secret_at_end(text: &[u8], secret: &str) -> Option<usize> {
    let secret = secret.as_bytes();
    let (secret_start, tail_start) =
        (secret.first_chunk::<MIN_SECRET_BYTES>()?, text.len().saturating_sub(secret.len() - 1));
    let tail = &text[tail_start..];
    let is_prefix_at =
        |&at: &usize| tail[at..].first_chunk() == Some(secret_start) && secret.starts_with(&tail[at..]);
    (0..tail.len().saturating_sub(MIN_SECRET_BYTES - 1)).find(is_prefix_at).map(|at| tail_start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_secrets_are_masked() {
        let redactor = Redactor::from_secrets(["correct horse", "staple"].into_iter());
        for (text, masked) in [
            ("it is `correct ho…`, twice correct…", "it is `********…`, twice ********…"),
            ("it is correct ho…, corr… and corre", "it is ********…, ********… and corre"),
            ("`correct ho` and correc …", "`********` and ******** …"),
            ("cor… correct", "cor… correct"),
            ("…corr…", "…********…"),
            ("é corr… é", "é ********… é"),
            ("a…", "a…"),
            ("", ""),
        ] {
            assert_eq!(redactor.redact(text), masked, "{text}");
        }
        let long = "x".repeat(MIN_TRUNCATED_TEXT_BYTES);
        assert_eq!(redactor.redact(&format!("{long} correct h")), format!("{long} ********"));
        assert_eq!(Redactor::default().redact("corr…"), "corr…");
    }

    #[test]
    fn overlapping_secrets_are_masked_completely() {
        for (secrets, text, masked) in [
            (vec!["abcd", "abcdef"], "x=abcdef&y=abcd", "x=********&y=********"),
            (vec!["abcd", "cdefg"], "-abcdefg-abcdabcd", "-********-****************"),
            (vec!["bcde", "abcdef"], "abcdef", "********"),
        ] {
            assert_eq!(Redactor::from_secrets(secrets.into_iter()).redact(text), masked, "{text}");
        }
    }

    #[test]
    fn a_redactor_without_secrets_is_empty() {
        assert!(Redactor::from_secrets(["", "abc"].into_iter()).is_empty());
        assert_eq!(size_of::<Redactor>(), size_of::<usize>());
    }

    #[test]
    fn debug_output_hides_the_secrets() {
        assert_eq!(
            format!("{:?}", Redactor::from_secrets(["ab-cd"].into_iter())).matches("ab-cd").count(),
            0
        );
    }
}
