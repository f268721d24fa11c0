//! The catalogue of metrics.

use std::time::Duration;

use crate::model::CheckResult;

/// Every metric of the process. One instance a process (or test); cheap to share behind an `Arc`.
#[derive(Debug, Default)]
pub struct Metrics {}

impl Metrics {
    /// Counts a finished check: outcome, type, failure kind, phases, lateness, missed slots.
    pub fn result(&self, result: &CheckResult) {
        let _ = result;
    }

    /// Runs that wait for a place.
    pub fn queue_depth(&self, runs: usize) {
        let _ = runs;
    }

    /// Checks that run now, by weight class.
    pub fn in_flight(&self, weight: &'static str, checks: usize) {
        let _ = (weight, checks);
    }

    /// Monitors that are planned.
    pub fn planned_monitors(&self, monitors: usize) {
        let _ = monitors;
    }

    /// Results that wait for the store.
    pub fn ingest_queue_depth(&self, results: usize) {
        let _ = results;
    }

    /// One commit of the store: how many results it took, how long it took.
    pub fn commit(&self, results: usize, took: Duration) {
        let _ = (results, took);
    }

    /// A commit that failed, by `StoreError::kind`.
    pub fn commit_failed(&self, kind: &'static str) {
        let _ = kind;
    }

    /// A reload of the monitor files or settings: whether it was taken.
    pub fn reloaded(&self, taken: bool) {
        let _ = taken;
    }
}
