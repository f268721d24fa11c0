//! The keyword rule (behaviour.md 4, Keyword).
//!
//! A rule is compiled once, when its monitor is loaded, into one regular expression of the linear-time `regex` crate.
//! White space is handled in two halves: `whitespace::normalize` rewrites the text that is searched, and the same
//! folding is applied to the literals of the pattern, on its syntax tree.

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use super::search_budget::SearchBudget;
use super::whitespace::{self, TextToken};
use crate::domain::{Failure, FailureKind, Phase};

/// Maximum size of a compiled expression in bytes; a pattern of 255 characters can ask for gigabytes. This is the
/// default of the `regex` crate, which also applies when the monitor is saved.
const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;

/// How the pattern is matched (interface.md 2.2 `keyword_match_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeywordSyntax {
    /// Literally.
    #[default]
    PlainText,
    /// The syntax of the `regex` crate; `.` also matches a line break.
    RegularExpression,
}

/// A keyword rule as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeywordRule {
    /// Text to find; never empty.
    pub pattern: String,
    /// How the pattern is matched.
    pub match_type: KeywordSyntax,
    /// Whether finding it is the error.
    pub invert: bool,
    /// Whether upper and lower case differ.
    pub match_case: bool,
    /// Whether a match that begins or ends with a word character must not adjoin another word character there.
    pub whole_word: bool,
    /// Whether a space in the pattern also matches a line break.
    pub line_wrap: bool,
    /// Whether a run of white space counts as one space, in the text and in the pattern.
    pub normalize_spaces: bool,
}

impl KeywordRule {
    /// Compiles the rule.
    ///
    /// # Errors
    /// [`KeywordError`] when the pattern is not a valid regular expression, or takes too much memory.
    pub fn compile(self) -> Result<CompiledKeyword, KeywordError> {
        let expression = match self.match_type {
            KeywordSyntax::PlainText if self.normalize_spaces => {
                regex_syntax::escape(&whitespace::normalize(&self.pattern))
            }
            KeywordSyntax::PlainText => regex_syntax::escape(&self.pattern),
            KeywordSyntax::RegularExpression => self.pattern.clone(),
        };
        let syntax_tree = ParserBuilder::new()
            .dot_matches_new_line(true)
            .case_insensitive(!self.match_case)
            .build()
            .parse(&expression)
            .map_err(|error| KeywordError::new(&error.to_string()))?;
        let syntax_tree = with_word_boundaries(self.whole_word, rewrite_whitespace(&self, &syntax_tree));
        let regex = RegexBuilder::new(&syntax_tree.to_string())
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| KeywordError::new(&error.to_string()))?;
        // For a plain pattern without a space, folding the text makes no difference.
        let normalizes_spaces = self.normalize_spaces
            && (self.match_type == KeywordSyntax::RegularExpression
                || whitespace::contains_whitespace(&self.pattern));
        Ok(CompiledKeyword { rule: self, regex, normalizes_spaces })
    }
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct KeywordError {
    message: String,
}

impl KeywordError {
    /// Keeps the last line of the `regex` crate's report, which is the reason; the lines before it show the position.
    fn new(report: &str) -> Self {
        let reason = report.lines().last().unwrap_or(report);
        Self { message: reason.trim_start_matches("error: ").to_owned() }
    }
}

/// A compiled keyword rule.
#[derive(Clone, Debug)]
pub struct CompiledKeyword {
    rule: KeywordRule,
    regex: Regex,
    normalizes_spaces: bool,
}

impl CompiledKeyword {
    /// Whether `text` contains the keyword. The time is linear in the length of the text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_within(text, &SearchBudget::unlimited())
    }

    fn matches_within(&self, text: &str, budget: &SearchBudget<'_>) -> bool {
        if self.normalizes_spaces {
            budget.is_match(&self.regex, &whitespace::normalize(text))
        } else {
            budget.is_match(&self.regex, text)
        }
    }

    /// Checks `text`: returns [`FailureKind::KeywordMissing`], or with invert [`FailureKind::ForbiddenKeywordFound`].
    #[must_use]
    pub fn evaluate(&self, text: &str) -> Option<Failure> {
        self.evaluate_within(text, &SearchBudget::unlimited())
    }

    /// Like `evaluate`, within `budget`. The result is invalid if the budget is exhausted afterwards.
    #[must_use]
    pub fn evaluate_within(&self, text: &str, budget: &SearchBudget<'_>) -> Option<Failure> {
        let kind = match (self.matches_within(text, budget), self.rule.invert) {
            (false, false) => FailureKind::KeywordMissing,
            (true, true) => FailureKind::ForbiddenKeywordFound,
            _ => return None,
        };
        let pattern_kind = match self.rule.match_type {
            KeywordSyntax::PlainText => "text",
            KeywordSyntax::RegularExpression => "expression",
        };
        let detail = format!("{pattern_kind} `{}` in {} bytes of source text", self.rule.pattern, text.len());
        Some(Failure::new(Phase::Validate, kind, detail))
    }
}

/// Wraps `tree` so that a match must not have a word character on both sides of an edge.
fn with_word_boundaries(whole_word: bool, tree: Hir) -> Hir {
    if !whole_word {
        return tree;
    }
    // Either the character outside is not a word character, or the edge is a word boundary anyway.
    let start = Hir::alternation(vec![Hir::look(Look::WordStartHalfUnicode), Hir::look(Look::WordUnicode)]);
    let end = Hir::alternation(vec![Hir::look(Look::WordEndHalfUnicode), Hir::look(Look::WordUnicode)]);
    Hir::concat(vec![start, tree, end])
}

/// Rewrites the white space in the literals of `tree` according to the rule.
fn rewrite_whitespace(rule: &KeywordRule, tree: &Hir) -> Hir {
    if !rule.normalize_spaces && !rule.line_wrap {
        return tree.clone();
    }
    match tree.kind() {
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => rewrite_literal_whitespace(rule, text),
            Err(_) => tree.clone(),
        },
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(rewrite_whitespace(rule, &repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => rewrite_whitespace(rule, &capture.sub),
        HirKind::Concat(parts) => {
            Hir::concat(parts.iter().map(|part| rewrite_whitespace(rule, part)).collect())
        }
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(|part| rewrite_whitespace(rule, part)).collect())
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => tree.clone(),
    }
}

fn rewrite_literal_whitespace(rule: &KeywordRule, text: &str) -> Hir {
    let mut parts = Vec::new();
    if rule.normalize_spaces {
        let normalized = whitespace::normalize(text);
        for token in whitespace::tokenize(&normalized) {
            parts.push(match token {
                TextToken::Text(text) => Hir::literal(text.as_bytes()),
                TextToken::Space | TextToken::LineBreak if rule.line_wrap => char_class(&[' ', '\n']),
                TextToken::Space => Hir::literal(*b" "),
                TextToken::LineBreak => Hir::literal(*b"\n"),
            });
        }
    } else {
        for (index, part) in text.split(' ').enumerate() {
            if index > 0 {
                parts.push(Hir::alternation(vec![
                    Hir::literal(*b"\r\n"),
                    char_class(&[' ', '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']),
                ]));
            }
            parts.push(Hir::literal(part.as_bytes()));
        }
    }
    Hir::concat(parts)
}

fn char_class(characters: &[char]) -> Hir {
    let ranges = characters.iter().map(|&c| ClassUnicodeRange::new(c, c));
    Hir::class(Class::Unicode(ClassUnicode::new(ranges)))
}

#[cfg(test)]
#[path = "keyword_tests.rs"]
mod tests;
