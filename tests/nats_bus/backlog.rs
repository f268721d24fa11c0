//! An agent that was cut off for long delivers what is new before what is old.

use std::collections::BTreeSet;
use std::sync::Arc;

use vigie::bus::contract::ResultSink;

use super::fixture::{Agent, Control, ControlPlane, assign, result, until};
use crate::support::nats::NatsServer;

const MONITORS: i64 = 20;
const MINUTES: i64 = 600;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_results_come_first_and_current_ones_overtake_an_old_backlog() {
    let server = NatsServer::start();
    let plane = ControlPlane::default();
    *plane.wanted.lock().unwrap() = (1..=MONITORS).map(|id| assign(id, 1)).collect();
    let control = Control::start(&server, Arc::new(plane)).await;
    // Without any network, a backlog of 12,000 results: at most 2,560 a second are sent.
    let mut nowhere = NatsServer::start();
    nowhere.kill();
    let agent = Agent::start(&nowhere, 1).await;
    for minute in 1..=MINUTES {
        for monitor in 1..=MONITORS {
            agent.outbox.deliver(result(monitor, 1, minute)).await;
        }
    }
    let backlog = usize::try_from(MONITORS * MINUTES).unwrap();
    until("the backlog is on disk", || agent.outbox.spool_load().results == backlog as u64).await;

    let agent = Agent::start_in(&server, 1, agent.stop().await).await;
    let arrivals = || control.plane.arrivals.lock().unwrap().clone();
    until("the backlog comes", || arrivals().len() > 256).await;
    let current = result(1, 1, MINUTES + 1);
    agent.outbox.deliver(current.clone()).await;
    let is_current = |arrival: &(i64, _)| *arrival == (1, current.planned_at);
    until("the current result", || arrivals().iter().any(is_current)).await;
    let before = arrivals().iter().position(is_current).unwrap();
    assert!(before < backlog / 2, "{before} of {backlog} old results came before the current one");

    until("the whole backlog", || control.plane.results.lock().unwrap().len() == backlog + 1).await;
    // What was sent first holds the newest result of each monitor. Two streams are read side by side.
    let newest: BTreeSet<_> =
        (1..=MONITORS).map(|monitor| (monitor, result(monitor, 1, MINUTES).planned_at)).collect();
    let arrivals = arrivals();
    let first: BTreeSet<_> = arrivals.iter().take(512).copied().collect();
    assert!(newest.is_subset(&first), "the newest come later: {:?}", &arrivals[..40]);
    let (old, total) = (result(1, 1, MINUTES / 2).planned_at, arrivals.len());
    let old_early = arrivals.iter().take(total / 4).filter(|(_, planned_at)| *planned_at < old).count();
    assert_eq!(old_early, 0, "the oldest come last");
}
