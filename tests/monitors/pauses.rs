//! Pause and resume.

use std::time::Duration;

use serde_json::json;
use vigie::clock::Clock;
use vigie::domain::{MonitorId, Revision, Timestamp};
use vigie::service::ServiceError;
use vigie::service::monitors;

use crate::monitors::harness::{Harness, NOON, admin};

/// Advances clock and planner, and resumes monitors whose pause is over.
async fn advance(harness: &Harness, seconds: u64) {
    harness.clock.advance(Duration::from_secs(seconds));
    *harness.planner.now.lock().unwrap() = harness.clock.now();
    monitors::resume_due_monitors(&harness.monitors, harness.clock.now()).await;
}

fn is_planned(harness: &Harness, id: MonitorId) -> bool {
    harness.planner.planned().contains_key(&id)
}

#[tokio::test]
async fn a_paused_monitor_is_not_planned_until_its_pause_is_over() {
    let harness = Harness::new();
    let (id, other) = (harness.create_monitor(json!({})).await, harness.create_monitor(json!({})).await);
    let saved = monitors::pause_monitor(&harness.monitors, &admin(), id, Timestamp::from_seconds(NOON + 60))
        .await
        .unwrap();
    assert_eq!(saved.revision, 2);
    assert!(!is_planned(&harness, id) && is_planned(&harness, other));
    harness.patch(id, json!({"note": "edited at rest"})).await.unwrap();
    advance(&harness, 59).await;
    assert!(!is_planned(&harness, id));
    advance(&harness, 1).await;
    assert_eq!(harness.planner.planned().get(&id), Some(&Revision(3)));
    let row = &harness.audit().await[2];
    assert_eq!(
        (row.action.as_str(), row.after["paused_until"].as_str()),
        ("pause", Some("2026-01-01T12:01:00Z"))
    );
}

#[tokio::test]
async fn a_later_pause_replaces_an_earlier_one_whether_longer_or_shorter() {
    let harness = Harness::new();
    let (longer, shorter) =
        (harness.create_monitor(json!({})).await, harness.create_monitor(json!({})).await);
    for (id, first, second) in [(longer, 60, 120), (shorter, 120, 60)] {
        for after in [first, second] {
            monitors::pause_monitor(&harness.monitors, &admin(), id, Timestamp::from_seconds(NOON + after))
                .await
                .unwrap();
        }
    }
    advance(&harness, 60).await;
    assert!(!is_planned(&harness, longer) && is_planned(&harness, shorter));
    advance(&harness, 60).await;
    assert!(is_planned(&harness, longer));
}

#[tokio::test]
async fn a_pause_can_be_ended_early_once() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    monitors::pause_monitor(&harness.monitors, &admin(), id, Timestamp::from_seconds(NOON + 3600))
        .await
        .unwrap();
    advance(&harness, 10).await;
    let resumed = monitors::resume_monitor(&harness.monitors, &admin(), id).await.unwrap();
    assert_eq!((resumed.revision, is_planned(&harness, id)), (3, true));
    assert_eq!(monitors::resume_monitor(&harness.monitors, &admin(), id).await.unwrap().revision, 3);
    let end = harness.monitor(id).metadata.paused_until;
    assert_eq!(
        end,
        Some(Timestamp::from_seconds(NOON + 10)),
        "so that a restart records no missed runs before"
    );
}

#[tokio::test]
async fn a_pause_continues_across_a_restart() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    monitors::pause_monitor(&harness.monitors, &admin(), id, Timestamp::from_seconds(NOON + 60))
        .await
        .unwrap();
    let harness = harness.restarted().await;
    assert!(!harness.monitor(id).is_active(harness.clock.now()));
    advance(&harness, 60).await;
    assert!(is_planned(&harness, id));
}

#[tokio::test]
async fn a_pause_must_end_in_the_future() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    let past = monitors::pause_monitor(&harness.monitors, &admin(), id, Timestamp::from_seconds(NOON)).await;
    assert!(matches!(past, Err(ServiceError::Invalid(errors)) if errors[0].path == "until"));
}
