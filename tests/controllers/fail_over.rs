//! How long it takes until another controller leads: `tests/run` measures it with the machine to itself.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::kit::{Cluster, FAIL_OVER, monitor, within};

#[tokio::test]
async fn another_controller_leads_within_ten_seconds_after_a_kill() {
    let cluster = Cluster::start().await;
    let mut first = cluster.controller("first");
    first.wait_for_log("requests are served");
    let second = cluster.controller("second");
    let (status, _) = cluster.call((&first, "first"), "POST", "/monitors/tcp", &monitor("kept"));
    assert_eq!(status, 200);
    first.signal(Signal::SIGKILL);
    // Requests that come meanwhile wait for the next one.
    let (listed, took) = within(FAIL_OVER, || {
        let (status, listed) = cluster.call((&second, "second"), "GET", "/monitors", &Value::Null);
        (status == 200).then_some(listed)
    });
    assert_eq!(listed["results"][0]["name"], "kept");
    println!("another controller led after {took:?}");
}
