//! Pages of metrics in the text format of Prometheus, version 0.0.4, and in what `OpenMetrics` 1.0 shares with it.
//!
//! Comments (`# HELP`, `# TYPE`, `# UNIT`, `# EOF`) are skipped, and so are timestamps and exemplars.

use std::borrow::Cow;

use super::scanner::{MAX_LABELS, ScanError, Scanner, UnknownEscape};
use crate::syntax::validation_error::truncate_value;

/// How much a page may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpositionLimits {
    /// Bytes of the page.
    pub max_bytes: usize,
    /// Samples of the page.
    pub max_samples: usize,
    /// Labels of a sample.
    pub max_labels: usize,
    /// Bytes of a line.
    pub max_line_bytes: usize,
}

impl Default for ExpositionLimits {
    fn default() -> Self {
        Self {
            max_bytes: 4 * 1024 * 1024,
            max_samples: 50_000,
            max_labels: MAX_LABELS,
            max_line_bytes: 64 * 1024,
        }
    }
}

/// Why a page is not one of metrics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpositionError {
    /// The page is too large.
    #[error("the page has {bytes} bytes, more than the limit of {max_bytes}")]
    PageTooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// A line cannot be read.
    #[error("line {line}: {message}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong: one sentence without a full stop.
        message: String,
    },
}

/// A sample, borrowed from the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRef<'p, 'l> {
    /// Name of the metric.
    pub metric: &'p str,
    /// Labels in the order of the page; no name occurs twice.
    pub labels: &'l [(&'p str, Cow<'p, str>)],
    /// Value, which may be infinite or not a number.
    pub value: f64,
    /// Number of its line, from 1.
    pub line: usize,
}

impl SampleRef<'_, '_> {
    /// Returns the value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| *label == name).map(|(_, value)| &**value)
    }
}

/// A sample of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSample {
    /// Name of the metric.
    pub metric: String,
    /// Labels in the order of the page; no name occurs twice.
    pub labels: Vec<(String, String)>,
    /// Value, which may be infinite or not a number.
    pub value: f64,
}

/// Parses a page, and returns its samples in order. A series may occur more than once.
///
/// # Errors
/// Fails when a line is no sample, or the page exceeds `limits`.
pub fn parse_exposition(
    page: &[u8],
    limits: &ExpositionLimits,
) -> Result<Vec<MetricSample>, ExpositionError> {
    let mut samples = Vec::new();
    visit_exposition(page, limits, |sample| {
        let labels = sample.labels.iter().map(|(name, value)| ((*name).to_owned(), value.to_string()));
        samples.push(MetricSample {
            metric: sample.metric.to_owned(),
            labels: labels.collect(),
            value: sample.value,
        });
    })?;
    Ok(samples)
}

/// Calls `visit` with each sample of a page, in order, and returns their number. Only values of labels with escapes are
/// copied.
///
/// # Errors
/// As [`parse_exposition`]; samples before the wrong line were visited.
pub fn visit_exposition<'p>(
    page: &'p [u8],
    limits: &ExpositionLimits,
    mut visit: impl FnMut(&SampleRef<'p, '_>),
) -> Result<usize, ExpositionError> {
    if page.len() > limits.max_bytes {
        return Err(ExpositionError::PageTooLarge { bytes: page.len(), max_bytes: limits.max_bytes });
    }
    let (mut labels, mut sample_count) = (Vec::new(), 0);
    for (line, content) in (1..).zip(page.split(|byte| *byte == b'\n')) {
        labels.clear();
        let sample = read_line(content, limits, &mut labels)
            .map_err(|message| ExpositionError::Line { line, message })?;
        let Some((metric, value)) = sample else { continue };
        sample_count += 1;
        if sample_count > limits.max_samples {
            let message = format!("the page has more than {} samples", limits.max_samples);
            return Err(ExpositionError::Line { line, message });
        }
        visit(&SampleRef { metric, labels: &labels, value, line });
    }
    Ok(sample_count)
}

/// Reads a line: its metric and value, with the labels put into `labels`; `None` for a comment or an empty line.
fn read_line<'p>(
    line: &'p [u8],
    limits: &ExpositionLimits,
    labels: &mut Vec<(&'p str, Cow<'p, str>)>,
) -> Result<Option<(&'p str, f64)>, String> {
    if line.len() > limits.max_line_bytes {
        return Err(format!("it has {} bytes, more than the limit of {}", line.len(), limits.max_line_bytes));
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut scanner = Scanner::new(text);
    scanner.skip_blanks();
    if scanner.is_at_end() || scanner.rest().starts_with('#') {
        return Ok(None);
    }
    read_sample(&mut scanner, limits, labels).map(Some).map_err(|error| error.message)
}

fn read_sample<'p>(
    scanner: &mut Scanner<'p>,
    limits: &ExpositionLimits,
    labels: &mut Vec<(&'p str, Cow<'p, str>)>,
) -> Result<(&'p str, f64), ScanError> {
    let metric = scanner.metric_name()?;
    scanner.skip_blanks();
    scanner.labels(labels, limits.max_labels, UnknownEscape::Kept)?;
    scanner.skip_blanks();
    let value = read_number(scanner, "value")?;
    scanner.skip_blanks();
    if !scanner.is_at_end() && !scanner.rest().starts_with('#') {
        // Milliseconds in the format of Prometheus, seconds in `OpenMetrics`.
        read_number(scanner, "timestamp")?;
        scanner.skip_blanks();
    }
    // An exemplar of `OpenMetrics` begins with `#`.
    if scanner.is_at_end() || scanner.rest().starts_with('#') {
        Ok((metric, value))
    } else {
        Err(scanner.unexpected("the end of the line"))
    }
}

/// Reads a number as programs write it: `1`, `-2.5e-3`, `NaN`, `+Inf`.
fn read_number(scanner: &mut Scanner<'_>, what: &str) -> Result<f64, ScanError> {
    if scanner.is_at_end() {
        return Err(scanner.unexpected(&format!("a {what}")));
    }
    let word = scanner.word();
    word.parse().map_err(|_| scanner.error(format!("the {what} `{}` is not a number", truncate_value(word))))
}
