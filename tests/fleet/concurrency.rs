//! Many at once.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use vigie::domain::MonitorId;
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::fleet::kit::{Kit, admin};
use crate::support::fields::Fields;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost() {
    let kit = Arc::new(Kit::new());
    let id = kit.made(json!({})).await;
    let fields = ["note", "alert_note", "name", "keyword_string", "realm_userid", "realm_password"];
    let edits = fields.map(|field| {
        let kit = Arc::clone(&kit);
        tokio::spawn(async move { kit.patch(id, json!({field: "set"})).await.unwrap() })
    });
    let mut revisions = HashSet::new();
    for edit in edits {
        revisions.insert(edit.await.unwrap().revision);
    }
    assert_eq!(revisions, (2..=7).collect());
    let document = kit.monitor(id).document;
    for field in fields {
        assert_eq!(document.text(field), Some("set"), "{field}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_edits_of_the_same_version_one_is_taken() {
    let kit = Arc::new(Kit::new());
    let id = kit.made(json!({})).await;
    let revision = kit.monitor(id).revision;
    let edits: Vec<_> = (0..20)
        .map(|number| {
            let kit = Arc::clone(&kit);
            tokio::spawn(async move {
                let body = Node::from(json!({"note": format!("{number}")}));
                monitors::patch(&kit.monitors, &admin(), id, None, InputFormat::V3, &body, Some(revision))
                    .await
                    .is_ok()
            })
        })
        .collect();
    let mut taken = 0;
    for edit in edits {
        taken += usize::from(edit.await.unwrap());
    }
    assert_eq!((taken, kit.monitor(id).revision.0), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_creates_at_once_are_all_kept() {
    let kit = Arc::new(Kit::new());
    let creates: Vec<_> = (0..200)
        .map(|number| {
            let kit = Arc::clone(&kit);
            tokio::spawn(async move { kit.made(json!({"name": format!("monitor {number}")})).await })
        })
        .collect();
    let mut ids = HashSet::new();
    for create in creates {
        ids.insert(create.await.unwrap());
    }
    assert_eq!(ids.len(), 200);
    assert_eq!(kit.notes.planned().len(), 200);
    assert_eq!(kit.audit().await.len(), 200);
    let kit = Arc::into_inner(kit).unwrap().restarted().await;
    let kept: HashSet<MonitorId> = kit.monitors.monitors().all().iter().map(|monitor| monitor.id).collect();
    assert_eq!(kept, ids);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_leaves_nothing_half_done() {
    let kit = Kit::new();
    for number in 0..50 {
        let name = format!("monitor {number}");
        let create = kit.create(json!({"name": name}));
        // Polled a little, then dropped, as when a connection ends.
        let _ = tokio::time::timeout(std::time::Duration::from_micros(number * 40), create).await;
    }
    // What was under way goes on by itself; an edit waits for its turn behind all of it.
    let last = kit.made(json!({"name": "last"})).await;
    monitors::delete(&kit.monitors, &admin(), last, None).await.unwrap();
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let kept: Vec<_> = kit.ledger.inner_ids().await;
        let known: Vec<_> = kit.monitors.monitors().all().iter().map(|monitor| monitor.id).collect();
        if kept == known && kit.notes.planned().len() == kept.len() {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "kept {kept:?}, known {known:?}");
        tokio::task::yield_now().await;
    }
}
