//! Another controller takes the lead when the one that leads is killed or stopped.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::kit::{Cluster, SLOW_FAIL_OVER, monitor, within};

#[tokio::test]
async fn a_controller_that_was_stopped_for_a_while_does_nothing_when_it_goes_on() {
    let cluster = Cluster::start().await;
    let mut first = cluster.controller("first");
    first.wait_for_log("requests are served");
    let mut second = cluster.controller("second");
    first.signal(Signal::SIGSTOP);
    second.wait_for_log("requests are served");
    let (status, _) = cluster.call((&second, "second"), "POST", "/monitors/tcp", &monitor("of the second"));
    assert_eq!(status, 200);
    first.signal(Signal::SIGCONT);
    // It starts anew, and hands requests on.
    first.wait_for_log("another controller leads");
    let serving = first.wait_for_log("waiting for the lead");
    first.address = serving["address"].as_str().unwrap().parse().unwrap();
    let (listed, _) = within(SLOW_FAIL_OVER, || {
        let (status, listed) = cluster.call((&first, "first"), "GET", "/monitors", &Value::Null);
        (status == 200).then_some(listed)
    });
    assert_eq!(listed["results"][0]["name"], "of the second");
    // And leads again when the other one is gone.
    second.signal(Signal::SIGKILL);
    first.wait_for_log("requests are served");
}

#[tokio::test]
async fn the_lead_outlives_a_restart_of_the_database() {
    let mut cluster = Cluster::start().await;
    let mut first = cluster.controller("first");
    first.wait_for_log("requests are served");
    let second = cluster.controller("second");
    cluster.postgres.kill();
    cluster.postgres.restart();
    within(SLOW_FAIL_OVER, || {
        let (status, _) = cluster.call((&second, "second"), "POST", "/monitors/tcp", &monitor("after"));
        (status == 200).then_some(())
    });
}
