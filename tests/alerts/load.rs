//! Very many failures at once.

use std::collections::HashSet;
use std::time::Instant;

use serde_json::json;
use vigie::domain::{CheckResult, MonitorId, Outcome};

use crate::alerts::harness::{Harness, monitor, result, run, until};

const MANY: i32 = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_failures_in_the_same_minute_are_each_notified_once() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    harness.monitors =
        (1..=MANY).map(|id| monitor(MonitorId(id.into()), &[1], json!({"mode": "Global Verify"}))).collect();
    harness.ingestor.update_monitors(harness.monitors.clone(), Vec::new()).await;
    let failed = |number: i64, outcome: Outcome| -> Vec<CheckResult> {
        (1..=MANY).map(|id| result(MonitorId(id.into()), 1, run(number), outcome)).collect()
    };
    let started = Instant::now();
    // The first run of every monitor is due by then. The clock stands still until all results are in, so that no
    // verification times out.
    harness.advance_to(run(1));
    for result in failed(0, Outcome::Error) {
        harness.ingestor.submit(result).await;
    }
    until("all are told", async || harness.count().await == u64::try_from(MANY).unwrap()).await;
    println!("{MANY} failures were verified and told within {:?}", started.elapsed());
    harness.advance_to(run(2));
    for result in failed(1, Outcome::Ok) {
        harness.ingestor.submit(result).await;
    }
    until("their ends are told", async || harness.count().await == 2 * u64::try_from(MANY).unwrap()).await;
    let keys: HashSet<String> =
        harness.notifications().await.into_iter().map(|message| message.message.idempotency_key).collect();
    assert_eq!(keys.len(), 2 * usize::try_from(MANY).unwrap());
    let check_requests = harness.locations.check_requests.lock().unwrap().len();
    assert_eq!(check_requests, usize::try_from(MANY).unwrap(), "each was asked about once");
}
