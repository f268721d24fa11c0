//! Ten thousand monitors in one call. In the debug build, and with others at work, the bounds are wide: what
//! they catch is a step that costs more the more monitors there are.

use std::time::{Duration, Instant};

use serde_json::json;
use vigie::domain::{MonitorId, MonitorType as T, Revision};
use vigie::service::monitors;
use vigie::service::{ApplyEntry, ApplyOptions};

use crate::bulk::support::{edit, exchange, told, whole};
use crate::fleet::kit::{Kit, admin, website};

const MANY: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_at_once() {
    let kit = Kit::new();
    let body = website(json!({"realm_password": "old"}));
    let all: Vec<_> = (0..MANY)
        .map(|number| ApplyEntry { key: format!("k{number}"), kind: T::Website, body: body.clone() })
        .collect();
    let timed = |what: &str, started: Instant| {
        let took = started.elapsed();
        println!("{what}: {took:?}");
        assert!(took < Duration::from_mins(2), "{what} took {took:?}");
    };
    let started = Instant::now();
    let made = monitors::apply(&kit.monitors, &admin(), all.clone(), ApplyOptions::default()).await.unwrap();
    timed("apply that makes all", started);
    let mut ids: Vec<MonitorId> = made.iter().map(|change| change.id.unwrap()).collect();
    let started = Instant::now();
    let same = monitors::apply(&kit.monitors, &admin(), all, ApplyOptions { dry_run: false, prune: true })
        .await
        .unwrap();
    timed("apply that changes none", started);
    assert!(same.len() == MANY && same.iter().all(|change| change.action == "none"));
    let started = Instant::now();
    monitors::bulk_edit(&kit.monitors, &admin(), &edit(&ids, json!({"note": "x"}))).await.unwrap();
    timed("bulk edit", started);
    let started = Instant::now();
    monitors::bulk_edit_passwords(&kit.monitors, &admin(), &exchange(&ids, "old", "new")).await.unwrap();
    timed("password bulk edit", started);
    assert!(ids.iter().all(|id| kit.monitor(*id).revision == Revision(3)));
    let before = whole(&kit).await;
    let found =
        told(monitors::bulk_edit_passwords(&kit.monitors, &admin(), &exchange(&ids, "old", "new")).await);
    assert_eq!(found.len(), 101, "the first hundred by name, and how many more there are");
    assert!(found[100].contains("9900 more errors"), "{}", found[100]);
    ids.push(MonitorId(999_999_999));
    let found = told(monitors::bulk_edit(&kit.monitors, &admin(), &edit(&ids, json!({}))).await);
    assert!(found[0].contains("`999999999`"), "{found:?}");
    assert_eq!(whole(&kit).await, before);
}
