//! Failures that another location verifies, and locations that are offline.

use std::time::Duration;

use serde_json::json;
use vigie::domain::{ConfigRecordKind, LocationId, MissedReason, Outcome, Status};
use vigie::store::{ConfigRecordFilter, ConfigStore};

use crate::alerts::harness::{ALL, CheckResponse, Harness, result, run, until};

#[tokio::test]
async fn an_unconfirmed_failure_becomes_a_warning_without_notification() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({"mode": "Global Verify"})).await;
    harness.locations.responses.lock().unwrap().insert(LocationId(3), CheckResponse::Completed(Outcome::Ok));
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    let check = result(shop, 1, run(1), Outcome::Error).check_id;
    let stored =
        async || harness.results().await.into_iter().find(|result| result.check_id == check).unwrap();
    until("it turned into a warning", async || stored().await.outcome == Outcome::Warning).await;
    let stored = stored().await;
    let verification = stored.verification.unwrap();
    assert_eq!(verification.status, Status::VERIFICATION_NO_ERROR);
    assert_eq!(verification.location_id, Some(LocationId(3)), "the one that verifies");
    assert_eq!(stored.warning_status, Some(Status::CONNECT_FAILED));
    let state = harness.ingestor.monitor_state_at(shop, LocationId(1)).unwrap();
    assert_eq!((state.outcome, state.status), (Outcome::Warning, Status::OK));
    harness.submit_outcome(shop, 2, Outcome::Ok).await;
    assert_eq!((harness.notifications().await.len(), harness.episodes().await.len()), (0, 0));
}

#[tokio::test]
async fn a_confirmed_failure_is_notified_with_the_confirming_location() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1, 2], json!({"mode": "Primary"})).await;
    let ran = [(1, Outcome::Error), (2, Outcome::Ok)];
    harness
        .submit_results(1, ran.map(|(location, outcome)| result(shop, location, run(1), outcome)).to_vec())
        .await;
    harness.wait_for(1).await;
    let content = harness.notifications().await.remove(0).message.content;
    let verification = content.verification.unwrap();
    assert_eq!(verification.status, Status::VERIFICATION_CONFIRMED);
    assert_eq!(verification.location_id, Some(LocationId(3)), "of another region rather than of the pool");
    assert_eq!(content.reasons, ["it refused"], "the result was read again");
    assert_eq!(content.location_reports.len(), 2);
}

#[tokio::test]
async fn without_a_verifying_location_an_error_is_notified_immediately() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    *harness.locations.agents.lock().unwrap() = vec![1];
    harness.advance_to(run(0) + Duration::from_secs(5));
    let shop = harness.monitor(&[1], json!({"mode": "Global Verify"})).await;
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    let notifications = harness.notifications().await;
    assert_eq!(notifications.len(), 1, "in the transaction of the result");
    let verification = notifications[0].message.content.verification.clone().unwrap();
    assert_eq!(verification.status, Status::VERIFICATION_UNAVAILABLE);
    assert!(harness.locations.check_requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_error_is_notified_when_the_verifying_location_does_not_respond() {
    for response in [CheckResponse::Pending, CheckResponse::Busy] {
        let mut harness = Harness::new().await;
        harness.recipient(json!({})).await;
        let shop = harness.monitor(&[1], json!({"mode": "Global Verify"})).await;
        harness.locations.responses.lock().unwrap().insert(LocationId(3), response);
        harness.submit_outcome(shop, 1, Outcome::Error).await;
        until("it was asked", async || !harness.locations.check_requests.lock().unwrap().is_empty()).await;
        assert_eq!(harness.notifications().await.len(), 0);
        until("the error is told", async || {
            harness.clock.advance(Duration::from_secs(1));
            !harness.notifications().await.is_empty()
        })
        .await;
        let verification = harness.notifications().await.remove(0).message.content.verification.unwrap();
        assert_eq!(verification.status, Status::VERIFICATION_NO_RESPONSE);
    }
}

#[tokio::test]
async fn an_offline_location_misses_its_runs_without_failing_them() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1, 2], json!({"mode": "SLA (MultiPOP)"})).await;
    harness.locations.offline.lock().unwrap().push(2);
    harness.advance_to(run(0) + Duration::from_secs(30));
    for number in 1..4 {
        harness.submit_outcome(shop, number, Outcome::Ok).await;
    }
    let missed = async || {
        let stored = harness.results().await.into_iter();
        stored.filter(|result| result.missed.is_some()).collect::<Vec<_>>()
    };
    until("runs are recorded as missed", async || missed().await.len() == 3).await;
    let missed = missed().await;
    assert!(missed.iter().all(|result| result.location_id == LocationId(2)));
    assert_eq!(missed[0].missed.unwrap().reason, MissedReason::LocationOffline);
    let events = async || {
        let events =
            harness.store.records(ConfigRecordFilter::new(ConfigRecordKind::Event), ALL).await.unwrap();
        events
            .items
            .iter()
            .map(|event| event.fields["event"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    until("it is reported", async || !events().await.is_empty()).await;
    assert_eq!(events().await, ["location_away"], "once");
    // Both must fail for an alert; location 2 reports nothing while offline, so location 1 decides alone.
    harness.submit_outcome(shop, 4, Outcome::Error).await;
    harness.wait_for(1).await;
    let content = harness.notifications().await.remove(0).message.content;
    let silent: Vec<_> = content.location_reports.iter().filter(|report| report.status.is_none()).collect();
    assert_eq!((silent.len(), silent[0].name.as_str()), (1, "place 2"));
    harness.locations.offline.lock().unwrap().clear();
    harness
        .submit_results(5, vec![result(shop, 1, run(5), Outcome::Ok), result(shop, 2, run(5), Outcome::Ok)])
        .await;
    until("it is reported that it is back", async || {
        harness.clock.advance(Duration::from_secs(1));
        events().await.len() == 2
    })
    .await;
}
