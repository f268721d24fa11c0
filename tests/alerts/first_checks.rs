//! First checks set the state of a monitor, and are ignored by alerting.

use std::time::Duration;

use serde_json::json;
use vigie::alerting::MonitorHealth;
use vigie::domain::{CheckId, CheckResult, CheckTrigger, LocationId, MonitorId, Outcome, RunId, Timestamp};
use vigie::store::ResultStore;

use crate::alerts::harness::{Harness, result, run, slot, until};

/// Submits a first check with `outcome` at `location`, for a change at `planned_at`.
async fn first_check(
    harness: &Harness,
    monitor: MonitorId,
    location: i64,
    planned_at: Timestamp,
    outcome: Outcome,
) {
    // The time of a change is not that of a slot.
    let run_id = RunId::new(monitor, planned_at);
    let check_id = CheckId::new(run_id, LocationId(location));
    let of_slot = result(monitor, location, planned_at, outcome);
    let result = CheckResult { trigger: CheckTrigger::First, planned_at, run_id, check_id, ..of_slot };
    harness.submit_results(0, vec![result]).await;
}

async fn until_health(harness: &Harness, monitor: MonitorId, health: MonitorHealth) {
    until("the health follows", async || harness.ingestor.monitor_health(monitor) == health).await;
}

/// Returns the planned time of run `number` of `monitor`.
fn planned(monitor: MonitorId, number: i64) -> Timestamp {
    slot(monitor, run(number))
}

#[tokio::test]
async fn a_failing_first_check_is_the_state_but_no_outage() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let monitor = harness.monitor(&[1, 2], json!({})).await;
    assert_eq!(harness.ingestor.monitor_health(monitor), MonitorHealth::Unknown);
    let change = planned(monitor, 0) + Duration::from_micros(1);
    first_check(&harness, monitor, 2, change, Outcome::Error).await;
    first_check(&harness, monitor, 1, change, Outcome::Ok).await;
    until_health(&harness, monitor, MonitorHealth::Failing).await;
    let states = harness.store.location_states_for(vec![monitor]).await.unwrap();
    let outcomes: Vec<_> = states.iter().map(|state| state.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Error]);
    assert!(states.iter().all(|state| state.last_was_first_check() && state.last_slot_at.is_none()));
    // It is the state after a restart too.
    let harness = harness.restart().await;
    until_health(&harness, monitor, MonitorHealth::Failing).await;
    let results = [1, 2].map(|location| result(monitor, location, planned(monitor, 1), Outcome::Ok));
    harness.submit_results(1, results.to_vec()).await;
    until_health(&harness, monitor, MonitorHealth::Up).await;
    assert_eq!((harness.episodes().await.len(), harness.count().await), (0, 0));
    let states = harness.store.location_states_for(vec![monitor]).await.unwrap();
    assert!(
        states.iter().all(|state| !state.last_was_first_check() && state.outcome == Outcome::Ok),
        "{states:#?}"
    );
    // The next planned run that fails opens the outage.
    let results = [1, 2].map(|location| result(monitor, location, planned(monitor, 2), Outcome::Error));
    harness.submit_results(2, results.to_vec()).await;
    harness.wait_for(1).await;
    assert_eq!(harness.episodes().await.len(), 1);
}

#[tokio::test]
async fn a_passing_first_check_ends_no_outage() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let monitor = harness.monitor(&[1], json!({})).await;
    harness.submit_results(0, vec![result(monitor, 1, planned(monitor, 0), Outcome::Error)]).await;
    harness.wait_for(1).await;
    let change = planned(monitor, 0) + Duration::from_secs(5);
    first_check(&harness, monitor, 1, change, Outcome::Ok).await;
    assert_eq!(harness.ingestor.monitor_health(monitor), MonitorHealth::Down);
    assert_eq!(harness.episodes().await[0].ended_at, None);
    // Nor does a failing one count as an error of it.
    first_check(&harness, monitor, 1, change + Duration::from_secs(1), Outcome::Error).await;
    harness.submit_results(1, vec![result(monitor, 1, planned(monitor, 1), Outcome::Error)]).await;
    harness.wait_for(2).await;
    let counts: Vec<_> =
        harness.notifications().await.iter().map(|sent| sent.message.content.consecutive_failures).collect();
    assert_eq!(counts, [1, 2], "errors of planned runs");
    harness.submit_results(2, vec![result(monitor, 1, planned(monitor, 2), Outcome::Ok)]).await;
    harness.wait_for(3).await;
    assert!(harness.episodes().await[0].ended_at.is_some());
}
