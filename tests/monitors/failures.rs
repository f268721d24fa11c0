//! Failures of the store and of the runner.

use std::sync::atomic::Ordering;

use serde_json::json;
use vigie::domain::Revision;
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::store::{ConfigStore, StoreError};

use crate::monitors::harness::{Harness, admin};
use crate::support::fields::Fields;

#[tokio::test]
async fn a_failing_store_leaves_memory_and_plan_unchanged() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    let (planned, monitor) = (harness.planner.planned(), harness.monitor(id));
    harness.store.broken.store(true, Ordering::Relaxed);
    let full = ServiceError::StoreFailed(StoreError::DiskFull("vigie.db".to_owned()));
    assert_eq!(harness.create(json!({})).await.unwrap_err(), full);
    assert_eq!(harness.patch(id, json!({"note": "x"})).await.unwrap_err(), full);
    assert_eq!(monitors::delete(&harness.monitors, &admin(), id, None).await.unwrap_err(), full);
    assert_eq!((harness.planner.planned(), harness.monitors.monitor_cache().all()), (planned, vec![monitor]));
    harness.store.broken.store(false, Ordering::Relaxed);
    assert_eq!(harness.patch(id, json!({"note": "x"})).await.unwrap().revision, 2);
}

#[tokio::test]
async fn a_runner_that_stops_during_a_change_leaves_no_trace_of_it() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({"note": "old"})).await;
    harness.planner.ending.store(true, Ordering::Relaxed);
    assert!(matches!(harness.create(json!({"name": "new"})).await, Err(ServiceError::Unavailable(_))));
    assert!(matches!(harness.patch(id, json!({"note": "new"})).await, Err(ServiceError::Unavailable(_))));
    assert_eq!(harness.monitors.monitor_cache().len(), 1);
    assert_eq!(harness.monitor(id).document.text("note"), Some("old"));
    let stored = harness.store.stored_monitors().await.unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].monitor.document.text("note"), Some("old"));
    let actions: Vec<_> = harness.audit().await.into_iter().map(|row| row.action).collect();
    assert_eq!(actions, ["create", "create", "undo", "change", "undo"]);
    harness.planner.ending.store(false, Ordering::Relaxed);
    let saved = harness.patch(id, json!({"note": "newer"})).await.unwrap();
    assert_eq!(Revision(saved.revision), harness.monitor(id).revision, "memory knows the newest version");
}
