//! The keyword of a page.

use serde::Deserialize;

use crate::evaluate::keyword::{KeywordMatching, KeywordRule};

/// What has to be in the page, and how it is read.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct KeywordSettings<'a> {
    /// What has to be in the page; empty is nothing.
    pub keyword_string: &'a str,
    /// How it is read.
    pub keyword_match_type: KeywordMatchType,
    /// Whether finding it is the error.
    pub keyword_match_invert: bool,
    /// Whether upper and lower case differ.
    pub keyword_match_case: bool,
    /// Whether only whole words are found.
    pub keyword_match_whole_word: bool,
    /// Whether a space in it also fits a line break.
    pub keyword_allow_line_wrap: bool,
    /// Whether a run of white space counts as one space.
    pub keyword_normalize_spaces: bool,
}

/// How a keyword is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum KeywordMatchType {
    /// As it stands.
    #[serde(rename = "Plain Text")]
    PlainText,
    /// As a regular expression.
    #[serde(rename = "Regular Expression")]
    RegularExpression,
}

impl KeywordSettings<'_> {
    /// The rule; `None` when `keyword_string` is empty.
    #[must_use]
    pub fn rule(&self) -> Option<KeywordRule> {
        (!self.keyword_string.is_empty()).then(|| KeywordRule {
            pattern: self.keyword_string.to_owned(),
            matching: match self.keyword_match_type {
                KeywordMatchType::PlainText => KeywordMatching::PlainText,
                KeywordMatchType::RegularExpression => KeywordMatching::RegularExpression,
            },
            invert: self.keyword_match_invert,
            match_case: self.keyword_match_case,
            whole_word: self.keyword_match_whole_word,
            line_wrap: self.keyword_allow_line_wrap,
            normalize_spaces: self.keyword_normalize_spaces,
        })
    }
}
