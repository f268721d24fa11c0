//! The values of the last runs of monitors whose location reads a page of metrics.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::domain::{MonitorId, SeriesReadings, Timestamp};
use crate::sync::Mutex;

/// Most values of a series: the most runs of a threshold.
const MAX_RUNS: usize = 10;
/// Number of monitors at which those without a check for a day are removed.
const PURGE_AT: usize = 1000;
const MAX_AGE: Duration = Duration::from_hours(24);

/// Remembers values by monitor. A restart begins anew: thresholds over several runs then need as many runs again.
#[derive(Debug, Default)]
pub struct SeriesMemory {
    monitors: Mutex<HashMap<MonitorId, Remembered>>,
    counters: Mutex<HashMap<MonitorId, (Timestamp, Counters)>>,
}

/// The values of counters by series.
pub(super) type Counters = BTreeMap<String, f64>;

#[derive(Debug)]
struct Remembered {
    run_at: Timestamp,
    series: HashMap<String, Vec<f64>>,
}

impl SeriesMemory {
    /// Remembers the values of the counters of a monitor at `now`; returns those before and how long ago they were.
    pub(super) fn replace_counters(
        &self,
        monitor_id: MonitorId,
        now: Timestamp,
        values: Counters,
    ) -> Option<(Duration, Counters)> {
        let mut counters = self.counters.lock();
        if counters.len() >= PURGE_AT {
            counters.retain(|_, (read_at, _)| now.since(*read_at) < MAX_AGE);
        }
        let (read_at, before) = counters.insert(monitor_id, (now, values))?;
        Some((now.since(read_at), before))
    }

    /// Adds the values of a run at `now` and returns them with those before. A second attempt soon after the first takes
    /// the place of the first: it is the same run.
    pub(super) fn add(
        &self,
        monitor_id: MonitorId,
        now: Timestamp,
        run_interval: Duration,
        values: Vec<(String, f64)>,
    ) -> Vec<SeriesReadings> {
        let mut monitors = self.monitors.lock();
        if monitors.len() >= PURGE_AT {
            monitors.retain(|_, remembered| now.since(remembered.run_at) < MAX_AGE);
        }
        let before = monitors.remove(&monitor_id);
        let is_same_run = before.as_ref().is_some_and(|before| now.since(before.run_at) < run_interval / 2);
        // After a gap of some runs the values do not follow each other.
        let is_next_run = before.as_ref().is_some_and(|before| now.since(before.run_at) < run_interval * 2);
        let run_at = before.as_ref().filter(|_| is_same_run).map_or(now, |before| before.run_at);
        let mut earlier =
            before.filter(|_| is_same_run || is_next_run).map(|before| before.series).unwrap_or_default();
        let readings: Vec<SeriesReadings> = values
            .into_iter()
            .map(|(series, value)| {
                let mut values = earlier.remove(&series).unwrap_or_default();
                if is_same_run && !values.is_empty() {
                    values.remove(0);
                }
                values.insert(0, value);
                values.truncate(MAX_RUNS);
                SeriesReadings { series, values }
            })
            .collect();
        let series = readings.iter().map(|one| (one.series.clone(), one.values.clone())).collect();
        monitors.insert(monitor_id, Remembered { run_at, series });
        readings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_each_other_by_runs() {
        let memory = SeriesMemory::default();
        let (id, minute) = (MonitorId(1), Duration::from_mins(1));
        let start = Timestamp::from_seconds(1_800_000_000);
        let add = |seconds: u64, value: f64| {
            let now = start + Duration::from_secs(seconds);
            memory.add(id, now, minute, vec![("a".to_owned(), value)]).remove(0).values
        };
        assert_eq!(add(0, 1.0), [1.0]);
        assert_eq!(add(60, 2.0), [2.0, 1.0]);
        assert_eq!(add(70, 3.0), [3.0, 1.0], "a second attempt");
        assert_eq!(add(120, 4.0), [4.0, 3.0, 1.0]);
        assert_eq!(add(300, 5.0), [5.0], "after a gap");
    }
}
