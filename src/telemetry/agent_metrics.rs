//! Metrics of each agent on another host, read when metrics are collected.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::domain::{AgentId, LocationId, Timestamp};

/// Most agents with series of their own.
const MAX_AGENTS: usize = 10_000;

/// An agent as its last heartbeat shows it.
#[derive(Clone, Debug)]
pub struct AgentSample {
    /// Its location.
    pub location_id: LocationId,
    /// Its id.
    pub agent_id: AgentId,
    /// Whether heartbeats come.
    pub is_online: bool,
    /// When the last heartbeat came.
    pub last_seen_at: Timestamp,
    /// By how many microseconds the clock of the server is ahead; `None` before it was measured.
    pub clock_offset_us: Option<i64>,
    /// The latest start of a check after its planned time.
    pub lateness: Duration,
    /// Number of planned monitors.
    pub planned_monitors: u64,
    /// Number of checks that run, or whose result waits for delivery.
    pub running_checks: u64,
    /// Number of checks that wait for admission.
    pub waiting_checks: u64,
    /// Number of results in its spool.
    pub spool_results: u64,
    /// Number of results in its spool that it still has to send.
    pub waiting_results: u64,
    /// Size of its spool in bytes.
    pub spool_bytes: u64,
    /// Number of results that its spool dropped since it started.
    pub dropped_results: u64,
    /// Number of captures that its spool dropped since it started.
    pub dropped_captures: u64,
}

/// Returns the agents on other hosts.
pub type AgentLookup = Arc<dyn Fn() -> Vec<AgentSample> + Send + Sync>;

/// The lookup of agents, once it is set.
#[derive(Clone, Default)]
pub(super) struct AgentSource(Arc<OnceLock<AgentLookup>>);

impl AgentSource {
    /// Sets the lookup; only the first call counts.
    pub(super) fn set(&self, lookup: AgentLookup) {
        let _ = self.0.set(lookup);
    }
}

impl fmt::Debug for AgentSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("AgentSource").field(&self.0.get().is_some()).finish()
    }
}

/// Labels of an agent. Only agents that enrolled reach the bus, so the number of series is bounded by theirs.
#[derive(Clone, Debug, EncodeLabelSet)]
struct AgentLabels {
    location_id: i64,
    agent_id: i64,
}

/// Labels of what the spool of an agent dropped.
#[derive(Clone, Debug, EncodeLabelSet)]
struct DroppedLabels {
    location_id: i64,
    agent_id: i64,
    kind: &'static str,
}

/// A gauge of each agent: its name, its help, and its value, `None` for one that is not known.
type AgentGauge = (&'static str, &'static str, fn(&AgentSample) -> Option<f64>);

const GAUGES: [AgentGauge; 10] = [
    ("vigie_agent_online", "1 while heartbeats of the agent come, otherwise 0", |agent| {
        Some(f64::from(u8::from(agent.is_online)))
    }),
    (
        "vigie_agent_last_seen_timestamp_seconds",
        "When the last heartbeat of the agent came, Unix time",
        |agent| Some(micros_to_seconds(agent.last_seen_at.as_micros())),
    ),
    (
        "vigie_agent_clock_offset_seconds",
        "By how much the clock of the server is ahead of that of the agent",
        |agent| agent.clock_offset_us.map(micros_to_seconds),
    ),
    (
        "vigie_agent_lateness_seconds",
        "Latest start of a check of the agent after its planned time, between its last two heartbeats",
        |agent| Some(agent.lateness.as_secs_f64()),
    ),
    ("vigie_agent_monitors_planned", "Monitors that the agent checks", |agent| {
        Some(agent.planned_monitors as f64)
    }),
    ("vigie_agent_checks_in_flight", "Checks of the agent in progress", |agent| {
        Some(agent.running_checks as f64)
    }),
    ("vigie_agent_runs_queued", "Due runs of the agent that wait for admission", |agent| {
        Some(agent.waiting_checks as f64)
    }),
    ("vigie_agent_spool_results", "Results in the spool of the agent", |agent| {
        Some(agent.spool_results as f64)
    }),
    ("vigie_agent_results_waiting", "Results in the spool that the agent still has to send", |agent| {
        Some(agent.waiting_results as f64)
    }),
    ("vigie_agent_spool_bytes", "Size of the spool of the agent in bytes", |agent| {
        Some(agent.spool_bytes as f64)
    }),
];

/// Encodes what [`AgentSource`] supplies; no series without agents.
#[derive(Debug)]
pub(super) struct AgentCollector {
    source: AgentSource,
}

impl AgentCollector {
    pub(super) fn new(source: AgentSource) -> Self {
        Self { source }
    }
}

impl Collector for AgentCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut agents = self.source.0.get().map(|lookup| lookup()).unwrap_or_default();
        agents.truncate(MAX_AGENTS);
        if agents.is_empty() {
            return Ok(());
        }
        for (name, help, value) in GAUGES {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for agent in &agents {
                if let Some(value) = value(agent) {
                    let labels = AgentLabels { location_id: agent.location_id.0, agent_id: agent.agent_id.0 };
                    ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
                }
            }
        }
        let help = "Results and captures that the spool of the agent dropped since it started";
        let mut family =
            encoder.encode_descriptor("vigie_agent_spool_dropped", help, None, MetricType::Counter)?;
        for agent in &agents {
            let (location_id, agent_id) = (agent.location_id.0, agent.agent_id.0);
            for (kind, count) in [("result", agent.dropped_results), ("capture", agent.dropped_captures)] {
                let labels = DroppedLabels { location_id, agent_id, kind };
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

fn micros_to_seconds(micros: i64) -> f64 {
    micros as f64 / 1e6
}
