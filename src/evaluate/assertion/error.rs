//! Errors of assertions.

use crate::syntax::json_schema::JsonSchemaError;
use crate::syntax::pattern::PatternError;

/// Why an assertion cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssertionError {
    /// The source does not exist.
    #[error("`{0}` is not a source of assertions")]
    UnknownSource(String),
    /// The comparison is unknown, or not supported by this source.
    #[error("the comparison `{comparison}` does not go with source `{source_name}`")]
    UnsupportedComparison {
        /// The source.
        source_name: String,
        /// The comparison.
        comparison: String,
    },
    /// The source needs a property.
    #[error("an assertion on `{0}` needs a property")]
    MissingProperty(String),
    /// The property is not a valid JSONPath or XPath.
    #[error("the path cannot be used: {0}")]
    InvalidPath(String),
    /// The property would take too much time or memory.
    #[error("the path has too many brackets or `..` steps")]
    TooComplex,
    /// The value is not a valid regular expression, or too large.
    #[error("the regular expression cannot be used: {0}")]
    InvalidRegex(#[from] PatternError),
    /// The schema is invalid, refers to something outside, or has no bounds.
    #[error("the schema cannot be used: {0}")]
    InvalidSchema(#[from] JsonSchemaError),
    /// The value does not suit the comparison.
    #[error("the value `{0}` does not fit the comparison")]
    InvalidValue(String),
}
