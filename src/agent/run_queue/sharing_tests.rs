//! Tests of runs that the agents of a location share.

use super::tests::{LIMITS, START, assignment};
use super::*;
use crate::domain::{AgentId, LocationId};
use crate::schedule::{LocationMember, LocationMembers, RunPlan, SlotGrid};

const MINUTE: Duration = Duration::from_mins(1);
const SECOND: Duration = Duration::from_secs(1);

fn members(effective_at: Timestamp, agents: &[i64]) -> LocationMembers {
    let members = agents.iter().map(|id| LocationMember { agent_id: AgentId(*id), weight: 1 });
    LocationMembers { effective_at, members: members.collect() }
}

/// Returns the planned times of the checks that the agent `agent` starts within two minutes of a Round Robin monitor, for
/// which this location comes second: half an interval after the planned time. The agent 2 follows the agent 1 at
/// `handover_at`.
fn starts_of(agent: i64, handover_at: Timestamp) -> Vec<Timestamp> {
    let sharing = Arc::new(MonitorSharing::shared(AgentId(agent)));
    sharing.set_members(members(START, &[1]));
    sharing.set_members(members(handover_at, &[2]));
    let plan = RunPlan {
        slot_grid: SlotGrid::new(MonitorId(1), MINUTE, Some(Duration::ZERO)),
        location_pool: vec![LocationId(9), LocationId(1)],
        locations_per_run: 2,
        rotates_locations: false,
        staggered: true,
        max_check_duration: SECOND,
    };
    let mut shared = assignment(1, MINUTE, Some(Duration::ZERO));
    shared.location_rotation = plan.location_rotation(LocationId(1)).unwrap();
    let mut queue = RunQueue::new(LIMITS, START).with_sharing(sharing);
    queue.upsert(Arc::new(shared), START);
    let mut planned = Vec::new();
    for second in 0..=120 {
        let (now, mut starts) = (START + second * SECOND, Vec::new());
        queue.tick(now, &mut starts);
        for start in std::mem::take(&mut starts) {
            planned.push(start.planned_at);
            queue.on_check_finished(start.monitor_index, now, &mut starts);
        }
    }
    assert!(!queue.has_missed_series());
    planned
}

#[test]
fn a_check_that_starts_after_a_handover_is_not_left_to_the_agent_that_went() {
    let slot = START + MINUTE;
    // Between the planned time and the start at this location; then the old agent may have ended.
    let handover_at = slot + 10 * SECOND;
    assert_eq!(starts_of(1, handover_at), []);
    assert_eq!(starts_of(2, handover_at), [slot]);
    // After its start, it is that of the old one.
    let handover_at = slot + 40 * SECOND;
    assert_eq!(starts_of(1, handover_at), [slot]);
    assert_eq!(starts_of(2, handover_at), []);
}
