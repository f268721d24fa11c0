//! Settings for the keyword of a page.

use serde::Deserialize;

use crate::evaluate::keyword::{KeywordRule, KeywordSyntax};

/// The keyword that must be in the page, and how it is matched.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct KeywordSettings<'a> {
    /// The keyword; empty for none.
    pub keyword_string: &'a str,
    /// How the keyword is matched.
    pub keyword_match_type: KeywordMatchType,
    /// Whether finding it is an error.
    pub keyword_match_invert: bool,
    /// Whether upper and lower case differ.
    pub keyword_match_case: bool,
    /// Whether only whole words are found.
    pub keyword_match_whole_word: bool,
    /// Whether a space in it also matches a line break.
    pub keyword_allow_line_wrap: bool,
    /// Whether a run of white space counts as one space.
    pub keyword_normalize_spaces: bool,
}

/// How a keyword is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum KeywordMatchType {
    /// Literally.
    #[serde(rename = "Plain Text")]
    PlainText,
    /// As a regular expression.
    #[serde(rename = "Regular Expression")]
    RegularExpression,
}

impl KeywordSettings<'_> {
    /// Returns the rule; `None` when `keyword_string` is empty.
    #[must_use]
    pub fn rule(&self) -> Option<KeywordRule> {
        (!self.keyword_string.is_empty()).then(|| KeywordRule {
            pattern: self.keyword_string.to_owned(),
            match_type: match self.keyword_match_type {
                KeywordMatchType::PlainText => KeywordSyntax::PlainText,
                KeywordMatchType::RegularExpression => KeywordSyntax::RegularExpression,
            },
            invert: self.keyword_match_invert,
            match_case: self.keyword_match_case,
            whole_word: self.keyword_match_whole_word,
            line_wrap: self.keyword_allow_line_wrap,
            normalize_spaces: self.keyword_normalize_spaces,
        })
    }
}
