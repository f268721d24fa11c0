//! Sources and comparisons of assertions.

/// Sources of an assertion (interface.md 2.3).
pub const ASSERTION_SOURCES: &[&str] =
    &["Response", "JSON Response", "XML Response", "Timeout", "Status Code", "Header"];

/// Comparisons of an assertion (interface.md 2.3, fields.md 4).
pub const ASSERTION_COMPARISONS: &[&str] = &[
    "equals",
    "does not equal",
    "less than or equal",
    "contains",
    "does not contain",
    "count",
    "exists",
    "does not exist",
    "regular expression includes",
    "regular expression excludes",
    "less than",
    "greater than",
    "greater than or equal",
    MATCHES_SCHEMA,
];

/// The comparison by the JSON Schema in the field `schema` (fields.md 4).
pub const MATCHES_SCHEMA: &str = "matches schema";

/// Returns the comparisons for `source` (fields.md 4); `None` when it is not a source.
#[must_use]
pub fn comparisons_for(source: &str) -> Option<&'static [&'static str]> {
    Some(match source {
        "Response" => &[
            "equals",
            "does not equal",
            "contains",
            "does not contain",
            "regular expression includes",
            "regular expression excludes",
        ],
        "JSON Response" => ASSERTION_COMPARISONS,
        "XML Response" => ASSERTION_COMPARISONS.split_last().map_or(&[], |(_, others)| others),
        "Timeout" => &["less than or equal"],
        "Status Code" => &["equals", "does not equal"],
        "Header" => &[
            "equals",
            "does not equal",
            "contains",
            "does not contain",
            "exists",
            "does not exist",
            "regular expression includes",
            "regular expression excludes",
            "less than",
            "less than or equal",
            "greater than",
            "greater than or equal",
        ],
        _ => return None,
    })
}
