//! Outages of a monitor at one location.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use vigie::alerting::MonitorHealth;
use vigie::domain::{ConfigRecordKind, NotificationKind, Outcome, Status};
use vigie::pipeline::AlertEngineSettings;
use vigie::schema::MonitorMetadata;
use vigie::store::AlertStore;

use crate::alerts::harness::{Harness, alert_state_count, result, run, slot, until};

#[tokio::test]
async fn errors_and_recovery_are_notified_in_the_transaction_of_their_results() {
    let mut harness = Harness::new().await;
    let anna = harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({})).await;
    for (number, outcome) in [(1, Outcome::Ok), (2, Outcome::Error), (3, Outcome::Error), (4, Outcome::Ok)] {
        harness.submit_outcome(shop, number, outcome).await;
    }
    assert_eq!(
        harness.summaries().await,
        ["site_error of run 2, error 1", "site_error of run 3, error 2", "site_clear of run 4, error 0"]
    );
    let episodes = harness.episodes().await;
    assert_eq!(
        (episodes.len(), episodes[0].started_at, episodes[0].ended_at),
        (1, slot(shop, run(2)), Some(slot(shop, run(4))))
    );
    assert_eq!(episodes[0].snapshot_fields["runs"], 2);
    let notifications = harness.notifications().await;
    let (first, episode) = (&notifications[0].message, episodes[0].id);
    assert_eq!(
        first.idempotency_key,
        format!("site_error-{episode}-{}-{anna}", slot(shop, run(2)).as_micros())
    );
    let content = &first.content;
    assert_eq!(
        (content.status, content.status_text.as_str()),
        (Status::CONNECT_FAILED, "TCP connection failed")
    );
    assert_eq!(
        (content.target.as_str(), content.location_name.as_str()),
        ("shop.example.test:443", "place 1")
    );
    assert_eq!((content.alert_note.as_str(), content.reasons[0].as_str()), ("call the shop", "it refused"));
    assert_eq!(content.phases, [("connect".to_owned(), 700)]);
    assert_eq!(content.location_reports[0].status, Some(Status::CONNECT_FAILED));
    assert_eq!(content.check_id, Some(result(shop, 1, run(2), Outcome::Error).check_id));
    let clear = &notifications[2].message.content;
    assert_eq!(
        (clear.kind, clear.status, clear.outage_started_at),
        (NotificationKind::SiteClear, Status::OK, Some(slot(shop, run(2))))
    );
    // Once the flapping time is over, no alert state is kept.
    for number in 5..12 {
        harness.submit_outcome(shop, number, Outcome::Ok).await;
    }
    assert_eq!(alert_state_count(&harness).await, 0);
    assert_eq!(harness.notifications().await.len(), 3);
}

#[tokio::test]
async fn a_healthy_monitor_stores_only_its_results() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({})).await;
    for number in 1..5 {
        harness.submit_outcome(shop, number, if number == 2 { Outcome::Warning } else { Outcome::Ok }).await;
        assert_eq!(alert_state_count(&harness).await, 0, "after run {number}");
    }
    assert_eq!((harness.notifications().await.len(), harness.episodes().await.len()), (0, 0));
    assert_eq!(harness.ingestor.monitor_health(shop), MonitorHealth::Up);
}

#[tokio::test]
async fn a_monitor_that_is_removed_disabled_or_paused_in_an_outage_gets_no_clear() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let (removed, disabled, paused) = (
        harness.monitor(&[1], json!({})).await,
        harness.monitor(&[1], json!({})).await,
        harness.monitor(&[1], json!({})).await,
    );
    for monitor in [removed, disabled, paused] {
        harness.submit_outcome(monitor, 1, Outcome::Error).await;
        assert_eq!(harness.ingestor.monitor_health(monitor), MonitorHealth::Down);
    }
    harness.wait_for(3).await;
    harness.ingestor.update_monitors(Vec::new(), vec![removed]).await;
    let off = crate::alerts::harness::monitor(disabled, &[1], json!({"enabled": false})).document;
    harness.change(disabled, |monitor| monitor.document = off).await;
    let rest = MonitorMetadata { paused_until: Some(run(60)), ..MonitorMetadata::default() };
    harness.change(paused, |monitor| monitor.metadata = Arc::new(rest)).await;
    until("all outages ended", async || harness.episodes().await.iter().all(|e| e.ended_at.is_some())).await;
    assert_eq!(harness.episodes().await[0].snapshot_fields["end"]["recovered"], false);
    for monitor in [removed, disabled, paused] {
        harness.submit_outcome(monitor, 2, Outcome::Ok).await;
    }
    // The paused monitor resumes and passes.
    harness.change(paused, |monitor| monitor.metadata = Arc::default()).await;
    harness.submit_outcome(paused, 61, Outcome::Ok).await;
    assert_eq!(harness.notifications().await.len(), 3, "the errors alone");
    assert_eq!(alert_state_count(&harness).await, 0);
}

#[tokio::test]
async fn an_acknowledged_outage_notifies_only_its_recovery() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({})).await;
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    let episode = harness.episodes().await.remove(0);
    let at = run(1);
    assert!(harness.store.acknowledge(episode.customer, episode.id, "anna".to_owned(), at).await.unwrap());
    harness.ingestor.acknowledge_episode(shop, episode.id).await;
    harness.submit_outcome(shop, 2, Outcome::Error).await;
    // The acknowledgement also holds after a restart.
    let harness = harness.restart().await;
    harness.submit_outcome(shop, 3, Outcome::Error).await;
    harness.submit_outcome(shop, 4, Outcome::Ok).await;
    assert_eq!(harness.summaries().await, ["site_error of run 1, error 1", "site_clear of run 4, error 0"]);
    assert_eq!(harness.episodes().await[0].acknowledged_by, "anna");
}

// row: 2.4 type; 2.4 from_date; 2.4 thru_date
#[tokio::test]
async fn recipients_and_blackouts_apply_as_they_are_at_each_run() {
    let mut harness = Harness::new().await;
    let shop = harness.monitor(&[1], json!({})).await;
    harness.submit_outcome(shop, 1, Outcome::Error).await;
    assert_eq!(harness.notifications().await.len(), 0, "there is nobody");
    harness.recipient(json!({"start_threshold": 3})).await;
    harness.submit_outcome(shop, 2, Outcome::Error).await;
    harness.submit_outcome(shop, 3, Outcome::Error).await;
    assert_eq!(harness.summaries().await, ["site_error of run 3, error 3"]);
    let blackout = json!({"type": "Alert", "persistent": false, "from_date": "2026-03-01 00:04:00",
        "thru_date": "2026-03-01 00:05:00"});
    harness.record(ConfigRecordKind::Blackout, Some(shop.0), blackout).await;
    harness.accounts.invalidate_all();
    harness.submit_outcome(shop, 4, Outcome::Error).await;
    harness.submit_outcome(shop, 5, Outcome::Error).await;
    assert_eq!(harness.summaries().await, ["site_error of run 3, error 3", "site_error of run 5, error 5"]);
}

#[tokio::test]
async fn missing_runs_are_notified_as_no_data() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({})).await;
    harness.submit_outcome(shop, 1, Outcome::Ok).await;
    for step in 0..40 {
        if !harness.notifications().await.is_empty() {
            break;
        }
        // The alert loop wakes at least once a second of its clock, so each step wakes it. It sleeps again once the
        // effects of that step are stored.
        until("the loop waits", async || harness.clock.sleeper_count() > 0).await;
        let waits = harness.clock.sleep_count();
        harness.advance_to(run(2) + Duration::from_secs(15 * step));
        until("the loop has looked", async || harness.clock.sleep_count() > waits).await;
    }
    let notifications = harness.notifications().await;
    assert_eq!(notifications.len(), 1);
    assert_eq!(
        (notifications[0].message.content.kind, notifications[0].message.content.consecutive_failures),
        (NotificationKind::NoData, 5)
    );
    assert_eq!(harness.ingestor.monitor_health(shop), MonitorHealth::Unknown);
}

#[tokio::test]
async fn reloaded_alert_settings_apply_to_the_next_run() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = harness.monitor(&[1], json!({})).await;
    harness.submit_outcome(shop, 1, Outcome::Ok).await;
    harness.submit_outcome(shop, 2, Outcome::Unknown).await;
    assert_eq!(harness.notifications().await, []);
    let settings = AlertEngineSettings { no_data_threshold: 2, ..AlertEngineSettings::default() };
    harness.ingestor.update_alert_settings(settings).await;
    harness.submit_outcome(shop, 3, Outcome::Unknown).await;
    harness.wait_for(1).await;
    let content = harness.notifications().await.pop().unwrap().message.content;
    assert_eq!((content.kind, content.consecutive_failures), (NotificationKind::NoData, 2));
}
