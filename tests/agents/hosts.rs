//! Hosts that a location on another host watches: its agent asks the server what they reported, and pings them itself.

use serde_json::{Value, json};

use super::network::{Host, Installation, SETUP, TARGET, until};
use crate::support::namespace::inside;

/// What the host of the agent cannot reach, while the server can.
const FROM_NOWHERE: &str = "10.77.0.101";

/// Makes a host and sends its first report; returns its id.
fn reporting_host(installation: &Installation, name: &str, address: &str) -> String {
    let host = json!({"name": name, "address": address, "report_seconds": 5});
    let made = installation.call("POST", "/hosts", &host);
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let now = jiff::Timestamp::now().to_string();
    let report = json!({"version": 1, "seq": 1, "at": now, "metrics": {"load1": 9.5}});
    let (status, body) =
        installation.server.call_with_token(token, "POST", &format!("/hosts/{id}/reports"), &report);
    assert_eq!(status, 204, "{body}");
    id.to_owned()
}

/// Creates a monitor of the host `name` at `location`; returns its id.
fn monitor(installation: &Installation, name: &str, location: i64) -> i64 {
    let fields = json!({"name": name, "billing_plancode": "x", "host_id": name, "interval": 120, "timeout": 3,
        "locations": [{"id": location}], "home_location": location, "retry_on_failure": false,
        "traceroute_on_error": false, "thresholds": [{"metric": "load1", "error": 8}]});
    let made = installation.call("POST", "/monitors/hostagent", &fields);
    made["id"].as_str().unwrap().parse().unwrap()
}

/// Waits for the first result of a monitor.
fn first_result(installation: &Installation, monitor: i64) -> Value {
    let mut results = Vec::new();
    until("the agent has checked the monitor", || {
        results = installation.results(monitor);
        !results.is_empty()
    });
    results.remove(0)
}

#[test]
fn an_agent_elsewhere_judges_reports_and_tells_a_silent_agent_from_a_dead_host() {
    const NAME: &str =
        "agents::hosts::an_agent_elsewhere_judges_reports_and_tells_a_silent_agent_from_a_dead_host";
    if !inside(NAME, SETUP, "") {
        return;
    }
    let installation = Installation::start();
    let (place, location) = (Host::new(1), installation.location("north", 1));
    place.cannot_reach(FROM_NOWHERE);
    let _agent = installation.agent(&location, &place, &[]);
    until("the agent is online", || {
        installation.list("/agents").iter().any(|agent| agent["state"] == "online")
    });
    let silent = ["pinged", "lost"];
    let ids: Vec<String> = silent
        .into_iter()
        .zip([TARGET, FROM_NOWHERE])
        .map(|(name, address)| reporting_host(&installation, name, address))
        .collect();
    reporting_host(&installation, "loaded", TARGET);

    let loaded = first_result(&installation, monitor(&installation, "loaded", location.id));
    assert_eq!((&loaded["status"], &loaded["location_id"]), (&json!(4040), &json!(location.id)), "{loaded}");
    assert_eq!(loaded["facts"]["host_values"][0]["series"], "load1");
    assert!(loaded["facts"]["report_age_us"].as_u64().unwrap() < 60_000_000, "{loaded}");

    for id in &ids {
        until("the host is silent", || installation.get(&format!("/hosts/{id}"))["state"] == "silent");
    }
    let [pinged, lost] = silent
        .map(|name| monitor(&installation, name, location.id))
        .map(|id| first_result(&installation, id));
    assert_eq!(pinged["status"], 4050, "{pinged}");
    assert!(pinged["reasons"].to_string().contains("answers a ping"), "{pinged}");
    assert_eq!(lost["status"], 4059, "{lost}");
    assert!(lost["reasons"].to_string().contains("does not answer a ping"), "{lost}");
}
