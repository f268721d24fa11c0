//! How the monitors of a cluster spread over its seconds and agents: computed with the hashes that agents use.

use std::time::Duration;

use super::cluster_plan::ClusterPlan;
use crate::domain::{AgentId, MonitorId, Timestamp};
use crate::schedule::{LocationMember, LocationMembers, SlotGrid};

/// The spread of an interval.
#[derive(Debug)]
pub(super) struct Spread {
    /// Planned runs of each second of the interval.
    pub(super) runs_of_second: Vec<u32>,
    /// Monitors of each agent.
    pub(super) monitors_of_agent: Vec<u32>,
}

impl Spread {
    /// Computes the spread of `plan`: each monitor runs at one location.
    pub(super) fn of(plan: &ClusterPlan) -> Self {
        let interval = Duration::from_secs(plan.interval_seconds.into());
        let mut runs_of_second = vec![0; plan.interval_seconds as usize];
        let mut monitors_of_agent = vec![0; plan.agents as usize];
        let locations = members_of_locations(plan);
        for id in 0..plan.monitors {
            let monitor = MonitorId(i64::from(id) + 1);
            let first = SlotGrid::new(monitor, interval, None).first_slot_at_or_after(Timestamp::default());
            let second = usize::try_from(first.as_micros() / 1_000_000).unwrap_or_default();
            runs_of_second[second] += 1;
            let location = &locations[(id % plan.locations) as usize];
            let owner = location.owner(monitor).and_then(|agent| usize::try_from(agent.0).ok());
            if let Some(agent) = owner.and_then(|number| monitors_of_agent.get_mut(number)) {
                *agent += 1;
            }
        }
        Self { runs_of_second, monitors_of_agent }
    }

    pub(super) fn busiest_second(&self) -> u32 {
        self.runs_of_second.iter().copied().max().unwrap_or_default()
    }

    pub(super) fn busiest_agent(&self) -> u32 {
        self.monitors_of_agent.iter().copied().max().unwrap_or_default()
    }
}

fn members_of_locations(plan: &ClusterPlan) -> Vec<LocationMembers> {
    let member = |agent: u32| LocationMember { agent_id: AgentId(agent.into()), weight: 1 };
    let members_of = |location: u32| LocationMembers {
        effective_at: Timestamp::default(),
        members: (location..plan.agents).step_by(plan.locations as usize).map(member).collect(),
    };
    (0..plan.locations).map(members_of).collect()
}
