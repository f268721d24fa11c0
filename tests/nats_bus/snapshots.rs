//! A snapshot that was cut off in the object store: agents keep what they have, and a new one is made.

use std::sync::Arc;

use async_nats::jetstream;
use vigie::bus::contract::LocationBus;
use vigie::bus::nats::subjects::snapshots_stream;

use super::fixture::{Agent, Control, ControlPlane, LOCATION, assign, connect, until};
use crate::support::nats::NatsServer;

/// Removes the last chunk of the snapshot.
async fn cut_off(server: &NatsServer) {
    let context = jetstream::new(connect(server).await.client().clone());
    let stream = context.get_stream(snapshots_stream(LOCATION)).await.unwrap();
    let subject = format!("$O.{}.C.>", snapshots_stream(LOCATION).trim_start_matches("OBJ_"));
    let last = stream.get_last_raw_message_by_subject(&subject).await.unwrap();
    assert!(stream.delete_message(last.sequence).await.unwrap());
}

fn wanted(count: i64, revision: i64) -> Vec<vigie::bus::contract::AssignmentUpdate> {
    (1..=count).map(|id| assign(id, revision)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_was_cut_off_is_made_again() {
    let server = NatsServer::start();
    let plane = Arc::new(ControlPlane::default());
    *plane.wanted.lock().unwrap() = wanted(2_500, 1);
    let control = Control::start(&server, plane.clone()).await;
    let agent = Agent::start(&server, 1).await;
    until("2,500 monitors", || agent.applied.monitor_ids().len() == 2_500).await;
    cut_off(&server).await;
    // One that starts needs it, finds it damaged, and gets the next one.
    let second = Agent::start(&server, 2).await;
    until("2,500 monitors at the second agent", || second.applied.monitor_ids().len() == 2_500).await;
    assert_eq!(agent.applied.monitor_ids().len(), 2_500);
    // Nothing but that was published again.
    assert_eq!(*agent.applied.snapshots.lock().unwrap(), 1);

    // Those that have something go on from there while nobody can read the snapshot: one a minute is made again.
    cut_off(&server).await;
    let third = Agent::start(&server, 3).await;
    plane.wanted.lock().unwrap().push(assign(3_000, 1));
    control.bus.publish(LOCATION, vec![assign(3_000, 1)]).await.unwrap();
    for agent in [&agent, &second] {
        until("a change", || agent.applied.monitor_ids().len() == 2_501).await;
    }
    assert_eq!(third.applied.monitor_ids(), Vec::<i64>::new());
    drop(control);

    // A control plane that starts over a damaged one cannot know what was removed meanwhile.
    *plane.wanted.lock().unwrap() = wanted(2_400, 1);
    let control = Control::start(&server, plane).await;
    for agent in [&agent, &second, &third] {
        until("101 monitors are gone", || agent.applied.monitor_ids().len() == 2_400).await;
    }
    drop(control);
}
