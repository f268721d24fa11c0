//! Pause and resume.

use std::time::Duration;

use serde_json::json;
use vigie::clock::Clock;
use vigie::domain::{MonitorId, Revision, Timestamp};
use vigie::service::ServiceError;
use vigie::service::monitors;

use crate::fleet::kit::{Kit, NOON, admin};

/// Lets time pass for clock and planner.
async fn pass(kit: &Kit, seconds: u64) {
    kit.clock.advance(Duration::from_secs(seconds));
    *kit.notes.now.lock().unwrap() = kit.clock.now();
    monitors::resume_due(&kit.monitors, kit.clock.now()).await;
}

fn is_planned(kit: &Kit, id: MonitorId) -> bool {
    kit.notes.planned().contains_key(&id)
}

#[tokio::test]
async fn a_rest_takes_a_monitor_out_until_it_is_over() {
    let kit = Kit::new();
    let (id, other) = (kit.made(json!({})).await, kit.made(json!({})).await);
    let saved =
        monitors::pause(&kit.monitors, &admin(), id, Timestamp::from_seconds(NOON + 60)).await.unwrap();
    assert_eq!(saved.revision, 2);
    assert!(!is_planned(&kit, id) && is_planned(&kit, other));
    kit.patch(id, json!({"note": "edited at rest"})).await.unwrap();
    pass(&kit, 59).await;
    assert!(!is_planned(&kit, id));
    pass(&kit, 1).await;
    assert_eq!(kit.notes.planned().get(&id), Some(&Revision(3)));
    let row = &kit.audit().await[2];
    assert_eq!(
        (row.action.as_str(), row.after["paused_until"].as_str()),
        ("pause", Some("2026-01-01T12:01:00Z"))
    );
}

#[tokio::test]
async fn a_longer_rest_counts_and_a_shorter_one_too() {
    let kit = Kit::new();
    let (longer, shorter) = (kit.made(json!({})).await, kit.made(json!({})).await);
    for (id, first, second) in [(longer, 60, 120), (shorter, 120, 60)] {
        for after in [first, second] {
            monitors::pause(&kit.monitors, &admin(), id, Timestamp::from_seconds(NOON + after))
                .await
                .unwrap();
        }
    }
    pass(&kit, 60).await;
    assert!(!is_planned(&kit, longer) && is_planned(&kit, shorter));
    pass(&kit, 60).await;
    assert!(is_planned(&kit, longer));
}

#[tokio::test]
async fn a_rest_ends_early_and_only_once() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    monitors::pause(&kit.monitors, &admin(), id, Timestamp::from_seconds(NOON + 3600)).await.unwrap();
    pass(&kit, 10).await;
    let resumed = monitors::resume(&kit.monitors, &admin(), id).await.unwrap();
    assert_eq!((resumed.revision, is_planned(&kit, id)), (3, true));
    assert_eq!(monitors::resume(&kit.monitors, &admin(), id).await.unwrap().revision, 3);
    let end = kit.monitor(id).metadata.paused_until;
    assert_eq!(
        end,
        Some(Timestamp::from_seconds(NOON + 10)),
        "so that a restart records no missed runs before"
    );
}

#[tokio::test]
async fn a_rest_goes_on_over_a_restart() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    monitors::pause(&kit.monitors, &admin(), id, Timestamp::from_seconds(NOON + 60)).await.unwrap();
    let kit = kit.restarted().await;
    assert!(!kit.monitor(id).is_planned(kit.clock.now()));
    pass(&kit, 60).await;
    assert!(is_planned(&kit, id));
}

#[tokio::test]
async fn a_rest_lies_ahead() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    let past = monitors::pause(&kit.monitors, &admin(), id, Timestamp::from_seconds(NOON)).await;
    assert!(matches!(past, Err(ServiceError::Invalid(errors)) if errors[0].path == "until"));
}
