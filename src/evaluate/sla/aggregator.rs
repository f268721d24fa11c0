//! Counts checks by time and location.

use std::collections::{BTreeMap, HashMap};

use super::stats::SlaStats;
use super::time_ranges::TimeRanges;
use crate::domain::{LocationId, Outcome, Sample, Timestamp};

/// Which checks count.
#[derive(Clone, Debug, Default)]
pub struct SlaScope {
    /// When checks count: operating periods without exclusions and blackouts.
    pub included_ranges: TimeRanges,
    /// The same with the blackouts: a run that a blackout suppressed counts as such within it.
    pub ranges_with_blackouts: TimeRanges,
    /// When the checks of a single location do not count.
    pub excluded_by_location: HashMap<LocationId, TimeRanges>,
}

impl SlaScope {
    fn includes(&self, check: &Sample) -> bool {
        let is_suppressed = check.outcome == Outcome::Blackout;
        let is_in_range = self.included_ranges.contains(check.planned_at)
            || is_suppressed && self.ranges_with_blackouts.contains(check.planned_at);
        is_in_range
            && !self
                .excluded_by_location
                .get(&check.location_id)
                .is_some_and(|excluded_ranges| excluded_ranges.contains(check.planned_at))
    }
}

/// Counts the checks of a monitor, in total and by time bucket. Checks must arrive in the order of their runs.
#[derive(Debug)]
pub struct SlaAggregator {
    scope: SlaScope,
    /// Starts of the buckets, in order; each ends where the next begins, the last at `until`.
    bucket_starts: Vec<Timestamp>,
    until: Timestamp,
    /// Periods from a given start to `until`, counted separately.
    trailing_stats: Vec<(Timestamp, SlaStats)>,
    bucket_stats: Vec<SlaStats>,
    total_stats: SlaStats,
    stats_by_location: BTreeMap<LocationId, SlaStats>,
    current_run: Vec<Sample>,
}

/// The counts of all checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlaAggregate {
    /// In total.
    pub total_stats: SlaStats,
    /// By bucket, in order.
    pub bucket_stats: Vec<SlaStats>,
    /// By location; a run there is its check there.
    pub stats_by_location: BTreeMap<LocationId, SlaStats>,
    /// From each of the requested starts to the end.
    pub trailing_stats: Vec<SlaStats>,
}

impl SlaAggregator {
    /// Creates an aggregator for checks from the first of `bucket_starts` up to `until`.
    #[must_use]
    pub fn new(
        scope: SlaScope,
        bucket_starts: Vec<Timestamp>,
        until: Timestamp,
        trailing_starts: &[Timestamp],
    ) -> Self {
        Self {
            scope,
            bucket_stats: vec![SlaStats::default(); bucket_starts.len()],
            bucket_starts,
            until,
            trailing_stats: trailing_starts.iter().map(|from| (*from, SlaStats::default())).collect(),
            total_stats: SlaStats::default(),
            stats_by_location: BTreeMap::new(),
            current_run: Vec::new(),
        }
    }

    /// Adds the next check.
    pub fn add(&mut self, check: Sample) {
        if self.current_run.first().is_some_and(|first| first.planned_at != check.planned_at) {
            self.finish_run();
        }
        self.current_run.push(check);
    }

    fn finish_run(&mut self) {
        let mut run = std::mem::take(&mut self.current_run);
        let Some(planned_at) = run.first().map(|check| check.planned_at) else { return };
        let bucket_index = self.bucket_starts.partition_point(|start| *start <= planned_at).checked_sub(1);
        if let Some(bucket_index) = bucket_index.filter(|_| planned_at < self.until) {
            let check_count = run.len() as u64;
            run.retain(|check| self.scope.includes(check));
            let excluded = check_count - run.len() as u64;
            self.bucket_stats[bucket_index].add(&run, excluded);
            self.total_stats.add(&run, excluded);
            for check in &run {
                self.stats_by_location
                    .entry(check.location_id)
                    .or_default()
                    .add(std::slice::from_ref(check), 0);
            }
            for (_, stats) in self.trailing_stats.iter_mut().filter(|(from, _)| *from <= planned_at) {
                stats.add(&run, excluded);
            }
        }
        run.clear();
        self.current_run = run;
    }

    /// Returns the counts.
    #[must_use]
    pub fn finish(mut self) -> SlaAggregate {
        self.finish_run();
        SlaAggregate {
            total_stats: self.total_stats,
            bucket_stats: self.bucket_stats,
            stats_by_location: self.stats_by_location,
            trailing_stats: self.trailing_stats.into_iter().map(|(_, stats)| stats).collect(),
        }
    }
}

#[cfg(test)]
#[path = "aggregator_tests.rs"]
mod tests;
