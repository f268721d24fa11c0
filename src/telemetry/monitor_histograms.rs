//! Histograms of the durations of checks, by monitor and location.

use std::collections::HashMap;

use crate::domain::{CheckResult, LocationId, MonitorId};
use crate::sync::Mutex;

/// Most histograms, each of about a hundred bytes; further locations of monitors have none.
const MAX_HISTOGRAMS: usize = 500_000;

/// Durations of the checks that this process stored since it started.
#[derive(Debug, Default)]
pub struct MonitorHistograms(Mutex<HashMap<(MonitorId, LocationId), DurationHistogram>>);

impl MonitorHistograms {
    /// Counts those of `results` that ran.
    pub(super) fn record<'a>(&self, results: impl Iterator<Item = &'a CheckResult>) {
        let mut histograms = self.0.lock();
        for result in results.filter(|result| !result.attempts.is_empty()) {
            let key = (result.monitor_id, result.location_id);
            if histograms.len() < MAX_HISTOGRAMS || histograms.contains_key(&key) {
                histograms.entry(key).or_default().record(result.duration_us);
            }
        }
    }

    /// Returns the histogram of a monitor at a location; `None` before its first check.
    #[must_use]
    pub fn get(&self, monitor: MonitorId, location: LocationId) -> Option<DurationHistogram> {
        self.0.lock().get(&(monitor, location)).copied()
    }

    /// Returns the number of histograms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Removes those of monitors for which `exists` is false.
    pub fn retain(&self, exists: impl Fn(MonitorId) -> bool) {
        self.0.lock().retain(|(monitor, _), _| exists(*monitor));
    }
}

/// Durations of checks, counted by upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    /// Checks by the bounds of [`DurationHistogram::BOUNDS_US`], not cumulated; the last ones are beyond all bounds.
    pub counts: [u64; Self::BOUNDS_US.len() + 1],
    /// Microseconds of all of them.
    pub sum_us: u64,
}

impl DurationHistogram {
    /// Upper bounds in microseconds: 5 ms to 30 s.
    pub const BOUNDS_US: [u64; 9] =
        [5_000, 25_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000, 30_000_000];

    /// Counts a check.
    pub fn record(&mut self, duration_us: u64) {
        let bucket = Self::BOUNDS_US.partition_point(|bound| *bound < duration_us);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.sum_us = self.sum_us.saturating_add(duration_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_up_to_its_bound() {
        let mut histogram = DurationHistogram::default();
        for duration_us in [0, 5_000, 5_001, 30_000_000, 30_000_001] {
            histogram.record(duration_us);
        }
        assert_eq!(histogram.counts, [2, 1, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(histogram.sum_us, 60_010_002);
    }
}
