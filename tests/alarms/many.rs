//! Very many at once.

use std::collections::HashSet;
use std::time::Instant;

use serde_json::json;
use vigie::domain::{CheckResult, MonitorId, Outcome};

use crate::alarms::world::{World, monitor, result, run, until};

const MANY: i32 = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_monitors_that_fail_in_the_same_minute_are_each_told_once() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    world.monitors =
        (1..=MANY).map(|id| monitor(MonitorId(id.into()), &[1], json!({"mode": "Global Verify"}))).collect();
    world.ingestor.update_monitors(world.monitors.clone(), Vec::new()).await;
    let failed = |number: i64, outcome: Outcome| -> Vec<CheckResult> {
        (1..=MANY).map(|id| result(MonitorId(id.into()), 1, run(number), outcome)).collect()
    };
    let started = Instant::now();
    // The first run of each is past then, and none is given up: all of it is there before time passes again.
    world.reach(run(1));
    for result in failed(0, Outcome::Error) {
        world.ingestor.submit(result).await;
    }
    until("all are told", async || world.count().await == u64::try_from(MANY).unwrap()).await;
    println!("{MANY} failures were verified and told within {:?}", started.elapsed());
    world.reach(run(2));
    for result in failed(1, Outcome::Ok) {
        world.ingestor.submit(result).await;
    }
    until("their ends are told", async || world.count().await == 2 * u64::try_from(MANY).unwrap()).await;
    let keys: HashSet<String> =
        world.messages().await.into_iter().map(|message| message.message.key).collect();
    assert_eq!(keys.len(), 2 * usize::try_from(MANY).unwrap());
    let asked = world.places.asked.lock().unwrap().len();
    assert_eq!(asked, usize::try_from(MANY).unwrap(), "each was asked about once");
}
