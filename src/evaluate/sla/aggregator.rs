//! Counts checks by time and location.

use std::collections::{BTreeMap, HashMap};

use super::stats::SlaStats;
use super::time_ranges::TimeRanges;
use crate::domain::{LocationId, Sample, Timestamp};

/// Which checks count.
#[derive(Clone, Debug, Default)]
pub struct SlaScope {
    /// When checks count: operating periods without exclusions and blackouts.
    pub included: TimeRanges,
    /// When the checks of a single location do not count.
    pub excluded_by_location: HashMap<LocationId, TimeRanges>,
}

impl SlaScope {
    fn includes(&self, check: &Sample) -> bool {
        self.included.contains(check.planned_at)
            && !self
                .excluded_by_location
                .get(&check.location)
                .is_some_and(|spans| spans.contains(check.planned_at))
    }
}

/// Counts the checks of a monitor, in total and by time bucket. Checks must arrive in the order of their runs.
#[derive(Debug)]
pub struct SlaAggregator {
    scope: SlaScope,
    /// Starts of the buckets, in order; each ends where the next begins, the last at `until`.
    starts: Vec<Timestamp>,
    thru: Timestamp,
    /// Periods from a given start to `until`, counted separately.
    trailing: Vec<(Timestamp, SlaStats)>,
    buckets: Vec<SlaStats>,
    total: SlaStats,
    locations: BTreeMap<LocationId, SlaStats>,
    run: Vec<Sample>,
}

/// The counts of all checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlaAggregate {
    /// In total.
    pub total: SlaStats,
    /// By bucket, in order.
    pub buckets: Vec<SlaStats>,
    /// By location; a run there is its check there.
    pub locations: BTreeMap<LocationId, SlaStats>,
    /// From each of the requested starts to the end.
    pub trailing: Vec<SlaStats>,
}

impl SlaAggregator {
    /// Creates an aggregator for checks from the first of `starts` up to `thru`.
    #[must_use]
    pub fn new(
        scope: SlaScope,
        starts: Vec<Timestamp>,
        thru: Timestamp,
        trailing_starts: &[Timestamp],
    ) -> Self {
        Self {
            scope,
            buckets: vec![SlaStats::default(); starts.len()],
            starts,
            thru,
            trailing: trailing_starts.iter().map(|from| (*from, SlaStats::default())).collect(),
            total: SlaStats::default(),
            locations: BTreeMap::new(),
            run: Vec::new(),
        }
    }

    /// Adds the next check.
    pub fn add(&mut self, check: Sample) {
        if self.run.first().is_some_and(|first| first.planned_at != check.planned_at) {
            self.finish_run();
        }
        self.run.push(check);
    }

    fn finish_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        let Some(at) = run.first().map(|check| check.planned_at) else { return };
        let bucket = self.starts.partition_point(|start| *start <= at).checked_sub(1);
        if let Some(bucket) = bucket.filter(|_| at < self.thru) {
            let all = run.len() as u64;
            run.retain(|check| self.scope.includes(check));
            let excluded = all - run.len() as u64;
            self.buckets[bucket].add(&run, excluded);
            self.total.add(&run, excluded);
            for check in &run {
                self.locations.entry(check.location).or_default().add(std::slice::from_ref(check), 0);
            }
            for (_, stats) in self.trailing.iter_mut().filter(|(from, _)| *from <= at) {
                stats.add(&run, excluded);
            }
        }
        run.clear();
        self.run = run;
    }

    /// Returns the counts.
    #[must_use]
    pub fn finish(mut self) -> SlaAggregate {
        self.finish_run();
        SlaAggregate {
            total: self.total,
            buckets: self.buckets,
            locations: self.locations,
            trailing: self.trailing.into_iter().map(|(_, stats)| stats).collect(),
        }
    }
}

#[cfg(test)]
#[path = "aggregator_tests.rs"]
mod tests;
