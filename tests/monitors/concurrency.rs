//! Concurrent changes.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use vigie::domain::MonitorId;
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::monitors::harness::{Harness, admin};
use crate::support::fields::Fields;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_edits_lose_no_update() {
    let harness = Arc::new(Harness::new());
    let id = harness.create_monitor(json!({})).await;
    let fields = ["note", "alert_note", "name", "keyword_string", "realm_userid", "realm_password"];
    let edits = fields.map(|field| {
        let harness = Arc::clone(&harness);
        tokio::spawn(async move { harness.patch(id, json!({field: "set"})).await.unwrap() })
    });
    let mut revisions = HashSet::new();
    for edit in edits {
        revisions.insert(edit.await.unwrap().revision);
    }
    assert_eq!(revisions, (2..=7).collect());
    let document = harness.monitor(id).document;
    for field in fields {
        assert_eq!(document.text(field), Some("set"), "{field}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_concurrent_edits_of_one_revision_only_one_succeeds() {
    let harness = Arc::new(Harness::new());
    let id = harness.create_monitor(json!({})).await;
    let revision = harness.monitor(id).revision;
    let edits: Vec<_> = (0..20)
        .map(|number| {
            let harness = Arc::clone(&harness);
            tokio::spawn(async move {
                let body = Node::from(json!({"note": format!("{number}")}));
                monitors::patch(&harness.monitors, &admin(), id, None, InputFormat::V3, &body, Some(revision))
                    .await
                    .is_ok()
            })
        })
        .collect();
    let mut accepted = 0;
    for edit in edits {
        accepted += usize::from(edit.await.unwrap());
    }
    assert_eq!((accepted, harness.monitor(id).revision.0), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_concurrent_creates_are_all_stored() {
    let harness = Arc::new(Harness::new());
    let creates: Vec<_> = (0..200)
        .map(|number| {
            let harness = Arc::clone(&harness);
            tokio::spawn(
                async move { harness.create_monitor(json!({"name": format!("monitor {number}")})).await },
            )
        })
        .collect();
    let mut ids = HashSet::new();
    for create in creates {
        ids.insert(create.await.unwrap());
    }
    assert_eq!(ids.len(), 200);
    assert_eq!(harness.planner.planned().len(), 200);
    assert_eq!(harness.audit().await.len(), 200);
    let harness = Arc::into_inner(harness).unwrap().restarted().await;
    let stored: HashSet<MonitorId> =
        harness.monitors.monitor_cache().all().iter().map(|monitor| monitor.id).collect();
    assert_eq!(stored, ids);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_leaves_no_partial_change() {
    let harness = Harness::new();
    for number in 0..50 {
        let name = format!("monitor {number}");
        let create = harness.create(json!({"name": name}));
        // Dropped after a short time, as when a connection closes.
        let _ = tokio::time::timeout(std::time::Duration::from_micros(number * 40), create).await;
    }
    // Calls in progress finish by themselves; a later change is made after all of them.
    let last = harness.create_monitor(json!({"name": "last"})).await;
    monitors::delete(&harness.monitors, &admin(), last, None).await.unwrap();
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let stored: Vec<_> = harness.store.inner_ids().await;
        let known: Vec<_> = harness.monitors.monitor_cache().all().iter().map(|monitor| monitor.id).collect();
        if stored == known && harness.planner.planned().len() == stored.len() {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "kept {stored:?}, known {known:?}");
        tokio::task::yield_now().await;
    }
}
