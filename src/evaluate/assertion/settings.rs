//! The settings of an assertion.

use serde::Deserialize;

/// The settings of an assertion on a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct AssertionSettings {
    /// Part of the response that it reads.
    #[serde(default)]
    pub source: String,
    /// JSONPath, XPath or name of the header; empty where the source needs none.
    #[serde(default)]
    pub property: String,
    /// Comparison.
    #[serde(default)]
    pub comparison: String,
    /// Value to compare with.
    #[serde(default = "default_value")]
    pub value: String,
    /// JSON Schema, with the comparison `matches schema`.
    #[serde(default)]
    pub schema: Option<String>,
}

fn default_value() -> String {
    "1".to_owned()
}
