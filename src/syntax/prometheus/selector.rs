//! Selectors of series, a small part of the language of Prometheus: `name`, `name{label="value"}` and `rate(…)`.

use std::fmt;
use std::str::FromStr;

use super::exposition::SampleRef;
use super::scanner::{ScanError, Scanner};
use super::series_name::{self, SeriesName, SeriesNameError};

/// Selects the series of a metric that have given labels, and tells whether their values or rates are meant.
///
/// Its text, by `Display`, has the labels in the order of their names, without blanks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetricSelector {
    series: SeriesName,
    is_rate: bool,
}

impl MetricSelector {
    /// Parses `name`, `name{label="value",…}` or `rate(name{…})`. Without labels it matches every series of the metric.
    ///
    /// # Errors
    /// Fails when `text` is anything else, with the column; or longer than
    /// [`MAX_SERIES_BYTES`](series_name::MAX_SERIES_BYTES).
    pub fn parse(text: &str) -> Result<Self, SeriesNameError> {
        let parsed = series_name::check_size(text).and_then(|()| parse_selector(text));
        parsed.map_err(|error| SeriesNameError::new(text, error))
    }

    /// Returns the name of its metric.
    #[must_use]
    pub fn metric(&self) -> &str {
        self.series.metric()
    }

    /// Returns the labels that a series needs, in the order of their names.
    #[must_use]
    pub fn labels(&self) -> &[(String, String)] {
        self.series.labels()
    }

    /// Whether the increase per second is meant, not the value.
    #[must_use]
    pub const fn is_rate(&self) -> bool {
        self.is_rate
    }

    /// Whether it selects the series of `metric` with `labels`. A label that a series lacks counts as empty.
    #[must_use]
    pub fn matches<N: AsRef<str>, V: AsRef<str>>(&self, metric: &str, labels: &[(N, V)]) -> bool {
        let value_of = |wanted: &str| {
            labels.iter().find(|(name, _)| name.as_ref() == wanted).map_or("", |(_, value)| value.as_ref())
        };
        metric == self.metric() && self.labels().iter().all(|(name, value)| value_of(name) == value)
    }

    /// Whether it selects `series`.
    #[must_use]
    pub fn matches_series(&self, series: &SeriesName) -> bool {
        self.matches(series.metric(), series.labels())
    }

    /// Whether it selects the series of `sample`.
    #[must_use]
    pub fn matches_sample(&self, sample: &SampleRef<'_, '_>) -> bool {
        self.matches(sample.metric, sample.labels)
    }
}

impl fmt::Display for MetricSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_rate { write!(f, "rate({})", self.series) } else { self.series.fmt(f) }
    }
}

impl FromStr for MetricSelector {
    type Err = SeriesNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

fn parse_selector(text: &str) -> Result<MetricSelector, ScanError> {
    let mut scanner = Scanner::new(text);
    scanner.skip_blanks();
    let start = scanner.offset();
    let mut series = parse_selected_series(&mut scanner)?;
    let is_rate = scanner.accept('(');
    if is_rate {
        if series.metric() != "rate" || !series.labels().is_empty() {
            let message = format!("`{}` is not a known function; only `rate` is", series.metric());
            return Err(ScanError { offset: start, message });
        }
        scanner.skip_blanks();
        series = parse_selected_series(&mut scanner)?;
        scanner.expect(')')?;
        scanner.skip_blanks();
    }
    if !scanner.is_at_end() {
        return Err(scanner.unexpected("the end"));
    }
    Ok(MetricSelector { series, is_rate })
}

/// Reads a series; explains what of the language of Prometheus is not known here.
fn parse_selected_series(scanner: &mut Scanner<'_>) -> Result<SeriesName, ScanError> {
    let series = series_name::parse_series(scanner);
    series.map_err(|error| {
        if scanner.rest().starts_with(['!', '~']) {
            scanner.error("only `=` compares labels here, not `!=`, `=~` or `!~`".to_owned())
        } else {
            error
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_have_a_canonical_text() {
        for (text, canonical) in [
            ("load1", "load1"),
            (" load1 {} ", "load1"),
            (r#"http_requests_total { b = "2", a="1",}"#, r#"http_requests_total{a="1",b="2"}"#),
            (r#"rate( errors:total {a="x\"y"} ) "#, r#"rate(errors:total{a="x\"y"})"#),
            ("rate", "rate"),
            (r#"rate{a="b"}"#, r#"rate{a="b"}"#),
            ("rate(rate)", "rate(rate)"),
        ] {
            let selector = MetricSelector::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(selector.to_string(), canonical);
            assert_eq!(selector.is_rate(), canonical.contains('('));
            assert_eq!(MetricSelector::parse(canonical), Ok(selector));
        }
    }

    #[test]
    fn labels_that_are_not_named_do_not_matter() {
        let selector = |text: &str| MetricSelector::parse(text).unwrap();
        let series = SeriesName::parse(r#"disk{mount="/",device="sda"}"#).unwrap();
        for text in
            ["disk", r#"disk{mount="/"}"#, r#"rate(disk{device="sda",mount="/"})"#, r#"disk{fstype=""}"#]
        {
            assert!(selector(text).matches_series(&series), "{text}");
        }
        for text in
            ["disks", r#"disk{mount="/srv"}"#, r#"disk{mount="/",fstype="ext4"}"#, r#"disk{mount=""}"#]
        {
            assert!(!selector(text).matches_series(&series), "{text}");
        }
    }

    #[test]
    fn errors_say_the_column() {
        for (text, expected) in [
            ("", "column 1: expected the name of a metric, but it ends"),
            (r#"a{b=~"c"}"#, "column 5: only `=` compares labels here, not `!=`, `=~` or `!~`"),
            (r#"a{b!="c"}"#, "column 4: only `=` compares labels here, not `!=`, `=~` or `!~`"),
            ("sum(a)", "column 1: `sum` is not a known function; only `rate` is"),
            ("rate(a[5m])", "column 7: expected `)`, not `[`"),
            ("rate(a", "column 7: expected `)`, but it ends"),
            ("rate(rate(a))", "column 10: expected `)`, not `(`"),
            ("a > 1", "column 3: expected the end, not `>`"),
            (r#"rate{a="b"}(c)"#, "column 1: `rate` is not a known function; only `rate` is"),
        ] {
            let error = MetricSelector::parse(text).map(|selector| selector.to_string()).unwrap_err();
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }
}
