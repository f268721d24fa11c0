//! The keyword rule (behaviour.md 4, Keyword).
//!
//! A rule is compiled when a check needs it, into one regular expression of linear time.
//! White space is handled in two halves: `whitespace::normalize` rewrites the text that is searched, and the same
//! folding is applied to the literals of the pattern, on its syntax tree.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use super::pattern_cache::{PatternCache, PatternVariant};
use super::search_budget::SearchBudget;
use super::whitespace::{self, TextToken};
use crate::domain::{Failure, FailureKind, Phase};
use crate::syntax::pattern::{CompiledPattern, PatternError, check_source_size, syntax_error_reason};

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
    /// [`PatternError`] when the pattern is not a valid regular expression, or takes too much memory.
    pub fn compile(self) -> Result<CompiledKeyword, PatternError> {
        let pattern = self.compile_pattern()?;
        Ok(CompiledKeyword::new(self, pattern))
    }

    /// Like [`KeywordRule::compile`], with the patterns that `patterns` keeps.
    ///
    /// # Errors
    /// Like [`KeywordRule::compile`].
    pub fn compile_with(self, patterns: &PatternCache) -> Result<CompiledKeyword, PatternError> {
        let variant = PatternVariant::Keyword(self.flags());
        let pattern = patterns.get_or_compile(&self.pattern, variant, || self.compile_pattern())?;
        Ok(CompiledKeyword::new(self, pattern))
    }

    /// Returns what decides how the pattern is compiled, a bit each.
    fn flags(&self) -> u8 {
        let is_regex = self.match_type == KeywordSyntax::RegularExpression;
        [is_regex, self.match_case, self.whole_word, self.line_wrap, self.normalize_spaces]
            .into_iter()
            .fold(0, |flags, flag| flags << 1 | u8::from(flag))
    }

    fn compile_pattern(&self) -> Result<CompiledPattern, PatternError> {
        check_source_size(&self.pattern)?;
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
            .map_err(|error| PatternError::Syntax(syntax_error_reason(&error.to_string())))?;
        let syntax_tree = with_word_boundaries(self.whole_word, rewrite_whitespace(self, &syntax_tree));
        CompiledPattern::from_tree(&self.pattern, &syntax_tree)
    }
}

/// A compiled keyword rule.
#[derive(Clone, Debug)]
pub struct CompiledKeyword {
    rule: KeywordRule,
    pattern: CompiledPattern,
    /// Whether a text is normalized before it is searched; unlike `rule.normalize_spaces` only where it matters.
    must_normalize_text: bool,
}

impl CompiledKeyword {
    fn new(rule: KeywordRule, pattern: CompiledPattern) -> Self {
        // For a plain pattern without a space, folding the text makes no difference.
        let must_normalize_text = rule.normalize_spaces
            && (rule.match_type == KeywordSyntax::RegularExpression
                || whitespace::contains_whitespace(&rule.pattern));
        Self { rule, pattern, must_normalize_text }
    }

    /// Whether `text` contains the keyword. The time is linear in the length of the text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_within(text, &SearchBudget::unlimited())
    }

    fn matches_within(&self, text: &str, budget: &SearchBudget<'_>) -> bool {
        if self.must_normalize_text {
            budget.is_match(&self.pattern, &whitespace::normalize(text))
        } else {
            budget.is_match(&self.pattern, text)
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
