//! The spans of time of the charts.

use std::time::Duration;

use crate::domain::{RollupStep, Timestamp};
use crate::texts::key;

/// A span of time up to now, in steps of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LatencySpan {
    /// Its name in addresses.
    pub(super) key: &'static str,
    /// Its name for people.
    pub(super) name: &'static str,
    /// Width of its steps.
    pub(super) step: RollupStep,
    /// Number of its steps; the last one has not ended.
    steps: u32,
    /// Since when statistics are read: as the bars of the page do, so that they are read once.
    read_back: Duration,
}

const WEEK: Duration = Duration::from_hours(7 * 24);
const QUARTER: Duration = Duration::from_hours(90 * 24);

impl LatencySpan {
    /// Every span.
    pub(super) const ALL: [Self; 4] = [
        Self { key: "24h", name: key("24 hours"), step: RollupStep::Hour, steps: 24, read_back: WEEK },
        Self { key: "7d", name: key("7 days"), step: RollupStep::Hour, steps: 168, read_back: WEEK },
        Self { key: "30d", name: key("30 days"), step: RollupStep::Day, steps: 30, read_back: QUARTER },
        Self { key: "90d", name: key("90 days"), step: RollupStep::Day, steps: 90, read_back: QUARTER },
    ];

    /// Returns the span with this name in addresses; the first one for another name.
    pub(super) fn from_key(key: &str) -> Self {
        Self::ALL.into_iter().find(|span| span.key == key).unwrap_or(Self::ALL[0])
    }

    /// Returns the starts of its steps, oldest first.
    pub(super) fn starts(&self, now: Timestamp) -> Vec<Timestamp> {
        let last = self.step.start_of(now);
        (0..self.steps).rev().map(|back| last - self.step.width() * back).collect()
    }

    /// Returns since when statistics are read.
    pub(super) fn read_from(&self, now: Timestamp) -> Timestamp {
        now - self.read_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_a_span_is_among_what_is_read() {
        let now = Timestamp::from_seconds(1_795_176_000 + 1_234);
        for span in LatencySpan::ALL {
            let starts = span.starts(now);
            assert_eq!(starts.len(), span.steps as usize);
            assert!(starts[0] >= span.step.start_of(span.read_from(now)), "{}", span.name);
            assert_eq!(starts.last(), Some(&span.step.start_of(now)));
            assert!(starts.is_sorted());
        }
        assert_eq!(LatencySpan::from_key("30d").name, "30 days");
        assert_eq!(LatencySpan::from_key("x").name, "24 hours");
    }
}
