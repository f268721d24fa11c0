//! Regular expressions of assertions.

use regex::{Regex, RegexBuilder};

use super::error::AssertionError;

/// Maximum size of a compiled expression in bytes: the same bound as when its monitor is saved.
const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;

pub(in crate::evaluate) fn compile_regex(value: &str) -> Result<Regex, AssertionError> {
    let regex =
        RegexBuilder::new(value).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build();
    // The last line of the report is the reason; the lines before it show the position.
    regex.map_err(|error| {
        let report = error.to_string();
        let reason = report.lines().last().unwrap_or_default();
        AssertionError::InvalidRegex(reason.trim_start_matches("error: ").to_owned())
    })
}
