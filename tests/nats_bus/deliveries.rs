//! Results and captures arrive once, through outages and restarts, and what does not belong to an agent is refused.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use vigie::bus::contract::ResultSink;
use vigie::domain::{CapturedFile, LocationId};

use super::fixture::result;
use super::fixture::{Agent, Control, ControlPlane, assign, until};
use crate::support::nats::NatsServer;

fn plane() -> Arc<ControlPlane> {
    let plane = ControlPlane::default();
    *plane.wanted.lock().unwrap() = (1..=50).map(|id| assign(id, 1)).collect();
    Arc::new(plane)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_and_their_captures_arrive() {
    let server = NatsServer::start();
    let control = Control::start(&server, plane()).await;
    let agent = Agent::start(&server, 1).await;
    let mut failed = result(1, 1, 0);
    let large = vec![7; 1_300_000];
    failed.captures = vec![
        CapturedFile::new("page.html", "text/html", b"<p>"),
        CapturedFile::new("screen.png", "image/png", &large),
    ];
    agent.outbox.deliver(failed.clone()).await;
    agent.outbox.deliver(result(2, 1, 0)).await;
    until("both results", || control.plane.results.lock().unwrap().len() == 2).await;
    until("both captures", || control.plane.captures.lock().unwrap().len() == 2).await;
    let captures = control.plane.captures.lock().unwrap();
    let file = captures.iter().flat_map(|captures| &captures.files).find(|file| file.name == "screen.png");
    assert_eq!(file.unwrap().content.as_deref(), Some(large.as_slice()));
    assert!(captures.iter().all(|captures| captures.check_id == failed.check_id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_control_plane_took_and_did_not_commit_arrives_at_the_next_one_at_once() {
    let server = NatsServer::start();
    let (first, agent) = (Control::start(&server, plane()).await, Agent::start(&server, 1).await);
    first.plane.hangs_in_commits.store(true, Ordering::Relaxed);
    agent.outbox.deliver(result(1, 1, 0)).await;
    until("the result at the first one", || first.plane.results.lock().unwrap().len() == 1).await;
    drop(first);
    let next = Control::start(&server, plane()).await;
    // NATS alone would wait a minute for the first one.
    until("the result at the next one", || next.plane.results.lock().unwrap().len() == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_recorded_without_a_network_arrives_later() {
    let mut server = NatsServer::start();
    let control = Control::start(&server, plane()).await;
    let agent = Agent::start(&server, 1).await;
    agent.outbox.deliver(result(1, 1, 0)).await;
    until("the first result", || control.plane.results.lock().unwrap().len() == 1).await;
    server.kill();
    for minute in 1..=20 {
        for monitor in 1..=50 {
            agent.outbox.deliver(result(monitor, 1, minute)).await;
        }
    }
    until("the spool", || agent.outbox.spool_load().results == 1_001).await;
    // The agent starts again before there is a network.
    let folder = agent.stop().await;
    let agent = Agent::start_in(&server, 1, folder).await;
    assert_eq!(agent.outbox.spool_load().results, 1_001);
    server.restart();
    until("all results", || control.plane.results.lock().unwrap().len() == 1_001).await;
    assert_eq!(
        control.plane.event_names().iter().filter(|name| **name == "agent_message_refused").count(),
        0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_cannot_come_from_the_location_are_refused_and_not_sent_again() {
    let server = NatsServer::start();
    let control = Control::start(&server, plane()).await;
    let agent = Agent::start(&server, 1).await;
    agent.outbox.deliver(result(99, 1, 0)).await;
    agent.outbox.deliver(result(1, 2, 0)).await;
    let mut elsewhere = result(1, 1, 1);
    elsewhere.location_id = LocationId(6);
    elsewhere.check_id = vigie::domain::CheckId::new(elsewhere.run_id, LocationId(6));
    agent.outbox.deliver(elsewhere).await;
    agent.outbox.deliver(result(1, 1, 2)).await;
    until("the one that is right", || control.plane.results.lock().unwrap().len() == 1).await;
    until("three refusals", || {
        control.plane.event_names().iter().filter(|name| **name == "agent_message_refused").count() == 3
    })
    .await;
}
