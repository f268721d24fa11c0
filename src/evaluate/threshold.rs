//! Compares the series of a host with thresholds.

use std::cmp::Reverse;

use crate::domain::{HostValue, HostValueLevel, SeriesReadings, format_number};
use crate::syntax::prometheus::selector::MetricSelector;

/// Most values of a check that are kept.
const MAX_VALUES: usize = 50;

/// A threshold of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The metric as its author wrote it.
    pub metric: String,
    /// Which series it is about; `None` for a text that is no metric, which no series matches.
    pub selector: Option<MetricSelector>,
    /// From this value on it is a warning.
    pub warning: Option<f64>,
    /// From this value on it is an error.
    pub error: Option<f64>,
    /// Whether values below the bounds are bad, rather than those above.
    pub is_below: bool,
    /// Number of runs in a row with such a value, at least 1.
    pub run_count: u32,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThresholdFindings {
    /// The compared values, the worst first; at most 50.
    pub values: Vec<HostValue>,
    /// What is an error, a text each.
    pub errors: Vec<String>,
    /// What is a warning, a text each.
    pub warnings: Vec<String>,
}

/// Compares `series` with `thresholds`. A threshold without a series is a warning: what it watches over is gone, such as
/// a file system that is not mounted.
#[must_use]
pub fn compare(thresholds: &[Threshold], series: &[SeriesReadings]) -> ThresholdFindings {
    let mut findings = ThresholdFindings::default();
    // The text of a series, and of the rate of one, has the form of a selector.
    let named: Vec<(MetricSelector, &SeriesReadings)> = series
        .iter()
        .filter_map(|readings| Some((MetricSelector::parse(&readings.series).ok()?, readings)))
        .collect();
    for threshold in thresholds {
        let mut is_found = false;
        for (_, readings) in named.iter().filter(|(name, _)| threshold.matches(name)) {
            let Some(&value) = readings.values.first() else { continue };
            is_found = true;
            findings.add(threshold, readings, value);
        }
        if !is_found {
            findings.warnings.push(format!("there is no value of `{}`", threshold.metric));
        }
    }
    findings.values.sort_by_key(|value| Reverse(value.level));
    findings.values.truncate(MAX_VALUES);
    findings
}

impl Threshold {
    fn matches(&self, series: &MetricSelector) -> bool {
        self.selector.as_ref().is_some_and(|selector| {
            selector.is_rate() == series.is_rate() && selector.matches(series.metric(), series.labels())
        })
    }

    /// Whether the values of the last runs are all at or beyond `bound`.
    fn is_beyond(&self, bound: f64, values: &[f64]) -> bool {
        let count = self.run_count.max(1) as usize;
        let is_bad = |value: &f64| if self.is_below { *value <= bound } else { *value >= bound };
        values.len() >= count && values[..count].iter().all(is_bad)
    }

    fn describe(&self, bound: f64) -> String {
        let side = if self.is_below { "at or below" } else { "at or above" };
        let runs = match self.run_count {
            0 | 1 => String::new(),
            count => format!(" for {count} runs"),
        };
        format!("{side} {}{runs}", format_number(bound))
    }
}

impl ThresholdFindings {
    fn add(&mut self, threshold: &Threshold, readings: &SeriesReadings, value: f64) {
        let beyond = |bound: Option<f64>| bound.filter(|bound| threshold.is_beyond(*bound, &readings.values));
        let level = match (beyond(threshold.error), beyond(threshold.warning)) {
            (Some(bound), _) => {
                self.errors.push(describe_value(readings, value, &threshold.describe(bound)));
                HostValueLevel::Error
            }
            (None, Some(bound)) => {
                self.warnings.push(describe_value(readings, value, &threshold.describe(bound)));
                HostValueLevel::Warning
            }
            (None, None) => HostValueLevel::Ok,
        };
        self.values.push(HostValue {
            series: readings.series.clone(),
            value,
            warning: threshold.warning,
            error: threshold.error,
            level,
        });
    }
}

fn describe_value(readings: &SeriesReadings, value: f64, bound: &str) -> String {
    format!("`{}` is {}, {bound}", readings.series, format_number(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(metric: &str, warning: Option<f64>, error: Option<f64>) -> Threshold {
        Threshold {
            metric: metric.to_owned(),
            selector: MetricSelector::parse(metric).ok(),
            warning,
            error,
            is_below: false,
            run_count: 1,
        }
    }

    fn readings(series: &str, values: &[f64]) -> SeriesReadings {
        SeriesReadings { series: series.to_owned(), values: values.to_vec() }
    }

    #[test]
    fn each_series_of_a_metric_is_compared_and_the_worst_comes_first() {
        let series = [
            readings(r#"disk_used_percent{mount="/"}"#, &[50.0]),
            readings(r#"disk_used_percent{mount="/data"}"#, &[96.5]),
            readings(r#"disk_used_percent{mount="/var"}"#, &[85.0]),
        ];
        let all = threshold("disk_used_percent", Some(80.0), Some(95.0));
        let findings = compare(&[all], &series);
        assert_eq!(findings.errors, [r#"`disk_used_percent{mount="/data"}` is 96.5, at or above 95"#]);
        assert_eq!(findings.warnings, [r#"`disk_used_percent{mount="/var"}` is 85, at or above 80"#]);
        let levels: Vec<_> = findings.values.iter().map(|value| value.level).collect();
        assert_eq!(levels, [HostValueLevel::Error, HostValueLevel::Warning, HostValueLevel::Ok]);
        let one = threshold(r#"disk_used_percent{mount="/"}"#, None, Some(95.0));
        assert!(compare(&[one], &series).errors.is_empty());
    }

    #[test]
    fn the_direction_and_the_runs_decide() {
        let series = [readings("memory", &[9.0, 9.0, 20.0])];
        let mut below = threshold("memory", None, Some(10.0));
        assert!(compare(&[below.clone()], &series).errors.is_empty(), "9 is not above 10");
        below.is_below = true;
        assert_eq!(compare(&[below.clone()], &series).errors, ["`memory` is 9, at or below 10"]);
        below.run_count = 2;
        assert_eq!(compare(&[below.clone()], &series).errors, ["`memory` is 9, at or below 10 for 2 runs"]);
        below.run_count = 3;
        assert!(compare(&[below.clone()], &series).errors.is_empty(), "the third value is fine");
        below.run_count = 4;
        assert!(compare(&[below], &series).errors.is_empty(), "there are only three values");
    }

    #[test]
    fn a_threshold_without_a_series_is_a_warning() {
        let no_metric = compare(&[threshold("Load average", None, Some(1.0))], &[readings("load1", &[2.0])]);
        assert_eq!(no_metric.warnings, ["there is no value of `Load average`"]);
        let missing = threshold(r#"disk_used_percent{mount="/gone"}"#, None, Some(1.0));
        let findings = compare(&[missing], &[]);
        assert_eq!(findings.warnings, [r#"there is no value of `disk_used_percent{mount="/gone"}`"#]);
    }
}
