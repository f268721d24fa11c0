//! Which monitors of its location an agent checks.

use crate::domain::{AgentId, MonitorId, Timestamp};
use crate::schedule::{LocationMembers, MembersHistory};
use crate::sync::RwLock;

/// Which monitors of its location an agent checks. All agents of a location get all of its monitors, so that another
/// one takes over the share of an agent that died without a new assignment.
#[derive(Debug, Default)]
pub struct MonitorSharing {
    /// `None` for the only agent of a location.
    agent_id: Option<AgentId>,
    history: RwLock<MembersHistory>,
}

impl MonitorSharing {
    /// Creates the sharing of the only agent of a location: it checks every monitor.
    #[must_use]
    pub fn sole() -> Self {
        Self::default()
    }

    /// Creates the sharing of the agent `agent_id`. It checks nothing until it knows the members of its location.
    #[must_use]
    pub fn shared(agent_id: AgentId) -> Self {
        Self { agent_id: Some(agent_id), history: RwLock::default() }
    }

    /// Adds a change of the agents of the location.
    pub fn set_members(&self, members: LocationMembers) {
        self.history.write().push(members);
    }

    /// Whether this agent makes the check of `monitor` that starts at `starts_at`, its delay at this location included.
    #[must_use]
    pub fn owns(&self, monitor: MonitorId, starts_at: Timestamp) -> bool {
        self.agent_id.is_none_or(|own| self.history.read().owner(monitor, starts_at) == Some(own))
    }

    /// Whether this agent makes any check that starts at `starts_at` or later.
    #[must_use]
    pub fn is_member_from(&self, starts_at: Timestamp) -> bool {
        let Some(own) = self.agent_id else { return true };
        let history = self.history.read();
        let is_own = |members: &LocationMembers| members.members.iter().any(|member| member.agent_id == own);
        history.last().is_some_and(|last| is_own(last) || last.effective_at > starts_at)
    }
}
