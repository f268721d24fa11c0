//! JSONPath (RFC 9535), with its leading `$.` added and its cost bounded.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::{AssertionError, MOST_BRACKETS, MOST_SWEEPS};

/// Compiles `property`.
pub(super) fn compile(property: &str) -> Result<JsonPath, AssertionError> {
    let full = match property.chars().next() {
        Some('$') => property.to_owned(),
        Some('[' | '.') => format!("${property}"),
        _ => format!("$.{property}"),
    };
    // Nested brackets are nested calls of the parser; each `..` multiplies what can be selected.
    if full.matches(['[', '(']).count() > MOST_BRACKETS || full.matches("..").count() > MOST_SWEEPS {
        return Err(AssertionError::TooComplex);
    }
    JsonPath::parse(&full).map_err(|error| AssertionError::Path(error.to_string()))
}

/// The body as JSON; `serde_json` refuses what is nested deeper than 128.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| format!("the body is no JSON: {error}"))
}
