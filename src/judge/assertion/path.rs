//! JSON of a body, and the errors of its paths.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::AssertionError;
use crate::model::path::{self, PathError};

/// Compiles `property`.
pub(super) fn compile(property: &str) -> Result<JsonPath, AssertionError> {
    path::json(property).map_err(AssertionError::from)
}

impl From<PathError> for AssertionError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::TooComplex => Self::TooComplex,
            PathError::Syntax(message) => Self::Path(message),
        }
    }
}

/// The body as JSON; `serde_json` refuses what is nested deeper than 128.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| format!("the body is no JSON: {error}"))
}
