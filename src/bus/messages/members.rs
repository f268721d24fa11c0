//! The agents that share the monitors of a location.

use prost::Message;

use super::error::MessageError;
use super::field::{FieldOf, micros, timestamp};
use super::message_kind::MessageKind;
use crate::domain::AgentId;
use crate::schedule::{LocationMember, LocationMembers};

/// Most agents of one location.
const MAX_MEMBERS: usize = 1_000;

/// The agents that share the monitors of a location, from a planned time on.
#[derive(Clone, PartialEq, Message)]
pub struct MembersMessage {
    /// The first planned time that they share, by the clock of the control plane.
    #[prost(sfixed64, tag = "1")]
    pub effective_at_us: i64,
    /// The agents.
    #[prost(message, repeated, tag = "2")]
    pub members: Vec<MemberMessage>,
}

/// An agent that shares the monitors of its location.
#[derive(Clone, PartialEq, Message)]
pub struct MemberMessage {
    /// Id of the agent.
    #[prost(int64, tag = "1")]
    pub agent_id: i64,
    /// Its share compared with the other agents; 0 counts as 1.
    #[prost(uint32, tag = "2")]
    pub weight: u32,
}

impl MembersMessage {
    /// Creates the message of `members`.
    #[must_use]
    pub fn from_members(members: &LocationMembers) -> Self {
        let to_message =
            |member: &LocationMember| MemberMessage { agent_id: member.agent_id.0, weight: member.weight };
        Self {
            effective_at_us: micros(members.effective_at),
            members: members.members.iter().map(to_message).collect(),
        }
    }

    /// Returns the members.
    ///
    /// # Errors
    /// Fails for too many agents.
    pub fn into_members(self) -> Result<LocationMembers, MessageError> {
        if self.members.len() > MAX_MEMBERS {
            let reason = format!("it has {} agents, more than {MAX_MEMBERS}", self.members.len());
            return Err(FieldOf(MessageKind::Assignments, "members").invalid(reason));
        }
        let to_member = |member: MemberMessage| LocationMember {
            agent_id: AgentId(member.agent_id),
            weight: member.weight.max(1),
        };
        Ok(LocationMembers {
            effective_at: timestamp(self.effective_at_us),
            members: self.members.into_iter().map(to_member).collect(),
        })
    }
}
