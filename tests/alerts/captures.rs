//! Captures that follow their result over the bus.

use serde_json::json;
use vigie::bus::contract::{ResultCaptures, ResultReceiver};
use vigie::domain::{CapturedFile, Outcome};
use vigie::store::ResultStore;

use super::harness::{Harness, result, run};

#[tokio::test]
async fn captures_are_added_to_the_committed_result_and_only_once() {
    let mut harness = Harness::new().await;
    let monitor = harness.monitor(&[1], json!({})).await;
    let failed = result(monitor, 1, run(0), Outcome::Error);
    let receiver: &dyn ResultReceiver = harness.ingestor.as_ref();
    receiver.deliver(failed.clone()).await;
    receiver.wait_until_committed().await;
    assert!(harness.store.result(failed.check_id).await.unwrap().unwrap().captures.is_empty());
    let captures = |planned_at, name: &str, content: &[u8]| ResultCaptures {
        check_id: failed.check_id,
        monitor_id: failed.monitor_id,
        location_id: failed.location_id,
        planned_at,
        files: vec![CapturedFile::new(name, "text/plain", content)],
    };
    let planned_at = failed.planned_at;
    receiver.deliver_captures(captures(planned_at, "body.txt", b"out of order")).await;
    // Delivered again, since its acknowledgement was lost; and one of a result that is not there.
    receiver.deliver_captures(captures(planned_at, "body.txt", b"out of order")).await;
    receiver.deliver_captures(captures(run(50), "other.txt", b"nothing")).await;
    receiver.wait_until_committed().await;
    let stored = harness.store.result(failed.check_id).await.unwrap().unwrap();
    let names: Vec<_> = stored.captures.iter().map(|capture| capture.name.as_str()).collect();
    assert_eq!(names, ["body.txt"]);
    let content = harness.store.capture(failed.check_id, "body.txt".to_owned()).await.unwrap().unwrap();
    assert_eq!(content.content.as_deref(), Some(&b"out of order"[..]));
}
