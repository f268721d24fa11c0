//! Names of series: a metric with its labels, as one text that serves as a key.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::scanner::{self, MAX_LABELS, ScanError, Scanner, UnknownEscape};

/// Maximum length of the name of a metric, in characters.
pub const MAX_METRIC_NAME_CHARS: usize = 200;
/// Maximum size of the text of a series, in bytes.
pub const MAX_SERIES_BYTES: usize = 500;

/// The name of a series: that of its metric, and its labels in the order of their names. Its text, by `Display`, is
/// `disk_used_percent{mount="/"}`: equal series have equal texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesName {
    metric: String,
    labels: Vec<(String, String)>,
}

/// Why a text is not the name of a series.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct SeriesNameError {
    /// Position in the text, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl SeriesNameError {
    pub(super) fn new(text: &str, error: ScanError) -> Self {
        let before = text.get(..error.offset).unwrap_or(text);
        Self { column: before.chars().count() + 1, message: error.message }
    }
}

impl SeriesName {
    /// Parses `metric{label="value",…}`, with the labels in any order.
    ///
    /// # Errors
    /// Fails when `text` is no such name, or longer than [`MAX_SERIES_BYTES`].
    pub fn parse(text: &str) -> Result<Self, SeriesNameError> {
        check_size(text).map_err(|error| SeriesNameError::new(text, error))?;
        let mut scanner = Scanner::new(text);
        let parsed = parse_series(&mut scanner)
            .and_then(|name| if scanner.is_at_end() { Ok(name) } else { Err(scanner.unexpected("the end")) });
        parsed.map_err(|error| SeriesNameError::new(text, error))
    }

    /// Returns the name of the series of `metric` with `labels`.
    ///
    /// # Errors
    /// As [`Self::parse`] of its text.
    pub fn new<N: AsRef<str>, V: AsRef<str>>(
        metric: &str,
        labels: &[(N, V)],
    ) -> Result<Self, SeriesNameError> {
        let labels = labels.iter().map(|(name, value)| (name.as_ref().to_owned(), value.as_ref().to_owned()));
        let name = Self { metric: metric.to_owned(), labels: labels.collect() };
        // Names with other characters do not come back as they were.
        Self::parse(&name.to_string())
    }

    /// Returns the name of its metric.
    #[must_use]
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// Returns its labels in the order of their names.
    #[must_use]
    pub fn labels(&self) -> &[(String, String)] {
        &self.labels
    }

    /// Returns the value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for SeriesName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        scanner::write_labels(f, &self.labels)
    }
}

impl FromStr for SeriesName {
    type Err = SeriesNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// Refuses a text that is too long to be the name of a series.
pub(super) fn check_size(text: &str) -> Result<(), ScanError> {
    if text.len() <= MAX_SERIES_BYTES {
        return Ok(());
    }
    let message = format!("it has {} bytes, more than the limit of {MAX_SERIES_BYTES}", text.len());
    Err(ScanError { offset: 0, message })
}

/// Reads a metric with its labels, which are sorted.
pub(super) fn parse_series(scanner: &mut Scanner<'_>) -> Result<SeriesName, ScanError> {
    let start = scanner.offset();
    let metric = scanner.metric_name()?;
    if metric.len() > MAX_METRIC_NAME_CHARS {
        let message = format!(
            "the name has {} characters, more than the limit of {MAX_METRIC_NAME_CHARS}",
            metric.len()
        );
        return Err(ScanError { offset: start, message });
    }
    scanner.skip_blanks();
    let mut labels = Vec::new();
    scanner.labels(&mut labels, MAX_LABELS, UnknownEscape::Refused)?;
    scanner.skip_blanks();
    let mut labels: Vec<_> =
        labels.into_iter().map(|(name, value)| (name.to_owned(), Cow::into_owned(value))).collect();
    labels.sort();
    let name = SeriesName { metric: metric.to_owned(), labels };
    // The canonical text escapes line feeds, which the text need not have done.
    check_size(&name.to_string())?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_sorted_and_the_text_comes_back() {
        let name =
            SeriesName::parse(r#"disk_used_percent { mount = "/", device="/dev/sd\"a\\\n" , }"#).unwrap();
        let text = name.to_string();
        assert_eq!(text, r#"disk_used_percent{device="/dev/sd\"a\\\n",mount="/"}"#);
        assert_eq!(SeriesName::parse(&text), Ok(name.clone()));
        assert_eq!(name.label("device"), Some("/dev/sd\"a\\\n"));
        assert_eq!(name.label("fstype"), None);
        assert_eq!(SeriesName::parse("load1{}").unwrap().to_string(), "load1");
        let built = SeriesName::new("disk_used_percent", &[("mount", "/"), ("device", "/dev/sd\"a\\\n")]);
        assert_eq!(built, Ok(name));
    }

    #[test]
    fn errors_say_the_column() {
        let long_name = "a".repeat(MAX_METRIC_NAME_CHARS + 1);
        let long_text = format!("a{{b=\"{}\"}}", "é".repeat(MAX_SERIES_BYTES / 2));
        for (text, expected) in [
            ("", "column 1: expected the name of a metric, but it ends"),
            ("1a", "column 1: expected the name of a metric, not `1`"),
            ("a b", "column 3: expected the end, not `b`"),
            ("a{b}", "column 4: expected `=`, not `}`"),
            ("a{b=c}", "column 5: expected `\"`, not `c`"),
            ("a{b=\"é\" c=\"\"}", "column 9: expected `,` or `}`, not `c`"),
            ("a{b=\"c}", "column 5: the value has no closing quote"),
            ("a{b=\"c\\", "column 5: the value has no closing quote"),
            (r#"a{b="\d"}"#, "column 7: expected `\\`, `\"` or `n` after a backslash, not `d`"),
            (r#"a{b="c",b="d"}"#, "column 9: the label `b` occurs twice"),
            (r#"a{b:c="d"}"#, "column 4: expected `=`, not `:`"),
            (&long_name, "column 1: the name has 201 characters, more than the limit of 200"),
            (&long_text, "column 1: it has 507 bytes, more than the limit of 500"),
        ] {
            assert_eq!(SeriesName::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
        assert!(SeriesName::new("a{b=\"c\"}", &[("d", "e")]).is_err());
        assert!(SeriesName::new("a", &[("b", "c"), ("b", "d")]).is_err());
    }

    #[test]
    fn the_canonical_text_is_bounded_too() {
        // A line feed takes one byte here, and two in the canonical text.
        let text = format!("a{{b=\"{}\"}}", "\n".repeat(400));
        assert!(SeriesName::parse(&text).unwrap_err().to_string().contains("more than the limit of 500"));
    }
}
