//! The heartbeat of an agent.

use std::borrow::Cow;

use prost::Message;

use super::encoded_message::BusMessage;
use super::error::MessageError;
use super::field::{FieldOf, micros, timestamp};
use super::message_kind::MessageKind;
use crate::bus::contract::{AgentLoad, AssignmentRevision, Presence};
use crate::domain::LocationId;

/// Most bytes of the version of a program.
const MAX_VERSION_BYTES: usize = 64;

/// A heartbeat.
#[derive(Clone, PartialEq, Message)]
pub struct PresenceMessage {
    /// The location that the agent belongs to.
    #[prost(int64, tag = "1")]
    pub location_id: i64,
    /// Version of its program.
    #[prost(string, tag = "2")]
    pub version: String,
    /// When it was sent, by the clock of the agent.
    #[prost(sfixed64, tag = "3")]
    pub sent_at_us: i64,
    /// By how much the clock of the control plane is ahead; absent when it was not measured.
    #[prost(sint64, optional, tag = "4")]
    pub clock_offset_us: Option<i64>,
    /// Number of planned monitors.
    #[prost(uint64, tag = "5")]
    pub planned_monitors: u64,
    /// Number of checks that run, or whose result waits for delivery.
    #[prost(uint64, tag = "6")]
    pub running_checks: u64,
    /// Number of checks that wait for admission.
    #[prost(uint64, tag = "7")]
    pub waiting_checks: u64,
    /// Number of browsers that may run at once.
    #[prost(uint64, tag = "8")]
    pub browser_capacity: u64,
    /// Whether the agent reached none of its own-connectivity targets lately.
    #[prost(bool, tag = "9")]
    pub is_isolated: bool,
    /// The revision of the assignments that it has applied.
    #[prost(uint64, tag = "10")]
    pub assignment_revision: u64,
}

impl BusMessage for PresenceMessage {
    const KIND: MessageKind = MessageKind::Presence;
}

impl PresenceMessage {
    /// Creates the message of `presence`.
    #[must_use]
    pub fn from_presence(presence: &Presence) -> Self {
        Self {
            location_id: presence.location_id.0,
            version: presence.version.clone().into_owned(),
            sent_at_us: micros(presence.sent_at),
            clock_offset_us: presence.clock_offset_us,
            planned_monitors: presence.load.planned_monitors as u64,
            running_checks: presence.load.running_checks as u64,
            waiting_checks: presence.load.waiting_checks as u64,
            browser_capacity: presence.browser_capacity as u64,
            is_isolated: presence.is_isolated,
            assignment_revision: presence.assignment_revision.0,
        }
    }

    /// Returns the heartbeat.
    ///
    /// # Errors
    /// Fails for a version that is too long, and for numbers that are too large.
    pub fn into_presence(self) -> Result<Presence, MessageError> {
        let field = |name| FieldOf(Self::KIND, name);
        let count = |name, number: u64| {
            usize::try_from(number).map_err(|_| field(name).invalid(format!("{number} is too large")))
        };
        if self.version.is_empty() || self.version.len() > MAX_VERSION_BYTES {
            let reason = format!("it has {} bytes, not 1 to {MAX_VERSION_BYTES}", self.version.len());
            return Err(field("version").invalid(reason));
        }
        Ok(Presence {
            location_id: LocationId(self.location_id),
            version: Cow::Owned(self.version),
            sent_at: timestamp(self.sent_at_us),
            clock_offset_us: self.clock_offset_us,
            load: AgentLoad {
                planned_monitors: count("planned_monitors", self.planned_monitors)?,
                running_checks: count("running_checks", self.running_checks)?,
                waiting_checks: count("waiting_checks", self.waiting_checks)?,
            },
            browser_capacity: count("browser_capacity", self.browser_capacity)?,
            is_isolated: self.is_isolated,
            assignment_revision: AssignmentRevision(self.assignment_revision),
        })
    }
}
