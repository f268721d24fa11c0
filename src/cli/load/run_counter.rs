//! Counts the runs of the measured window.

use crate::sync::Mutex;
use std::ops::Range;

use hdrhistogram::Histogram;

use crate::domain::{CheckResult, Outcome, Timestamp};

/// Longest lateness that is recorded exactly: an hour, in microseconds.
const MAX_LATENESS_US: u64 = 3_600_000_000;

/// Counter of the runs that are planned within a window.
pub(super) struct RunCounter {
    inner: Mutex<(Range<Timestamp>, RunCounts)>,
}

/// Counts of runs.
#[derive(Clone)]
pub(super) struct RunCounts {
    /// Executed runs.
    pub(super) checks: u64,
    /// Executed runs with another outcome than ok.
    pub(super) not_ok: u64,
    /// Missed runs.
    pub(super) missed: u64,
    /// Start lateness of executed runs, in microseconds.
    pub(super) lateness_us: Histogram<u64>,
    /// First reason of a run that was not ok.
    pub(super) first_reason: Option<String>,
}

impl RunCounter {
    /// Creates a counter that counts nothing until [`RunCounter::set_window`].
    pub(super) fn new() -> anyhow::Result<Self> {
        let lateness_us = Histogram::new_with_bounds(1, MAX_LATENESS_US, 3)?;
        let counts = RunCounts { checks: 0, not_ok: 0, missed: 0, lateness_us, first_reason: None };
        let never = Timestamp::default()..Timestamp::default();
        Ok(Self { inner: Mutex::new((never, counts)) })
    }

    /// Counts runs that are planned within `window`.
    pub(super) fn set_window(&self, window: Range<Timestamp>) {
        self.inner.lock().0 = window;
    }

    /// Counts `result`.
    pub(super) fn record(&self, result: &CheckResult) {
        let mut inner = self.inner.lock();
        let (window, counts) = &mut *inner;
        if !window.contains(&result.planned_at) {
            return;
        }
        let Some(lateness) = result.lateness() else {
            counts.missed += u64::from(result.slots());
            return;
        };
        counts.checks += 1;
        counts.lateness_us.saturating_record(u64::try_from(lateness.as_micros()).unwrap_or(MAX_LATENESS_US));
        if result.outcome != Outcome::Ok {
            counts.not_ok += 1;
            if counts.first_reason.is_none() {
                counts.first_reason = result.reasons.first().cloned();
            }
        }
    }

    /// The counts so far.
    pub(super) fn counts(&self) -> RunCounts {
        self.inner.lock().1.clone()
    }
}
