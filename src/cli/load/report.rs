//! The figures of a load run, as a table and as JSON.

use std::time::Duration;

use serde::Serialize;

use super::run_counter::RunCounts;
use crate::service::details::format_duration;

/// Measurements of a load run. The JSON keys are those of behaviour.md 9, followed by a few more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct LoadReport {
    /// Executed runs within the measured time.
    pub(super) checks: u64,
    /// Missed runs.
    pub(super) missed: u64,
    /// Median start lateness, in microseconds.
    pub(super) lateness_p50_us: u64,
    /// 99th percentile of the start lateness, in microseconds.
    pub(super) lateness_p99_us: u64,
    /// Largest start lateness, in microseconds.
    pub(super) lateness_max_us: u64,
    /// Processor time of the whole pipeline per check, in microseconds.
    pub(super) cpu_us_per_check: f64,
    /// Results that the store acknowledged per second.
    pub(super) stored_per_s: f64,
    /// Resident memory after planning all monitors, in bytes.
    pub(super) rss_idle_bytes: u64,
    /// Highest resident memory until the end, in bytes.
    pub(super) rss_peak_bytes: u64,
    /// Planned monitors.
    pub(super) monitors: usize,
    /// Checks with another outcome than ok.
    pub(super) not_ok: u64,
}

/// Measurements besides the counts.
pub(super) struct Measurements {
    pub(super) monitors: usize,
    pub(super) cpu: Duration,
    pub(super) duration: Duration,
    pub(super) stored: u64,
    pub(super) rss_idle_bytes: u64,
    pub(super) rss_peak_bytes: u64,
}

impl LoadReport {
    /// Computes the report from `counts` and `measured`. A ratio with a zero divisor is 0.
    pub(super) fn from_counts(counts: &RunCounts, measured: &Measurements) -> Self {
        let per =
            |whole: f64, parts: f64| if parts > 0.0 { (whole / parts * 10.0).round() / 10.0 } else { 0.0 };
        let percentile_us = |percentile| counts.lateness_us.value_at_percentile(percentile);
        Self {
            checks: counts.checks,
            missed: counts.missed,
            lateness_p50_us: percentile_us(50.0),
            lateness_p99_us: percentile_us(99.0),
            lateness_max_us: counts.lateness_us.max(),
            cpu_us_per_check: per(measured.cpu.as_secs_f64() * 1e6, counts.checks as f64),
            stored_per_s: per(measured.stored as f64, measured.duration.as_secs_f64()),
            rss_idle_bytes: measured.rss_idle_bytes,
            rss_peak_bytes: measured.rss_peak_bytes,
            monitors: measured.monitors,
            not_ok: counts.not_ok,
        }
    }

    /// Renders a table for people.
    pub(super) fn to_table(&self) -> String {
        let rows = [
            ("monitors", self.monitors.to_string()),
            ("checks done", self.checks.to_string()),
            ("not ok", self.not_ok.to_string()),
            ("missed", self.missed.to_string()),
            ("start lateness p50", format_duration(self.lateness_p50_us)),
            ("start lateness p99", format_duration(self.lateness_p99_us)),
            ("start lateness max", format_duration(self.lateness_max_us)),
            ("CPU per check", format!("{} µs", self.cpu_us_per_check)),
            ("results stored", format!("{} a second", self.stored_per_s)),
            ("memory, idle", format_megabytes(self.rss_idle_bytes)),
            ("memory, peak", format_megabytes(self.rss_peak_bytes)),
        ];
        let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<20} {value:>16}")).collect();
        lines.join("\n") + "\n"
    }
}

fn format_megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
