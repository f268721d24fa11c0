//! Counts the runs of the measured window.

use crate::sync::Mutex;
use std::ops::Range;

use hdrhistogram::Histogram;

use crate::domain::{CheckResult, Outcome, Timestamp};

/// Largest lateness that the histogram records: an hour, in microseconds. Longer ones are recorded as this.
const MAX_LATENESS_US: u64 = 3_600_000_000;

/// Counter of the runs that are planned within a window.
pub(super) struct RunCounter {
    window_and_totals: Mutex<(Range<Timestamp>, RunTotals)>,
}

/// Counts of runs.
#[derive(Clone)]
pub(super) struct RunTotals {
    /// Executed runs.
    pub(super) executed_checks: u64,
    /// Executed runs with another outcome than ok.
    pub(super) not_ok_runs: u64,
    /// Missed runs.
    pub(super) missed_runs: u64,
    /// Start lateness of executed runs, in microseconds.
    pub(super) start_lateness_us: Histogram<u64>,
    /// Main reason of the first run that was not ok.
    pub(super) first_not_ok_reason: Option<String>,
    /// The result of the first executed run.
    pub(super) first_result: Option<CheckResult>,
}

impl RunCounter {
    /// Creates a counter that counts nothing until [`RunCounter::set_measured_window`].
    pub(super) fn new() -> anyhow::Result<Self> {
        let start_lateness_us = Histogram::new_with_bounds(1, MAX_LATENESS_US, 3)?;
        let totals = RunTotals {
            executed_checks: 0,
            not_ok_runs: 0,
            missed_runs: 0,
            start_lateness_us,
            first_not_ok_reason: None,
            first_result: None,
        };
        let empty_window = Timestamp::default()..Timestamp::default();
        Ok(Self { window_and_totals: Mutex::new((empty_window, totals)) })
    }

    /// Counts runs that are planned within `window`.
    pub(super) fn set_measured_window(&self, window: Range<Timestamp>) {
        self.window_and_totals.lock().0 = window;
    }

    /// Counts `result`.
    pub(super) fn record(&self, result: &CheckResult) {
        let mut window_and_totals = self.window_and_totals.lock();
        let (window, totals) = &mut *window_and_totals;
        if !window.contains(&result.planned_at) {
            return;
        }
        let Some(lateness) = result.lateness() else {
            totals.missed_runs += u64::from(result.run_count());
            return;
        };
        totals.executed_checks += 1;
        if totals.first_result.is_none() {
            totals.first_result = Some(result.clone());
        }
        totals
            .start_lateness_us
            .saturating_record(u64::try_from(lateness.as_micros()).unwrap_or(MAX_LATENESS_US));
        if result.outcome != Outcome::Ok {
            totals.not_ok_runs += 1;
            if totals.first_not_ok_reason.is_none() {
                totals.first_not_ok_reason = result.reasons.first().cloned();
            }
        }
    }

    /// The counts so far.
    pub(super) fn totals(&self) -> RunTotals {
        self.window_and_totals.lock().1.clone()
    }
}
