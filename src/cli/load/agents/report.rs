//! The figures of a load run with agents, as a table and as JSON.

use std::time::Duration;

use serde::Serialize;

use super::orders::RunCounts;
use crate::service::result_view::format_duration;

/// Measurements of a load run with agents. The JSON keys are those of behaviour.md 9.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct AgentsReport {
    /// Agents.
    agents: u32,
    /// Monitors of all agents.
    monitors: u64,
    /// Time from the start of the control plane until every agent has planned all of its monitors, in microseconds.
    assigned_us: u64,
    /// Executed runs within the measured time.
    checks: u64,
    /// Checks with another outcome than ok.
    not_ok: u64,
    /// Missed runs.
    missed: u64,
    /// Checks and missed runs whose result is not in the database.
    lost: u64,
    lateness_p50_us: u64,
    lateness_p99_us: u64,
    lateness_max_us: u64,
    /// Processor time of the process of the agents per check, in microseconds.
    agents_cpu_us_per_check: f64,
    /// Processor time of the control plane per check, in microseconds.
    control_cpu_us_per_check: f64,
    /// Results that the store acknowledged per second.
    stored_per_s: f64,
    /// Bytes of the messages that the NATS server received and sent per check.
    bus_bytes_per_check: f64,
    /// Memory of the control plane for each connected agent without monitors, in bytes.
    rss_per_idle_agent_bytes: u64,
    /// Memory of the control plane with all monitors assigned, in bytes.
    rss_idle_bytes: u64,
    /// Highest memory of the control plane until the end, in bytes.
    rss_peak_bytes: u64,
}

/// Measurements besides the counts of runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measurements {
    pub(super) assigned: Duration,
    pub(super) window: Duration,
    pub(super) stored_in_window: u64,
    /// Results of runs planned in the window that the database has at the end.
    pub(super) stored_of_window: u64,
    pub(super) agents_cpu: Duration,
    pub(super) control_cpu: Duration,
    pub(super) bus_bytes: u64,
    pub(super) rss_without_agents: u64,
    pub(super) rss_with_idle_agents: u64,
    pub(super) rss_assigned: u64,
    pub(super) rss_peak: u64,
}

impl AgentsReport {
    /// Computes the report of `agent_count` agents with `monitors_per_agent` monitors. A ratio with a zero divisor is 0.
    pub(super) fn new(
        (agent_count, monitors_per_agent): (u32, u32),
        counts: &RunCounts,
        measured: &Measurements,
    ) -> Self {
        let ratio = |dividend: f64, divisor: f64| {
            if divisor > 0.0 { (dividend / divisor * 10.0).round() / 10.0 } else { 0.0 }
        };
        let checks = counts.executed_checks as f64;
        let us_per_check = |time: Duration| ratio(time.as_secs_f64() * 1e6, checks);
        let runs = counts.executed_checks + counts.missed_runs;
        let idle_bytes = measured.rss_with_idle_agents.saturating_sub(measured.rss_without_agents);
        Self {
            agents: agent_count,
            monitors: u64::from(agent_count) * u64::from(monitors_per_agent),
            assigned_us: u64::try_from(measured.assigned.as_micros()).unwrap_or(u64::MAX),
            checks: counts.executed_checks,
            not_ok: counts.not_ok_runs,
            missed: counts.missed_runs,
            lost: runs.saturating_sub(measured.stored_of_window),
            lateness_p50_us: counts.lateness_p50_us,
            lateness_p99_us: counts.lateness_p99_us,
            lateness_max_us: counts.lateness_max_us,
            agents_cpu_us_per_check: us_per_check(measured.agents_cpu),
            control_cpu_us_per_check: us_per_check(measured.control_cpu),
            stored_per_s: ratio(measured.stored_in_window as f64, measured.window.as_secs_f64()),
            bus_bytes_per_check: ratio(measured.bus_bytes as f64, checks),
            rss_per_idle_agent_bytes: idle_bytes / u64::from(agent_count.max(1)),
            rss_idle_bytes: measured.rss_assigned,
            rss_peak_bytes: measured.rss_peak,
        }
    }

    /// Renders a table for people.
    pub(super) fn render_table(&self) -> String {
        let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        let rows = [
            ("agents", self.agents.to_string()),
            ("monitors", self.monitors.to_string()),
            ("all assigned after", format_duration(self.assigned_us)),
            ("checks done", self.checks.to_string()),
            ("not ok", self.not_ok.to_string()),
            ("missed", self.missed.to_string()),
            ("lost", self.lost.to_string()),
            ("start lateness p50", format_duration(self.lateness_p50_us)),
            ("start lateness p99", format_duration(self.lateness_p99_us)),
            ("start lateness max", format_duration(self.lateness_max_us)),
            ("CPU per check, agents", format!("{} µs", self.agents_cpu_us_per_check)),
            ("CPU per check, control plane", format!("{} µs", self.control_cpu_us_per_check)),
            ("results stored", format!("{} a second", self.stored_per_s)),
            ("bytes on the bus per check", self.bus_bytes_per_check.to_string()),
            ("memory per idle agent", format!("{:.1} kB", self.rss_per_idle_agent_bytes as f64 / 1e3)),
            ("memory, all assigned", megabytes(self.rss_idle_bytes)),
            ("memory, peak", megabytes(self.rss_peak_bytes)),
        ];
        let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<29} {value:>16}")).collect();
        lines.join("\n") + "\n"
    }
}
