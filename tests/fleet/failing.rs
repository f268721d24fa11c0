//! Trouble of the store and of the runner.

use std::sync::atomic::Ordering;

use serde_json::json;
use vigie::domain::Revision;
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::store::{ConfigStore, StoreError};

use crate::fleet::kit::{Kit, admin};
use crate::support::fields::Fields;

#[tokio::test]
async fn a_store_that_fails_leaves_memory_and_plan_as_they_were() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    let (planned, monitor) = (kit.notes.planned(), kit.monitor(id));
    kit.ledger.broken.store(true, Ordering::Relaxed);
    let full = ServiceError::Store(StoreError::DiskFull("vigie.db".to_owned()));
    assert_eq!(kit.create(json!({})).await.unwrap_err(), full);
    assert_eq!(kit.patch(id, json!({"note": "x"})).await.unwrap_err(), full);
    assert_eq!(monitors::delete(&kit.monitors, &admin(), id, None).await.unwrap_err(), full);
    assert_eq!((kit.notes.planned(), kit.monitors.monitors().all()), (planned, vec![monitor]));
    kit.ledger.broken.store(false, Ordering::Relaxed);
    assert_eq!(kit.patch(id, json!({"note": "x"})).await.unwrap().revision, 2);
}

#[tokio::test]
async fn a_runner_that_ends_in_the_middle_leaves_nothing_of_the_change() {
    let kit = Kit::new();
    let id = kit.made(json!({"note": "old"})).await;
    kit.notes.ending.store(true, Ordering::Relaxed);
    assert!(matches!(kit.create(json!({"name": "new"})).await, Err(ServiceError::Unavailable(_))));
    assert!(matches!(kit.patch(id, json!({"note": "new"})).await, Err(ServiceError::Unavailable(_))));
    assert_eq!(kit.monitors.monitors().len(), 1);
    assert_eq!(kit.monitor(id).document.text("note"), Some("old"));
    let kept = kit.ledger.stored_monitors().await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].monitor.document.text("note"), Some("old"));
    let actions: Vec<_> = kit.audit().await.into_iter().map(|row| row.action).collect();
    assert_eq!(actions, ["create", "create", "undo", "change", "undo"]);
    kit.notes.ending.store(false, Ordering::Relaxed);
    let saved = kit.patch(id, json!({"note": "newer"})).await.unwrap();
    assert_eq!(Revision(saved.revision), kit.monitor(id).revision, "memory knows the newest version");
}
