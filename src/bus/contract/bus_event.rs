//! What happens on the bus and somebody should know.

use std::borrow::Cow;

use crate::domain::{AgentId, LocationId};

/// Something that happened on the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusEvent {
    /// The location.
    pub location_id: LocationId,
    /// The agent.
    pub agent_id: AgentId,
    /// What it is.
    pub kind: BusEventKind,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusEventKind {
    /// The agent sends heartbeats, with this version of the program.
    Online(Cow<'static, str>),
    /// No heartbeat of the agent came for a while.
    Offline,
    /// The agent runs another version of the program than before.
    VersionChanged {
        /// The version before.
        old: Cow<'static, str>,
        /// The version now.
        new: Cow<'static, str>,
    },
    /// The agent dropped results and captures from its spool.
    SpoolDropped {
        /// Number of results since the last event.
        results: u64,
        /// Number of captures since the last event.
        captures: u64,
    },
    /// The clock of the agent is off by more than half a second: by how many microseconds that of the control plane is
    /// ahead.
    ClockOff(i64),
    /// A message of the agent was refused, for this reason.
    Refused(String),
}

impl BusEventKind {
    /// Returns the stable name, of the event and in metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Online(_) => "agent_online",
            Self::Offline => "agent_offline",
            Self::VersionChanged { .. } => "agent_version_changed",
            Self::SpoolDropped { .. } => "agent_spool_dropped",
            Self::ClockOff(_) => "agent_clock_off",
            Self::Refused(_) => "agent_message_refused",
        }
    }
}

/// Receives events of the bus.
pub trait BusEventSink: Send + Sync + 'static {
    /// Records `event`. Does not wait.
    fn record(&self, event: BusEvent);
}
