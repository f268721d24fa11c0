//! Paths into answers, JSONPath and XPath: which are taken, judged when they are saved and again when used.

use serde_json_path::JsonPath;

/// Opening brackets of a path: nested brackets are nested calls of its parser.
const MOST_BRACKETS: usize = 32;
/// Steps of a path that walk over the whole document: each multiplies what can be selected.
const MOST_SWEEPS: usize = 4;
/// Axes of an XPath that walk over much of a document.
const SWEEPS: &[&str] = &["//", "descendant", "following::", "preceding::"];

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It would take too much time or room.
    #[error("the path has too many brackets or `..` and `//` steps")]
    TooComplex,
    /// It is none.
    #[error("{0}")]
    Syntax(String),
}

/// Compiles a JSONPath of RFC 9535, its leading `$.` added where it is missing (behaviour.md 4).
///
/// # Errors
/// As [`PathError`].
pub fn json(property: &str) -> Result<JsonPath, PathError> {
    let full = match property.chars().next() {
        Some('$') => property.to_owned(),
        Some('[' | '.') => format!("${property}"),
        _ => format!("$.{property}"),
    };
    if full.matches(['[', '(']).count() > MOST_BRACKETS || full.matches("..").count() > MOST_SWEEPS {
        return Err(PathError::TooComplex);
    }
    JsonPath::parse(&full).map_err(|error| PathError::Syntax(error.to_string()))
}

/// Compiles an XPath 1.0. What it gives cannot leave its thread.
///
/// # Errors
/// As [`PathError`].
pub fn xml(property: &str) -> Result<sxd_xpath::XPath, PathError> {
    let sweeps: usize = SWEEPS.iter().map(|axis| property.matches(axis).count()).sum();
    if property.matches(['[', '(']).count() > MOST_BRACKETS || sweeps > MOST_SWEEPS {
        return Err(PathError::TooComplex);
    }
    match sxd_xpath::Factory::new().build(property) {
        Ok(Some(path)) => Ok(path),
        Ok(None) => Err(PathError::Syntax("it is empty".to_owned())),
        Err(error) => Err(PathError::Syntax(error.to_string())),
    }
}
