//! What an agent tells about itself.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::assignment::AssignmentRevision;
use crate::domain::{AgentId, LocationId, Timestamp};

/// The load of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentLoad {
    /// Number of planned monitors.
    pub planned_monitors: usize,
    /// Number of checks that run, or whose result waits for delivery.
    pub running_checks: usize,
    /// Number of checks that wait for admission.
    pub waiting_checks: usize,
}

/// A heartbeat of an agent. Its receiver decides by its own clock how long ago it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// The location that the agent belongs to.
    pub location_id: LocationId,
    /// Its id; `None` for an agent in the process of the control plane.
    pub agent_id: Option<AgentId>,
    /// Version of its program.
    pub version: Cow<'static, str>,
    /// When it was sent, by the clock of the agent.
    pub sent_at: Timestamp,
    /// By how many microseconds the clock of the control plane is ahead of that of the agent, as the agent measured it;
    /// `None` when it has the same clock, or did not measure it yet.
    pub clock_offset_us: Option<i64>,
    /// Its load; up to a second old.
    pub load: AgentLoad,
    /// Number of browsers that it may run at once.
    pub browser_capacity: usize,
    /// Whether it reached none of its own-connectivity targets lately, so that its failures are not conclusive.
    pub is_isolated: bool,
    /// The revision of the assignments that it has applied.
    pub assignment_revision: AssignmentRevision,
    /// Whether it is shutting down: it starts no more checks once the other agents have taken over.
    pub is_draining: bool,
    /// Its share of the monitors of its location compared with the other agents, at least 1.
    pub weight: u32,
    /// The latest start of a check after its planned time, since the heartbeat before.
    pub lateness: Duration,
    /// What waits in its spool.
    pub spool: SpoolLoad,
    /// How it reaches targets.
    pub network: Arc<AgentNetwork>,
}

/// Most entries of a list in [`AgentNetwork`].
pub const MAX_NETWORK_ENTRIES: usize = 64;
/// Most bytes of a text in [`AgentNetwork`].
pub const MAX_NETWORK_TEXT_BYTES: usize = 300;

/// How an agent reaches targets, as its settings `location` and `proxies` say. Lists have at most
/// [`MAX_NETWORK_ENTRIES`] entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentNetwork {
    /// Source addresses of its connections; those of the routing table for a family without one.
    pub source_addresses: Vec<IpAddr>,
    /// Network interface of its connections; empty: chosen by the routing table.
    pub interface: String,
    /// Its name servers; empty: those of its host.
    pub name_servers: Vec<String>,
    /// Host and port of the proxy for its TCP connections; empty without one.
    pub proxy: String,
    /// Ids of the proxies that monitors can refer to there.
    pub proxy_ids: Vec<i64>,
    /// Networks that its checks may connect to.
    pub egress_allow: Vec<String>,
    /// Networks that its checks may not connect to, beside those that are always denied.
    pub egress_deny: Vec<String>,
    /// Host and port of the targets that tell whether it is cut off itself.
    pub connectivity_targets: Vec<String>,
}

/// What an agent keeps on disk until the control plane has committed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpoolLoad {
    /// Number of results.
    pub results: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Number of results that it dropped since it started: too old, or too many.
    pub dropped_results: u64,
    /// Number of captures that it dropped since it started.
    pub dropped_captures: u64,
    /// Number of results that it still has to send.
    pub waiting_results: u64,
}
