//! Counts over a period.

use std::collections::BTreeMap;

use crate::domain::{DurationSketch, LocationId, LocationMeanDuration, Outcome, Sample};

/// Counts over a period. Every field except `excluded_checks` counts only checks within the scope of the
/// agreement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlaStats {
    /// Runs in which any location passed.
    pub runs_up: u64,
    /// Runs in which some location failed and none passed. Runs without a passed or failed check
    /// count as neither.
    pub runs_down: u64,
    /// Checks by outcome, in the order of [`Outcome::ALL`].
    pub checks_by_outcome: [u64; 6],
    /// Failed checks whose error was suppressed, since a monitor that it depends on was down.
    pub suppressed_checks: u64,
    /// Checks outside of operating periods or in exclusions, and those that took place in a blackout.
    pub excluded_checks: u64,
    /// Durations of checks that passed, by location.
    pub durations_by_location: BTreeMap<LocationId, LocationMeanDuration>,
    /// The same durations, over all locations.
    pub durations: DurationSketch,
}

impl SlaStats {
    /// Adds the checks of one run.
    pub(super) fn add(&mut self, checks_of_run: &[Sample], excluded_checks: u64) {
        self.excluded_checks += excluded_checks;
        let mut passed = false;
        let mut failed = false;
        for check in checks_of_run {
            self.checks_by_outcome[usize::from(check.outcome.code())] += u64::from(check.covered_run_count);
            match check.outcome {
                Outcome::Ok | Outcome::Warning => {
                    passed = true;
                    let location = check.location_id;
                    let mean = self.durations_by_location.entry(location).or_insert(LocationMeanDuration {
                        location_id: location,
                        check_count: 0,
                        sum_us: 0,
                    });
                    mean.check_count += 1;
                    mean.sum_us = mean.sum_us.saturating_add(check.duration_us);
                    self.durations.add(check.duration_us);
                }
                Outcome::Error => {
                    failed = true;
                    self.suppressed_checks += u64::from(check.is_suppressed_by_dependency);
                }
                Outcome::Unknown | Outcome::Missed | Outcome::Blackout => {}
            }
        }
        if passed {
            self.runs_up += 1;
        } else if failed {
            self.runs_down += 1;
        }
    }

    /// Returns the number of checks with this outcome.
    #[must_use]
    pub fn checks_with(&self, outcome: Outcome) -> u64 {
        self.checks_by_outcome[usize::from(outcome.code())]
    }

    /// Returns the number of checks that passed, and of those that passed or failed.
    #[must_use]
    pub fn availability_counts(&self) -> (u64, u64) {
        let passed = self.checks_with(Outcome::Ok) + self.checks_with(Outcome::Warning);
        (passed, passed + self.checks_with(Outcome::Error))
    }

    /// Returns the number of runs that were up, and of those that were up or down.
    #[must_use]
    pub const fn uptime_counts(&self) -> (u64, u64) {
        (self.runs_up, self.runs_up + self.runs_down)
    }

    /// Returns the mean over locations of their mean durations, in microseconds: each location has the same weight,
    /// however often it checked.
    #[must_use]
    pub fn mean_response_us(&self) -> Option<u64> {
        let means: Vec<u64> =
            self.durations_by_location.values().filter_map(LocationMeanDuration::mean_us).collect();
        means.iter().sum::<u64>().checked_div(means.len() as u64)
    }
}
