//! Ten thousand monitors in one call. The bounds are wide, for a debug build on a busy machine: they catch steps
//! whose cost per monitor grows with the number of monitors.

use std::time::{Duration, Instant};

use serde_json::json;
use vigie::domain::{MonitorId, MonitorType as T, Revision};
use vigie::service::monitors;
use vigie::service::{ApplyOptions, MonitorDefinition};

use crate::bulk::support::{edit, error_texts, replacement, snapshot};
use crate::monitors::harness::{Harness, admin, website};

const MANY: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bulk_calls_handle_ten_thousand_monitors_in_time() {
    let harness = Harness::new();
    let body = website(json!({"realm_password": "old"}));
    let all: Vec<_> = (0..MANY)
        .map(|number| MonitorDefinition {
            key: format!("k{number}"),
            monitor_type: T::Website,
            body: body.clone(),
        })
        .collect();
    let timed = |what: &str, started: Instant| {
        let took = started.elapsed();
        println!("{what}: {took:?}");
        assert!(took < Duration::from_mins(2), "{what} took {took:?}");
    };
    let started = Instant::now();
    let created =
        monitors::apply(&harness.monitors, &admin(), all.clone(), ApplyOptions::default()).await.unwrap();
    timed("apply that makes all", started);
    let mut ids: Vec<MonitorId> = created.iter().map(|change| change.id.unwrap()).collect();
    let started = Instant::now();
    let same =
        monitors::apply(&harness.monitors, &admin(), all, ApplyOptions { dry_run: false, prune: true })
            .await
            .unwrap();
    timed("apply that changes none", started);
    assert!(same.len() == MANY && same.iter().all(|change| change.action == "none"));
    let started = Instant::now();
    monitors::bulk_edit(&harness.monitors, &admin(), &edit(&ids, json!({"note": "x"}))).await.unwrap();
    timed("bulk edit", started);
    let started = Instant::now();
    monitors::bulk_edit_passwords(&harness.monitors, &admin(), &replacement(&ids, "old", "new"))
        .await
        .unwrap();
    timed("password bulk edit", started);
    assert!(ids.iter().all(|id| harness.monitor(*id).revision == Revision(3)));
    let before = snapshot(&harness).await;
    let found = error_texts(
        monitors::bulk_edit_passwords(&harness.monitors, &admin(), &replacement(&ids, "old", "new")).await,
    );
    assert_eq!(found.len(), 101, "the first hundred by name, and how many more there are");
    assert!(found[100].contains("9900 more errors"), "{}", found[100]);
    ids.push(MonitorId(999_999_999));
    let found = error_texts(monitors::bulk_edit(&harness.monitors, &admin(), &edit(&ids, json!({}))).await);
    assert!(found[0].contains("`999999999`"), "{found:?}");
    assert_eq!(snapshot(&harness).await, before);
}
