//! Parses JSONPath and XPath within limits: when they are saved, and again when they are used.

use serde_json_path::JsonPath;

use super::xpath::{self, Expr};

/// Maximum number of opening brackets of a path: nested brackets are nested calls of the parser.
const MAX_BRACKETS: usize = 32;
/// Maximum number of `..` in a JSONPath: each visits the whole document, and multiplies what is selected.
const MAX_DESCENDANT_SEGMENTS: usize = 4;

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It would take too much time or memory.
    #[error("the path has too many brackets or `..` steps")]
    TooComplex,
    /// Its syntax is invalid.
    #[error("{0}")]
    Syntax(String),
}

/// Compiles a JSONPath of RFC 9535; a missing leading `$.` is added (behaviour.md 4).
///
/// # Errors
/// As [`PathError`].
pub fn parse_json_path(text: &str) -> Result<JsonPath, PathError> {
    let full_path = match text.chars().next() {
        Some('$') => text.to_owned(),
        Some('[' | '.') => format!("${text}"),
        _ => format!("$.{text}"),
    };
    if full_path.matches(['[', '(']).count() > MAX_BRACKETS
        || full_path.matches("..").count() > MAX_DESCENDANT_SEGMENTS
    {
        return Err(PathError::TooComplex);
    }
    JsonPath::parse(&full_path).map_err(|error| PathError::Syntax(error.to_string()))
}

/// A compiled XPath 1.0.
#[derive(Clone, Debug, PartialEq)]
pub struct XPath {
    /// The expression.
    pub expr: Expr,
    /// The namespace prefixes in it.
    pub prefixes: Box<[Box<str>]>,
}

/// Compiles an XPath 1.0.
///
/// # Errors
/// As [`PathError`].
pub fn parse_xpath(text: &str) -> Result<XPath, PathError> {
    if text.matches(['[', '(']).count() > MAX_BRACKETS {
        return Err(PathError::TooComplex);
    }
    let (expr, prefixes) = xpath::parse(text).map_err(PathError::Syntax)?;
    Ok(XPath { expr, prefixes })
}
