//! The figures of a load run, as a table and as JSON.

use std::time::Duration;

use serde::Serialize;

use super::run_counter::RunTotals;
use crate::service::result_view::format_duration;

/// Measurements of a load run. The JSON keys are those of behaviour.md 9, followed by a few more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct LoadReport {
    /// Executed runs within the measured time.
    #[serde(rename = "checks")]
    pub(super) executed_checks: u64,
    /// Missed runs.
    #[serde(rename = "missed")]
    pub(super) missed_runs: u64,
    /// Median start lateness, in microseconds.
    pub(super) lateness_p50_us: u64,
    /// 99th percentile of the start lateness, in microseconds.
    pub(super) lateness_p99_us: u64,
    /// Largest start lateness, in microseconds.
    pub(super) lateness_max_us: u64,
    /// Processor time of the whole pipeline per check, in microseconds.
    pub(super) cpu_us_per_check: f64,
    /// Results that the store acknowledged per second.
    #[serde(rename = "stored_per_s")]
    pub(super) stored_results_per_second: f64,
    /// Resident memory after planning all monitors, in bytes.
    pub(super) rss_idle_bytes: u64,
    /// Highest resident memory until the end, in bytes.
    pub(super) rss_peak_bytes: u64,
    /// Planned monitors.
    #[serde(rename = "monitors")]
    pub(super) monitor_count: usize,
    /// Checks with another outcome than ok.
    #[serde(rename = "not_ok")]
    pub(super) not_ok_runs: u64,
}

/// Measurements besides the counts.
pub(super) struct LoadMeasurements {
    pub(super) monitor_count: usize,
    pub(super) cpu_time: Duration,
    pub(super) window_length: Duration,
    pub(super) stored_count: u64,
    pub(super) rss_idle_bytes: u64,
    pub(super) rss_peak_bytes: u64,
}

impl LoadReport {
    /// Computes the report from `totals` and `measured`. A ratio with a zero divisor is 0.
    pub(super) fn from_totals(totals: &RunTotals, measured: &LoadMeasurements) -> Self {
        let ratio = |dividend: f64, divisor: f64| {
            if divisor > 0.0 { (dividend / divisor * 10.0).round() / 10.0 } else { 0.0 }
        };
        let percentile_us = |percentile| totals.start_lateness_us.value_at_percentile(percentile);
        Self {
            executed_checks: totals.executed_checks,
            missed_runs: totals.missed_runs,
            lateness_p50_us: percentile_us(50.0),
            lateness_p99_us: percentile_us(99.0),
            lateness_max_us: totals.start_lateness_us.max(),
            cpu_us_per_check: ratio(measured.cpu_time.as_secs_f64() * 1e6, totals.executed_checks as f64),
            stored_results_per_second: ratio(
                measured.stored_count as f64,
                measured.window_length.as_secs_f64(),
            ),
            rss_idle_bytes: measured.rss_idle_bytes,
            rss_peak_bytes: measured.rss_peak_bytes,
            monitor_count: measured.monitor_count,
            not_ok_runs: totals.not_ok_runs,
        }
    }

    /// Renders a table for people.
    pub(super) fn render_table(&self) -> String {
        let rows = [
            ("monitors", self.monitor_count.to_string()),
            ("checks done", self.executed_checks.to_string()),
            ("not ok", self.not_ok_runs.to_string()),
            ("missed", self.missed_runs.to_string()),
            ("start lateness p50", format_duration(self.lateness_p50_us)),
            ("start lateness p99", format_duration(self.lateness_p99_us)),
            ("start lateness max", format_duration(self.lateness_max_us)),
            ("CPU per check", format!("{} µs", self.cpu_us_per_check)),
            ("results stored", format!("{} a second", self.stored_results_per_second)),
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
