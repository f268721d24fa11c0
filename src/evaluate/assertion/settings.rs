//! What an assertion says, as its monitor has it.

use serde::Deserialize;

/// What has to hold for a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct AssertionSettings {
    /// What it looks at.
    #[serde(default)]
    pub source: String,
    /// JSONPath, XPath or name of the header; empty where the source needs none.
    #[serde(default)]
    pub property: String,
    /// How it compares.
    #[serde(default)]
    pub comparison: String,
    /// What it compares with.
    #[serde(default = "default_value")]
    pub value: String,
}

fn default_value() -> String {
    "1".to_owned()
}
