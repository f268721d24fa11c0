//! Which agent of a location checks a monitor: weighted rendezvous hashing over the agents that are alive.
//!
//! Each agent computes it by itself. A change of the members moves only the monitors of the agents that came, went, or
//! have another weight.

use std::collections::VecDeque;

use crate::domain::id::mix_hash;
use crate::domain::{AgentId, MonitorId, Timestamp};

/// Most changes that are remembered, so that slots before the last one still have their agent.
const MAX_HISTORY: usize = 16;

/// An agent that shares the monitors of its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationMember {
    /// The agent.
    pub agent_id: AgentId,
    /// Its share compared with the other agents, at least 1.
    pub weight: u32,
}

/// The agents that share the monitors of a location, from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationMembers {
    /// When the checks that they share start, by the clock of the control plane. The delay of a location counts.
    pub effective_at: Timestamp,
    /// The agents, by ascending id.
    pub members: Vec<LocationMember>,
}

impl LocationMembers {
    /// Returns the agents, that which checks `monitor` first, then each that does so without those before it.
    #[must_use]
    pub fn ranked(&self, monitor: MonitorId) -> Vec<AgentId> {
        let mut scored: Vec<_> =
            self.members.iter().map(|member| (score(*member, monitor), member.agent_id)).collect();
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        scored.into_iter().map(|(_, agent_id)| agent_id).collect()
    }

    /// Returns the agent that checks `monitor`; `None` without any agent.
    #[must_use]
    pub fn owner(&self, monitor: MonitorId) -> Option<AgentId> {
        let scored = self.members.iter().map(|member| (score(*member, monitor), member.agent_id));
        scored.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, agent_id)| agent_id)
    }
}

/// Returns the score of a member for a monitor: the highest one has it. With `u` uniform in (0, 1), `-weight / ln u` is
/// the highest with a probability in proportion to the weight.
fn score(member: LocationMember, monitor: MonitorId) -> f64 {
    let hash = mix_hash(monitor.hash(), member.agent_id.0);
    // 53 bits are exact as a float; the half keeps it off 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let uniform = ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -f64::from(member.weight.max(1)) / uniform.ln()
}

/// The members of a location over time.
#[derive(Clone, Debug, Default)]
pub struct MembersHistory {
    /// By ascending `effective_at`.
    changes: VecDeque<LocationMembers>,
}

impl MembersHistory {
    /// Adds a change. One that takes effect before a later one that is known replaces that.
    pub fn push(&mut self, members: LocationMembers) {
        while self.changes.back().is_some_and(|last| last.effective_at >= members.effective_at) {
            self.changes.pop_back();
        }
        self.changes.push_back(members);
        while self.changes.len() > MAX_HISTORY {
            self.changes.pop_front();
        }
    }

    /// Returns the newest change, whether it is in effect or not.
    #[must_use]
    pub fn last(&self) -> Option<&LocationMembers> {
        self.changes.back()
    }

    /// Returns the agent that makes the check of `monitor` that starts at `starts_at`; `None` while no members are known.
    /// Checks before the first change that is known belong to its members.
    #[must_use]
    pub fn owner(&self, monitor: MonitorId, starts_at: Timestamp) -> Option<AgentId> {
        let in_effect = self.changes.iter().rev().find(|change| change.effective_at <= starts_at);
        in_effect.or_else(|| self.changes.front())?.owner(monitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + second)
    }

    fn members(effective_at: i64, agents: &[(i64, u32)]) -> LocationMembers {
        let members =
            agents.iter().map(|(id, weight)| LocationMember { agent_id: AgentId(*id), weight: *weight });
        LocationMembers { effective_at: at(effective_at), members: members.collect() }
    }

    fn shares(members: &LocationMembers) -> HashMap<i64, usize> {
        let mut shares = HashMap::new();
        for monitor in 1..=10_000 {
            *shares.entry(members.owner(MonitorId(monitor)).unwrap().0).or_default() += 1;
        }
        shares
    }

    #[test]
    fn monitors_are_shared_by_weight() {
        let shares = shares(&members(0, &[(1, 1), (2, 1), (3, 2)]));
        assert!((2_300..2_700).contains(&shares[&1]), "{shares:?}");
        assert!((2_300..2_700).contains(&shares[&2]), "{shares:?}");
        assert!((4_800..5_200).contains(&shares[&3]), "{shares:?}");
    }

    #[test]
    fn only_the_monitors_of_an_agent_that_went_move() {
        let (before, after) = (members(0, &[(1, 1), (2, 1), (3, 1)]), members(0, &[(1, 1), (3, 1)]));
        for monitor in (1..=10_000).map(MonitorId) {
            let owner = before.owner(monitor).unwrap();
            if owner != AgentId(2) {
                assert_eq!(after.owner(monitor), Some(owner));
            }
        }
    }

    #[test]
    fn a_check_belongs_to_the_members_at_its_start() {
        let mut history = MembersHistory::default();
        assert_eq!(history.owner(MonitorId(1), at(0)), None);
        history.push(members(100, &[(1, 1)]));
        history.push(members(200, &[(2, 1)]));
        let owner = |second| history.owner(MonitorId(1), at(second)).unwrap().0;
        assert_eq!([owner(0), owner(199), owner(200), owner(900)], [1, 1, 2, 2]);
        // A change that overtakes one which has not taken effect yet.
        let mut history = history.clone();
        history.push(members(150, &[(3, 1)]));
        assert_eq!(history.owner(MonitorId(1), at(200)).unwrap().0, 3);
        assert_eq!(history.last().unwrap().effective_at, at(150));
    }
}
