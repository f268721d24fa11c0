//! Paths into answers, JSONPath and XPath: which are taken, judged when they are saved and again when used.

use serde_json_path::JsonPath;

use super::xpath::{self, Expr};

/// Opening brackets of a path: nested brackets are nested calls of its parser.
const MAX_BRACKETS: usize = 32;
/// Steps of a JSONPath that walk over the whole document: each multiplies what can be selected.
const MAX_DESCENDANT_STEPS: usize = 4;

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It would take too much time or room.
    #[error("the path has too many brackets or `..` steps")]
    TooComplex,
    /// It is none.
    #[error("{0}")]
    Syntax(String),
}

/// Compiles a JSONPath of RFC 9535, its leading `$.` added where it is missing (behaviour.md 4).
///
/// # Errors
/// As [`PathError`].
pub fn parse_json_path(property: &str) -> Result<JsonPath, PathError> {
    let full = match property.chars().next() {
        Some('$') => property.to_owned(),
        Some('[' | '.') => format!("${property}"),
        _ => format!("$.{property}"),
    };
    if full.matches(['[', '(']).count() > MAX_BRACKETS || full.matches("..").count() > MAX_DESCENDANT_STEPS {
        return Err(PathError::TooComplex);
    }
    JsonPath::parse(&full).map_err(|error| PathError::Syntax(error.to_string()))
}

/// An XPath 1.0, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct XPath {
    /// What it is.
    pub expr: Expr,
    /// The namespace prefixes that it names.
    pub prefixes: Box<[Box<str>]>,
}

/// Compiles an XPath 1.0.
///
/// # Errors
/// As [`PathError`].
pub fn parse_xpath(property: &str) -> Result<XPath, PathError> {
    if property.matches(['[', '(']).count() > MAX_BRACKETS {
        return Err(PathError::TooComplex);
    }
    let (expr, prefixes) = xpath::parse(property).map_err(PathError::Syntax)?;
    Ok(XPath { expr, prefixes })
}
