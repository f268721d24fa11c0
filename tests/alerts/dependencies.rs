//! Monitors that depend on others: their errors open no outage while one of those is down.

use std::time::Duration;

use serde_json::json;
use vigie::domain::{CheckResult, LocationId, MonitorId, Outcome};
use vigie::store::SampleStore;

use crate::alerts::harness::{CheckResponse, Harness, result, run, until};

/// A parent and a child that depends on it, with a recipient.
async fn family() -> (Harness, MonitorId, MonitorId) {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let parent = harness.monitor(&[1], json!({"name": "Router"})).await;
    let child = harness.monitor(&[1], json!({"depends_on": [parent.0]})).await;
    (harness, parent, child)
}

fn respond(harness: &Harness, response: CheckResponse) {
    harness.locations.responses.lock().unwrap().insert(LocationId(1), response);
}

fn checks_of(harness: &Harness, monitor: MonitorId) -> usize {
    harness.locations.check_requests.lock().unwrap().iter().filter(|(id, _)| *id == monitor).count()
}

/// Submits the results of run `number` in this order. Runs follow each other from 0 on.
async fn play(harness: &Harness, number: i64, results: &[(MonitorId, Outcome)]) {
    for (monitor, outcome) in results {
        harness.submit_outcome(*monitor, number, *outcome).await;
    }
}

async fn stored(harness: &Harness, monitor: MonitorId, number: i64) -> CheckResult {
    let id = result(monitor, 1, run(number), Outcome::Error).check_id;
    harness.results().await.into_iter().find(|result| result.check_id == id).unwrap()
}

async fn until_suppressed(harness: &Harness, monitor: MonitorId, number: i64, by: &[MonitorId]) {
    until("it is suppressed", async || stored(harness, monitor, number).await.suppressed_by == by).await;
}

/// Whom the notifications are about, in order.
async fn notified(harness: &Harness) -> Vec<(i64, &'static str)> {
    let to_pair = |monitor: Option<MonitorId>, kind| (monitor.map_or(0, |id| id.0), kind);
    let notifications = harness.notifications().await;
    notifications
        .iter()
        .map(|row| to_pair(row.message.content.monitor_id, row.message.content.kind.name()))
        .collect()
}

#[tokio::test]
async fn errors_are_suppressed_while_the_parent_is_down_and_told_at_the_next_failing_run() {
    let (harness, parent, child) = family().await;
    play(&harness, 0, &[(parent, Outcome::Error), (child, Outcome::Ok)]).await;
    harness.wait_for(1).await;
    play(&harness, 1, &[(child, Outcome::Error)]).await;
    until_suppressed(&harness, child, 1, &[parent]).await;
    assert_eq!(stored(&harness, child, 1).await.outcome, Outcome::Error, "the outcome stays");
    assert_eq!(checks_of(&harness, parent), 0, "its outage is known");
    let samples = harness.store.samples(child, run(0), run(9), 100).await.unwrap();
    let suppressed: Vec<bool> = samples.iter().map(|sample| sample.is_suppressed_by_dependency).collect();
    assert_eq!(suppressed, [false, true]);
    // The parent clears after the child's run has begun.
    respond(&harness, CheckResponse::Completed(Outcome::Ok));
    play(&harness, 1, &[(parent, Outcome::Ok)]).await;
    play(&harness, 2, &[(child, Outcome::Error)]).await;
    harness.wait_for(3).await;
    let about: Vec<_> = notified(&harness).await;
    assert_eq!(about, [(parent.0, "site_error"), (parent.0, "site_clear"), (child.0, "site_error")]);
    assert_eq!(stored(&harness, child, 2).await.suppressed_by, []);
    assert_eq!(harness.episodes().await.len(), 2);
}

#[tokio::test]
async fn the_parent_is_checked_at_once_when_its_last_run_is_older() {
    let (harness, parent, child) = family().await;
    play(&harness, 0, &[(parent, Outcome::Ok), (child, Outcome::Ok)]).await;
    // It has gone down since.
    respond(&harness, CheckResponse::Completed(Outcome::Error));
    play(&harness, 1, &[(child, Outcome::Error)]).await;
    until_suppressed(&harness, child, 1, &[parent]).await;
    assert_eq!((checks_of(&harness, parent), harness.count().await), (1, 0));
    // It is back, and the child fails by itself.
    respond(&harness, CheckResponse::Completed(Outcome::Ok));
    play(&harness, 2, &[(child, Outcome::Error)]).await;
    harness.wait_for(1).await;
    assert_eq!(notified(&harness).await, [(child.0, "site_error")]);
    assert_eq!(checks_of(&harness, parent), 2);
}

#[tokio::test]
async fn after_ten_seconds_what_is_known_decides_and_others_go_on_meanwhile() {
    let (mut harness, parent, child) = family().await;
    let other = harness.monitor(&[1], json!({"name": "Other"})).await;
    respond(&harness, CheckResponse::Pending);
    play(&harness, 0, &[(child, Outcome::Error)]).await;
    until("the parent is checked", async || checks_of(&harness, parent) == 1).await;
    // Whatever the clock says: the check has its 10 s from its own start.
    play(&harness, 0, &[(other, Outcome::Error)]).await;
    harness.wait_for(1).await;
    assert_eq!(notified(&harness).await, [(other.0, "site_error")], "it waits for nobody");
    harness.advance_to(harness.clock_now() + Duration::from_secs(11));
    harness.wait_for(2).await;
    assert_eq!(notified(&harness).await[1], (child.0, "site_error"));
    assert_eq!(stored(&harness, child, 0).await.suppressed_by, []);
}

#[tokio::test]
async fn what_is_disabled_removed_blacked_out_unknown_or_foreign_does_not_suppress() {
    for case in ["disabled", "removed", "blackout", "unknown", "foreign"] {
        let (mut harness, parent, child) = family().await;
        play(&harness, 0, &[(parent, Outcome::Error), (child, Outcome::Ok)]).await;
        harness.wait_for(1).await;
        respond(&harness, CheckResponse::Completed(Outcome::Unknown));
        match case {
            "disabled" => {
                let disabled = crate::alerts::harness::monitor(parent, &[1], json!({"enabled": false}));
                harness.change(parent, |monitor| monitor.document = disabled.document).await;
            }
            "removed" => harness.ingestor.update_monitors(Vec::new(), vec![parent]).await,
            "blackout" => {
                let fields = json!({"name": "b", "type": "Alert", "persistent": false,
                    "from_date": "2026-02-01 00:00:00", "thru_date": "2026-04-01 00:00:00"});
                harness.record(vigie::domain::ConfigRecordKind::Blackout, Some(parent.0), fields).await;
                harness.accounts.invalidate_all();
            }
            "unknown" => play(&harness, 1, &[(parent, Outcome::Unknown), (child, Outcome::Ok)]).await,
            _ => harness.change(parent, |monitor| monitor.customer = vigie::domain::CustomerId(2)).await,
        }
        if case != "unknown" {
            play(&harness, 1, &[(child, Outcome::Ok)]).await;
        }
        play(&harness, 2, &[(child, Outcome::Error)]).await;
        until(case, async || notified(&harness).await.contains(&(child.0, "site_error"))).await;
    }
}

#[tokio::test]
async fn a_parent_that_is_suppressed_itself_suppresses_too() {
    let (mut harness, parent, child) = family().await;
    let grandchild = harness.monitor(&[1], json!({"depends_on": [child.0]})).await;
    play(&harness, 0, &[(parent, Outcome::Error), (child, Outcome::Ok), (grandchild, Outcome::Ok)]).await;
    play(&harness, 1, &[(child, Outcome::Error), (grandchild, Outcome::Ok)]).await;
    until_suppressed(&harness, child, 1, &[parent]).await;
    play(&harness, 2, &[(grandchild, Outcome::Error)]).await;
    until_suppressed(&harness, grandchild, 2, &[child]).await;
    assert_eq!(notified(&harness).await, [(parent.0, "site_error")]);
}

#[tokio::test]
async fn a_restart_during_the_check_of_a_parent_loses_no_outage() {
    let (harness, parent, child) = family().await;
    respond(&harness, CheckResponse::Pending);
    play(&harness, 0, &[(child, Outcome::Error)]).await;
    until("the parent is checked", async || checks_of(&harness, parent) == 1).await;
    // The child is loaded before its parent is known, and neither is lost.
    let mut harness = harness;
    harness.monitors.reverse();
    let harness = harness.restart().await;
    until("it is checked again", async || checks_of(&harness, parent) == 1).await;
    respond(&harness, CheckResponse::Completed(Outcome::Ok));
    play(&harness, 1, &[(child, Outcome::Error)]).await;
    until("it is told", async || notified(&harness).await.contains(&(child.0, "site_error"))).await;
}

#[tokio::test]
async fn a_restart_keeps_the_outage_of_the_parent_in_mind() {
    let (harness, parent, child) = family().await;
    play(&harness, 0, &[(parent, Outcome::Error), (child, Outcome::Ok)]).await;
    play(&harness, 1, &[(child, Outcome::Error)]).await;
    until_suppressed(&harness, child, 1, &[parent]).await;
    let mut harness = harness;
    harness.monitors.reverse();
    let harness = harness.restart().await;
    play(&harness, 2, &[(child, Outcome::Error)]).await;
    until_suppressed(&harness, child, 2, &[parent]).await;
    assert_eq!(notified(&harness).await, [(parent.0, "site_error")]);
}

#[tokio::test]
async fn a_thousand_children_have_their_parent_checked_once() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let parent = harness.monitor(&[1], json!({"name": "Router"})).await;
    respond(&harness, CheckResponse::Completed(Outcome::Error));
    let mut children = Vec::new();
    for _ in 0..1000 {
        children.push(harness.monitor(&[1], json!({"depends_on": [parent.0]})).await);
    }
    let failed = children.iter().map(|child| result(*child, 1, run(0), Outcome::Error));
    harness.submit_results(0, failed.collect()).await;
    until("all are suppressed", async || {
        harness.results().await.iter().filter(|result| !result.suppressed_by.is_empty()).count() == 1000
    })
    .await;
    assert_eq!((checks_of(&harness, parent), harness.count().await), (1, 0));
}

#[tokio::test]
async fn a_busy_location_is_asked_again_until_the_time_is_over() {
    let (harness, parent, child) = family().await;
    respond(&harness, CheckResponse::Busy);
    play(&harness, 0, &[(child, Outcome::Error)]).await;
    until("the parent is asked", async || checks_of(&harness, parent) >= 1).await;
    for _ in 0..12 {
        harness.advance_to(harness.clock_now() + Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    harness.wait_for(1).await;
    assert!(checks_of(&harness, parent) <= 12);
}

/// Whatever the parent does, an error of the child opens an outage exactly when no parent suppresses its run.
#[tokio::test]
async fn a_flapping_parent_neither_hides_an_outage_nor_opens_one_twice() {
    let (harness, parent, child) = family().await;
    respond(&harness, CheckResponse::Completed(Outcome::Ok));
    let (mut expected_open, mut opened) = (false, 0);
    for number in 0..24 {
        let is_down = number / 3 % 2 == 1;
        let outcome = if is_down { Outcome::Error } else { Outcome::Ok };
        harness.submit_outcome(parent, number, outcome).await;
        let child_fails = number % 5 != 0;
        let child_outcome = if child_fails { Outcome::Error } else { Outcome::Ok };
        let check = result(child, 1, run(number), child_outcome);
        harness.submit_results(number, vec![check.clone()]).await;
        let was_open = expected_open;
        expected_open = child_fails && (was_open || !is_down);
        opened += u32::from(expected_open && !was_open);
        until("the run is decided", async || {
            let episodes = harness.episodes().await;
            let is_open =
                episodes.iter().any(|episode| episode.monitor_id == child && episode.ended_at.is_none());
            let result = stored(&harness, child, number).await;
            let is_suppressed = result.suppressed_by == [parent];
            is_open == expected_open && is_suppressed == (child_fails && !expected_open)
        })
        .await;
    }
    let episodes = harness.episodes().await;
    let of_child = episodes.iter().filter(|episode| episode.monitor_id == child).count();
    assert_eq!(of_child, opened as usize);
    assert!(opened >= 3, "the history has several outages: {opened}");
}
