//! Assignments reach agents: changes, removals, many at once, after restarts of each part, and after a lost stream.

use std::sync::Arc;

use vigie::bus::contract::{AssignmentUpdate, LocationBus};
use vigie::domain::MonitorId;

use super::fixture::{Agent, Control, ControlPlane, LOCATION, assign, location, until};
use crate::bus::samples::assigned;
use crate::support::nats::NatsServer;

async fn publish(control: &Control, updates: Vec<AssignmentUpdate>) {
    let id = |update: &AssignmentUpdate| match update {
        AssignmentUpdate::Assign(assigned) => assigned.monitor.id,
        AssignmentUpdate::Unassign { monitor_id, .. } => *monitor_id,
        _ => unreachable!(),
    };
    let apply = |wanted: &mut Vec<AssignmentUpdate>| {
        for update in &updates {
            wanted.retain(|one| id(one) != id(update));
            if matches!(update, AssignmentUpdate::Assign(_)) {
                wanted.push(update.clone());
            }
        }
    };
    apply(&mut control.plane.wanted.lock().unwrap());
    control.bus.publish(LOCATION, updates).await.unwrap();
}

fn unassign(id: i64) -> AssignmentUpdate {
    AssignmentUpdate::Unassign { monitor_id: MonitorId(id), cancel_running: true }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_reach_an_agent_and_survive_restarts_of_every_part() {
    let mut server = NatsServer::start();
    let plane = Arc::new(ControlPlane::default());
    let control = Control::start(&server, plane.clone()).await;
    let agent = Agent::start(&server, 1).await;
    publish(&control, vec![assign(1, 1), assign(2, 1)]).await;
    until("two monitors", || agent.applied.monitor_ids() == [1, 2]).await;
    publish(&control, vec![assign(1, 2), unassign(2), assign(3, 1)]).await;
    until("a change and a removal", || agent.applied.monitor_ids() == [1, 3]).await;
    assert_eq!(agent.applied.monitors.lock().unwrap()[&1].monitor.revision.0, 2);
    // Monitors that were never assigned there are not removed there.
    let revision = *agent.applied.revision.lock().unwrap();
    publish(&control, vec![unassign(77)]).await;

    // The control plane starts again, with other assignments meanwhile.
    drop(control);
    *plane.wanted.lock().unwrap() = vec![assign(3, 1), assign(4, 1)];
    let control = Control::start(&server, plane).await;
    until("what changed while the control plane was away", || agent.applied.monitor_ids() == [3, 4]).await;
    let changes = *agent.applied.revision.lock().unwrap() - revision;
    assert_eq!(changes, 2, "what stayed was published again");

    // Another agent starts from nothing.
    let second = Agent::start(&server, 2).await;
    until("the second agent", || second.applied.monitor_ids() == [3, 4]).await;

    // NATS starts again with its data, then without.
    server.kill();
    server.restart();
    publish(&control, vec![assign(5, 1)]).await;
    until("after a restart", || agent.applied.monitor_ids() == [3, 4, 5]).await;
    server.kill();
    std::fs::remove_dir_all(server.stream_folder()).unwrap();
    server.restart();
    publish(&control, vec![assign(6, 1)]).await;
    for agent in [&agent, &second] {
        until("after the loss of the streams", || agent.applied.monitor_ids() == [3, 4, 5, 6]).await;
    }
    // A change still comes as one.
    publish(&control, vec![assign(7, 1), unassign(3)]).await;
    until("a change in the new stream", || agent.applied.monitor_ids() == [4, 5, 6, 7]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_monitors_come_in_a_snapshot_and_old_changes_are_purged() {
    let server = NatsServer::start();
    let plane = Arc::new(ControlPlane::default());
    *plane.wanted.lock().unwrap() = (1..=5_000).map(|id| assign(id, 1)).collect();
    let control = Control::start(&server, plane.clone()).await;
    let agent = Agent::start(&server, 1).await;
    until("5,000 monitors", || agent.applied.monitor_ids().len() == 5_000).await;
    let revision = *agent.applied.revision.lock().unwrap();
    assert!(revision <= 3, "a message for each monitor: revision {revision}");
    let snapshots = *agent.applied.snapshots.lock().unwrap();

    // An agent that follows gets single changes as such, and many of them by a new snapshot.
    publish(&control, vec![unassign(17)]).await;
    until("a removal", || agent.applied.monitor_ids().len() == 4_999).await;
    assert_eq!(*agent.applied.snapshots.lock().unwrap(), snapshots);
    drop(control);
    *plane.wanted.lock().unwrap() = (3_000..=9_000).map(|id| assign(id, 2)).collect();
    let control = Control::start(&server, plane.clone()).await;
    until("other monitors", || agent.applied.monitor_ids() == (3_000..=9_000).collect::<Vec<_>>()).await;
    assert!(*agent.applied.snapshots.lock().unwrap() > snapshots);

    // After many single changes a snapshot has them, and agents that start later need none of the messages.
    for round in 0..5 {
        let changes = (3_000..3_700).map(|id| assign(id, 3 + round)).collect();
        publish(&control, changes).await;
    }
    until("the last changes", || agent.applied.monitors.lock().unwrap()[&3_699].monitor.revision.0 == 7)
        .await;
    let second = Agent::start(&server, 2).await;
    until("the second agent", || second.applied.monitor_ids().len() == 6_001).await;
    until("the newest revision", || second.applied.monitors.lock().unwrap()[&3_699].monitor.revision.0 == 7)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_key_has_what_the_old_one_sealed_published_again() {
    let server = NatsServer::start();
    let plane = Arc::new(ControlPlane::default());
    // The second one has a secret.
    let with_secret = AssignmentUpdate::Assign(assigned());
    *plane.wanted.lock().unwrap() = vec![assign(1, 1), with_secret];
    let control = Control::start(&server, plane.clone()).await;
    let agent = Agent::start(&server, 1).await;
    until("both monitors", || agent.applied.monitor_ids() == [1, 4711]).await;
    let assigned = || agent.applied.assigned.lock().unwrap().clone();
    let before = assigned();

    control.bus.set_locations(vec![location(LOCATION, 2)]);
    control.bus.reseal(LOCATION).await;
    until("the one that is sealed", || assigned().len() > before.len()).await;
    assert_eq!(assigned()[before.len()..], [4711]);

    // A control plane that starts finds what the old key sealed, too.
    drop(control);
    let control = Control::start(&server, plane).await;
    until("again, with the first key", || assigned().len() > before.len() + 1).await;
    assert_eq!(assigned()[before.len()..], [4711, 4711]);
    drop(control);
}
