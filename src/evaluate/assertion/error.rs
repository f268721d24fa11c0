//! Why an assertion cannot be used.

/// Why an assertion cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssertionError {
    /// The source is none.
    #[error("`{0}` is no source of an assertion")]
    UnknownSource(String),
    /// The comparison is none, or none that goes with the source.
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
    /// The property is no JSONPath or XPath.
    #[error("the path cannot be used: {0}")]
    InvalidPath(String),
    /// The property would take too much time or room.
    #[error("the path has too many brackets or `..` steps")]
    TooComplex,
    /// The value is no regular expression, or a too large one.
    #[error("the regular expression cannot be used: {0}")]
    InvalidRegex(String),
    /// The value does not fit the comparison.
    #[error("the value `{0}` does not fit the comparison")]
    InvalidValue(String),
}
