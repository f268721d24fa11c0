//! The values of one report, by the names of their series.

use std::collections::BTreeMap;

use crate::domain::find_host_metric;
use crate::syntax::prometheus::series_name::SeriesName;

/// Measured values, by series: `load1`, `disk_used_percent{mount="/"}`. Every metric is one of the table of host
/// metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements(BTreeMap<String, f64>);

impl Measurements {
    /// Adds the value of a metric with one series.
    pub(super) fn set(&mut self, metric: &str, value: f64) {
        self.insert(metric, None, value);
    }

    /// Adds the value of the series of `metric` whose label is `label_value`.
    pub(super) fn set_labelled(&mut self, metric: &str, label_value: &str, value: f64) {
        self.insert(metric, Some(label_value), value);
    }

    /// A metric that the table lacks, a value that is no number, and a series with too long a name are left out.
    fn insert(&mut self, metric: &str, label_value: Option<&str>, value: f64) {
        let known = find_host_metric(metric);
        debug_assert!(known.is_some_and(|known| known.label.is_some() == label_value.is_some()), "{metric}");
        let Some(known) = known.filter(|_| value.is_finite()) else { return };
        let label = known.label.zip(label_value);
        if let Ok(series) = SeriesName::new(metric, label.as_slice()) {
            // More decimals are noise, and make reports longer.
            self.0.insert(series.to_string(), (value * 1000.0).round() / 1000.0);
        }
    }

    /// Returns the values in the order of their series.
    #[must_use]
    pub const fn values(&self) -> &BTreeMap<String, f64> {
        &self.0
    }
}

/// Returns `part` of `whole` in percent, at most 100; 0 of nothing.
pub(super) fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole * 100.0).clamp(0.0, 100.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_have_the_label_of_their_metric() {
        let mut measurements = Measurements::default();
        measurements.set("load1", 0.5);
        measurements.set_labelled("disk_used_percent", "/srv/\"a\"", 95.25);
        measurements.set("load5", f64::NAN);
        measurements.set_labelled("disk_used_percent", &"/x".repeat(300), 1.0);
        let values: Vec<_> = measurements.values().iter().collect();
        let expected =
            [(&r#"disk_used_percent{mount="/srv/\"a\""}"#.to_owned(), &95.25), (&"load1".to_owned(), &0.5)];
        assert_eq!(values, expected);
    }

    #[test]
    fn percentages_stay_within_bounds() {
        assert_eq!((percent(1.0, 4.0), percent(5.0, 4.0), percent(0.0, 0.0)), (25.0, 100.0, 0.0));
    }
}
