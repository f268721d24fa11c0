//! How long it takes until another controller leads: `tests/run` measures it with the machine to itself.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::kit::{Cluster, FAIL_OVER, monitor, within};
use crate::support::long_tests::full;

/// Kills of the long run, whose figures are on the page of benchmarks.
const MANY_KILLS: usize = 20;

#[tokio::test]
async fn another_controller_leads_within_ten_seconds_after_a_kill() {
    let kills = if full() { MANY_KILLS } else { 1 };
    let cluster = Cluster::start().await;
    let mut first = cluster.controller("first");
    first.wait_for_log("requests are served");
    let mut second = cluster.controller("second");
    let (mut leader, mut standby) = ((&mut first, "first"), (&mut second, "second"));
    let (status, _) = cluster.call((&*leader.0, leader.1), "POST", "/monitors/tcp", &monitor("kept"));
    assert_eq!(status, 200);
    let mut times = Vec::new();
    for _ in 0..kills {
        leader.0.signal(Signal::SIGKILL);
        // Requests that come meanwhile wait for the next one.
        let (listed, took) = within(FAIL_OVER, || {
            let (status, listed) = cluster.call((&*standby.0, standby.1), "GET", "/monitors", &Value::Null);
            (status == 200).then_some(listed)
        });
        assert_eq!(listed["results"][0]["name"], "kept");
        times.push(took);
        leader.0.wait_for_exit();
        *leader.0 = cluster.controller(leader.1);
        (leader, standby) = (standby, leader);
    }
    println!("another controller led after: {}", median_and_longest(times));
}

fn median_and_longest(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let (count, median, longest) = (times.len(), times[times.len() / 2], times[times.len() - 1]);
    format!("median {median:.1?}, longest {longest:.1?} of {count}")
}
