//! With the real check runner: a new monitor runs in its newest revision until it is deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use vigie::clock::Clock;
use vigie::domain::{LocationId, Outcome, Timestamp};
use vigie::pipeline::Planner;
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::monitors::harness::{NOON, admin};
use crate::monitors::process::Process;

/// Starts a listener that counts its connections.
async fn listener() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_monitor_runs_in_its_newest_revision_from_its_first_slot_until_its_deletion() {
    let process = Process::start().await;
    let ((first, first_seen), (second, second_seen)) = (listener().await, listener().await);
    let id = process.create(first, json!({})).await;
    assert_eq!(first_seen.load(Ordering::SeqCst), 0, "no check right after the create");
    process.advance(60).await;
    let results = process.results(id, 1).await;
    assert_eq!((results.len(), results[0].outcome, results[0].revision.0), (1, Outcome::Ok, 1));
    assert!(results[0].planned_at > Timestamp::from_seconds(NOON));
    assert!(results[0].planned_at <= Timestamp::from_seconds(NOON + 60));
    assert_eq!(first_seen.load(Ordering::SeqCst), 1);

    let body = Node::from(json!({"port": second}));
    monitors::patch(&process.monitors, &admin(), id, None, InputFormat::V3, &body, None).await.unwrap();
    process.advance(60).await;
    let results = process.results(id, 2).await;
    assert_eq!((results[0].outcome, results[0].revision.0), (Outcome::Ok, 2));
    assert_eq!((first_seen.load(Ordering::SeqCst), second_seen.load(Ordering::SeqCst)), (1, 1));

    monitors::delete(&process.monitors, &admin(), id, None).await.unwrap();
    assert_eq!(process.planned().await, 0);
    process.advance(120).await;
    assert_eq!((process.results(id, 2).await.len(), second_seen.load(Ordering::SeqCst)), (2, 1));
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_causes_no_missed_runs() {
    let process = Process::start().await;
    let (port, _) = listener().await;
    let id = process.create(port, json!({})).await;
    monitors::pause_monitor(&process.monitors, &admin(), id, Timestamp::from_seconds(NOON + 300))
        .await
        .unwrap();
    assert_eq!(process.planned().await, 0);
    process.advance(300).await;
    monitors::resume_due_monitors(&process.monitors, process.clock.now()).await;
    assert_eq!(process.planned().await, 1);
    process.advance(60).await;
    let results = process.results(id, 1).await;
    assert_eq!((results.len(), results[0].outcome), (1, Outcome::Ok), "{results:?}");
    assert!(results[0].planned_at > Timestamp::from_seconds(NOON + 300));
    process.end().await;
}

// row: 2.1 enabled; 2.1 home_location; 2.1 locations; 3 enabled
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_monitors_with_this_location_in_their_pool_run_here() {
    let process = Process::start().await;
    let (port, _) = listener().await;
    process.create(port, json!({"locations": [{"id": 2}]})).await;
    process.create(port, json!({"enabled": false})).await;
    assert_eq!(process.planned().await, 0);
    let both = process.create(port, json!({"locations": [{"id": 2}, {"id": 1}]})).await;
    assert_eq!(process.planned().await, 1);
    let elsewhere = Node::from(json!({"locations": [{"id": 2}], "home_location": null}));
    monitors::patch(&process.monitors, &admin(), both, None, InputFormat::V3, &elsewhere, None)
        .await
        .unwrap();
    assert_eq!(process.planned().await, 0);
    process.end().await;
}

/// Changes the default locations of account 1 to location 2.
async fn change_default_locations(process: &Process) {
    use vigie::domain::ConfigRecordKind;
    use vigie::store::{ConfigChange, ConfigStore};

    let mut account = process.store.record(ConfigRecordKind::Customer, 1).await.unwrap().unwrap();
    let expected = account.revision;
    account.revision.0 += 1;
    account.fields.insert("default_locations".to_owned(), json!([{"id": 2}]));
    process
        .store
        .write_changes(vec![ConfigChange::UpdateRecord { record: Box::new(account), expected }], vec![])
        .await
        .unwrap();
    process.monitors.account_cache().invalidate_all();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_the_account_does_not_cancel_the_test_of_a_disabled_monitor() {
    let process = Process::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dialogue = json!({"enabled": false, "dialogue": [{"expect": "hello"}]});
    let id = process.create(listener.local_addr().unwrap().port(), dialogue).await;
    let monitor = process.monitors.monitor_cache().get(id).unwrap();
    let planner = Arc::clone(&process.planner);
    let test = tokio::spawn(async move { planner.run_check_now(monitor, LocationId(1)).await.unwrap() });
    let (mut stream, _) = listener.accept().await.unwrap();
    change_default_locations(&process).await;
    process.planner.replan_changed_accounts(process.monitors.monitor_cache()).await.unwrap();
    stream.write_all(b"hello\r\n").await.unwrap();
    let result = test.await.unwrap();
    assert_eq!(result.outcome, Outcome::Ok, "{result:?}");
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_default_locations_move_monitors_without_their_own() {
    use vigie::domain::CustomerId;

    let process = Process::start().await;
    let (port, _) = listener().await;
    process.create(port, json!({})).await;
    process.create(port, json!({"locations": [{"id": 1}]})).await;
    assert_eq!(process.planned().await, 2);
    change_default_locations(&process).await;
    // A monitor created in between must not hide the change for the others.
    process.create(port, json!({"locations": [{"id": 1}]})).await;
    process.planner.replan_changed_accounts(process.monitors.monitor_cache()).await.unwrap();
    assert_eq!(process.planned().await, 2);
    assert_eq!(
        process.monitors.account_cache().account(CustomerId(1)).await.unwrap().default_location_ids,
        [2]
    );
    process.end().await;
}
