//! Regular expressions that users write. This is the only place that compiles them, so that every one of them is
//! bounded: a source of a few characters can ask for gigabytes when it is compiled.

use std::fmt;
use std::sync::Arc;

use regex_automata::Input;
use regex_automata::meta::{BuildError, Builder, Config, Regex};
use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

/// Maximum size of the source of a pattern, in bytes.
pub const MAX_SOURCE_BYTES: usize = 64 * 1024;
/// Maximum size of a compiled pattern, in bytes, for each direction of the search.
pub const MAX_COMPILED_BYTES: usize = 1024 * 1024;
/// Maximum size of the states that one search may cache, in bytes, for each direction.
const MAX_SEARCH_CACHE_BYTES: usize = 1024 * 1024;

/// What a pattern is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HaystackKind {
    /// Text: matches never split a character.
    Text,
    /// Any bytes: a pattern can match bytes that are not UTF-8.
    Bytes,
    /// Lines of any bytes: `^` and `$` match at the ends of lines, which are LF, CR or CR LF. `(?-m)` turns that off.
    Lines,
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The source is larger than [`MAX_SOURCE_BYTES`].
    #[error("its source has {0} bytes, more than the limit of {MAX_SOURCE_BYTES}")]
    SourceTooLarge(usize),
    /// The compiled pattern is larger than [`MAX_COMPILED_BYTES`].
    #[error(
        "compiled it takes more than the limit of {MAX_COMPILED_BYTES} bytes; use shorter repetitions or smaller \
         classes, such as `[0-9]` instead of `\\d`"
    )]
    CompiledTooLarge,
    /// The source is not a regular expression.
    #[error("{0}")]
    Syntax(String),
}

/// A compiled pattern. A clone shares the compiled pattern, but not the memory of searches, which is released with the
/// clone.
#[derive(Clone)]
pub struct CompiledPattern {
    source: Arc<str>,
    regex: Regex,
}

impl CompiledPattern {
    /// Compiles `source`, in the syntax of the `regex` crate.
    ///
    /// # Errors
    /// [`PatternError`] when `source` is invalid or too large.
    pub fn new(source: &str, haystack_kind: HaystackKind) -> Result<Self, PatternError> {
        check_source_size(source)?;
        let is_text = haystack_kind == HaystackKind::Text;
        let is_lines = haystack_kind == HaystackKind::Lines;
        let syntax = syntax::Config::new().utf8(is_text).multi_line(is_lines).crlf(is_lines);
        let built = Builder::new().configure(config(haystack_kind)).syntax(syntax).build(source);
        Self::from_build_result(source, built)
    }

    /// Compiles the syntax tree that `source` was rewritten to; it is matched against text.
    ///
    /// # Errors
    /// Like [`CompiledPattern::new`].
    pub fn from_tree(source: &str, tree: &Hir) -> Result<Self, PatternError> {
        check_source_size(source)?;
        Self::from_build_result(
            source,
            Builder::new().configure(config(HaystackKind::Text)).build_from_hir(tree),
        )
    }

    fn from_build_result(source: &str, built: Result<Regex, BuildError>) -> Result<Self, PatternError> {
        let regex = built.map_err(|error| match (error.syntax_error(), error.size_limit()) {
            (Some(error), _) => PatternError::Syntax(syntax_error_reason(&error.to_string())),
            (None, Some(_)) => PatternError::CompiledTooLarge,
            (None, None) => PatternError::Syntax(error.to_string()),
        })?;
        Ok(Self { source: source.into(), regex })
    }

    /// Returns its source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the memory that it takes, in bytes, without that of searches.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.regex.memory_usage() + self.source.len()
    }

    /// Whether it matches anywhere in `haystack`.
    #[must_use]
    pub fn is_match<'h>(&self, haystack: impl Into<Input<'h>>) -> bool {
        self.regex.is_match(haystack)
    }

    /// Returns the start of the first match.
    #[must_use]
    pub fn match_start(&self, haystack: &str) -> Option<usize> {
        self.regex.find(haystack).map(|found| found.start())
    }

    /// Returns the end of the first match.
    #[must_use]
    pub fn match_end(&self, haystack: &[u8]) -> Option<usize> {
        self.regex.find(haystack).map(|found| found.end())
    }

    /// Returns the text of the first group in the first match; of the whole match if the pattern has no groups.
    #[must_use]
    pub fn first_group<'h>(&self, haystack: &'h str) -> Option<&'h str> {
        let mut captures = self.regex.create_captures();
        self.regex.captures(haystack, &mut captures);
        let group = usize::from(captures.group_len() > 1);
        captures.get_group(group).map(|span| &haystack[span])
    }
}

impl CompiledPattern {
    /// Like [`CompiledPattern::first_group`], but returns the whole match when the first group is not part of it.
    #[must_use]
    pub fn first_group_or_match<'h>(&self, haystack: &'h str) -> Option<&'h str> {
        self.first_group(haystack).or_else(|| self.regex.find(haystack).map(|found| &haystack[found.range()]))
    }
}

impl fmt::Debug for CompiledPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CompiledPattern").field(&self.source).finish()
    }
}

/// Checks the size of the source of a pattern, without compiling it.
///
/// # Errors
/// [`PatternError::SourceTooLarge`].
pub const fn check_source_size(source: &str) -> Result<(), PatternError> {
    if source.len() > MAX_SOURCE_BYTES { Err(PatternError::SourceTooLarge(source.len())) } else { Ok(()) }
}

/// Returns the reason of a report of the `regex-syntax` crate: its last line. The lines before it draw the position.
#[must_use]
pub fn syntax_error_reason(report: &str) -> String {
    let reason = report.lines().last().unwrap_or(report).trim();
    reason.trim_start_matches("error: ").trim_end_matches('.').to_owned()
}

fn config(haystack_kind: HaystackKind) -> Config {
    Config::new()
        .utf8_empty(haystack_kind == HaystackKind::Text)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .onepass_size_limit(Some(MAX_COMPILED_BYTES / 4))
        .hybrid_cache_capacity(MAX_SEARCH_CACHE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bounded() {
        let error = |source: &str| CompiledPattern::new(source, HaystackKind::Text).unwrap_err();
        assert_eq!(
            error(&"a".repeat(MAX_SOURCE_BYTES + 1)),
            PatternError::SourceTooLarge(MAX_SOURCE_BYTES + 1)
        );
        assert_eq!(error(r"\w{1000}"), PatternError::CompiledTooLarge);
        assert_eq!(error("a{1000}{1000}"), PatternError::CompiledTooLarge);
        assert_eq!(error("a("), PatternError::Syntax("unclosed group".to_owned()));
        let largest = CompiledPattern::new(&"a".repeat(MAX_SOURCE_BYTES), HaystackKind::Text);
        assert!(largest.is_err_and(|error| error == PatternError::CompiledTooLarge));
        for ordinary in [r"^220[- ].*ESMTP", r"(?i)total:\s+(\d+)", r"\b\w+@\w+\.\w{2,}\b", "(?:a|b|c){100}"]
        {
            let compiled = CompiledPattern::new(ordinary, HaystackKind::Text).unwrap();
            assert!(
                compiled.memory_bytes() < MAX_COMPILED_BYTES / 2,
                "{ordinary}: {}",
                compiled.memory_bytes()
            );
        }
    }

    #[test]
    fn bytes_match_only_where_they_may() {
        for (pattern, matches) in
            [("^250 ok$", true), ("^ok", false), ("(?-m)^250", false), ("(?-m)^220-hi", true), ("hi$", true)]
        {
            let compiled = CompiledPattern::new(pattern, HaystackKind::Lines).unwrap();
            assert_eq!(compiled.is_match(&b"220-hi\r\n250 ok\r\n\xff"[..]), matches, "{pattern}");
        }
        let dot = CompiledPattern::new("(?s-u)^.$", HaystackKind::Bytes).unwrap();
        assert_eq!(dot.match_end(&[0xff]), Some(1));
        assert!(CompiledPattern::new("(?-u)\\xff", HaystackKind::Text).is_err());
    }

    #[test]
    fn the_first_group_is_the_whole_match_without_groups() {
        let group = |source: &str, text: &'static str| {
            CompiledPattern::new(source, HaystackKind::Text).unwrap().first_group(text)
        };
        assert_eq!(group("b.d", "abcde"), Some("bcd"));
        assert_eq!(group("b(.)d", "abcde"), Some("c"));
        assert_eq!(group("b(x)?", "abcde"), None);
        assert_eq!(group("x", "abcde"), None);
    }
}
