//! What the command orders the process of the agents, and its replies: one line of JSON each.

use serde::{Deserialize, Serialize};

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AgentsOrder {
    /// Reply once all agents are connected.
    Connect,
    /// Reply once each agent has planned so many monitors.
    AwaitPlanned(usize),
    /// Measure the runs that are planned from the first time to the second, in microseconds since 1970; reply after it.
    Measure(i64, i64),
    /// Finish the checks; reply with the counts.
    Finish,
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AgentsReply {
    /// What was awaited happened at this time, in microseconds since 1970.
    At(i64),
    /// The processor time of all agents in the measured time, in microseconds.
    CpuUs(u64),
    /// The counts of the measured runs.
    Counts(RunCounts),
}

/// Counts of the measured runs at all agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunCounts {
    /// Executed runs.
    pub(super) executed_checks: u64,
    /// Executed runs with another outcome than ok.
    pub(super) not_ok_runs: u64,
    /// Missed runs.
    pub(super) missed_runs: u64,
    /// Median start lateness, in microseconds.
    pub(super) lateness_p50_us: u64,
    /// 99th percentile of the start lateness, in microseconds.
    pub(super) lateness_p99_us: u64,
    /// Largest start lateness, in microseconds.
    pub(super) lateness_max_us: u64,
    /// Main reason of the first run that was not ok.
    pub(super) first_not_ok_reason: Option<String>,
}
