//! Debian's Prometheus scrapes a demo server with an API check of steps beside, as `config/ecosystem/prometheus.yml` says.

use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::expressions::{alert_rules, dashboard, dashboard_expressions, folder, without_comparison};
use crate::daemon::process::{self, http_get};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking;

/// Longest wait for data: several scrapes of a second each, and a check of each monitor.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Returns what the API of Prometheus answers to an expression.
fn query(prometheus: SocketAddr, expression: &str) -> Value {
    let query: String = url::form_urlencoded::byte_serialize(expression.as_bytes()).collect();
    let response = http_get(prometheus, &format!("/api/v1/query?query={query}")).expect("Prometheus answers");
    let answer: Value = serde_json::from_str(&response.body).unwrap();
    assert_eq!(answer["status"], "success", "{expression}: {answer}");
    answer["data"]["result"].clone()
}

/// Waits until each of `expressions` has data, and returns the last answer to the first one.
fn wait_for_data(prometheus: SocketAddr, expressions: &[String]) -> Value {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let has_data = |expression: &&String| {
            query(prometheus, expression).as_array().is_some_and(|series| !series.is_empty())
        };
        let empty: Vec<&String> = expressions.iter().filter(|expression| !has_data(expression)).collect();
        if empty.is_empty() {
            return query(prometheus, &expressions[0]);
        }
        assert!(Instant::now() < deadline, "no data for {empty:#?}");
        std::thread::sleep(Duration::from_millis(250));
    }
}

/// Starts Prometheus with the rules of `config/ecosystem` and its scrapes of `server`, each second.
fn start_prometheus(data: &std::path::Path, server: SocketAddr) -> (Daemon, SocketAddr) {
    let settings = fs::read_to_string(folder().join("prometheus.yml")).unwrap();
    let rules = folder().join("prometheus-alerts.yml");
    let settings = settings
        .replace("127.0.0.1:7979", &server.to_string())
        .replace("scrape_interval: 30s", "scrape_interval: 1s\n  evaluation_interval: 1s")
        .replace("- prometheus-alerts.yml", &format!("- {}", rules.display()));
    fs::write(data.join("prometheus.yml"), settings).unwrap();
    let port = free_port();
    let mut command = Command::new("prometheus");
    command
        .arg(format!("--config.file={}", data.join("prometheus.yml").display()))
        .arg(format!("--storage.tsdb.path={}", data.join("tsdb").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let prometheus = Daemon::start(&mut command);
    wait_for(port);
    // It accepts connections before it answers queries.
    let (address, deadline) = (SocketAddr::from(([127, 0, 0, 1], port)), Instant::now() + TIMEOUT);
    while http_get(address, "/-/ready").is_none_or(|response| response.status != 200) {
        assert!(Instant::now() < deadline, "Prometheus is not ready");
        std::thread::sleep(Duration::from_millis(50));
    }
    (prometheus, address)
}

#[test]
fn every_expression_has_data_in_prometheus() {
    if !has("prometheus") {
        lacking::lacks("metrics in Prometheus", "prometheus", "apt-get install prometheus");
        return;
    }
    // Without `--data`, so that it has a history with agreements and their error budgets.
    let vigie = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    command.args(["serve", "--demo", "--listen", "127.0.0.1:0"]).current_dir(vigie.path());
    command.env("TMPDIR", vigie.path()).env("VIGIE_LOG_FORMAT", "json");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let server = process::Daemon::from_child(command.spawn().unwrap(), vigie);
    let demo = format!("vigie-demo-{}-0/data/host-token", server.process_id());
    let token = fs::read_to_string(server.folder.path().join(demo)).unwrap();
    let call = |method, path: &str, body: &Value| server.call_with_token(token.trim(), method, path, body);
    // A check of steps, which fails; and one that Vigie cannot run, whose outcome is unknown.
    let steps = json!([
        {"step_name": "one", "step_number": 1, "url": "http://127.0.0.1:9/", "http_method": "GET"},
        {"step_name": "two", "step_number": 2, "url": "http://127.0.0.1:9/", "http_method": "GET"},
    ]);
    let api = json!({"billing_plancode": "p", "name": "Steps", "api_steps": steps});
    let lab = json!({
        "billing_plancode": "p", "name": "Lab", "hostname": "lab.test", "api_key": "x", "run_configuration": "{}",
    });
    for (path, monitor) in [("/monitors/website-api", api), ("/monitors/mobilelab", lab)] {
        let (status, created) = call("POST", path, &monitor);
        assert_eq!(status, 200, "{path}: {created}");
    }
    let data = open_folder();
    let (_prometheus, prometheus) = start_prometheus(data.path(), server.address);
    let dashboard = dashboard_expressions(&dashboard());
    let alerts = alert_rules().into_iter().map(|rule| without_comparison(&rule.expression).to_owned());
    let expressions: Vec<String> = dashboard.into_iter().chain(alerts).collect();
    assert!(expressions.len() > 50, "{}", expressions.len());
    let monitors = wait_for_data(prometheus, &expressions);
    // The first panel counts the monitors, those of the demo and both above.
    let (_, page) = call("GET", "/monitors?limit=1", &Value::Null);
    let count = page["metadata"]["resultset"]["count"].to_string();
    assert_eq!(monitors[0]["value"][1], count.as_str(), "{monitors}");
    let firing = "ALERTS{alertname=\"VigieOutage\",alertstate=\"firing\"}".to_owned();
    let outage = wait_for_data(prometheus, &[firing]).to_string();
    // Two monitors fail from the start; which one has an outage first is open.
    assert!(["Steps", "Name that is gone"].iter().any(|name| outage.contains(name)), "{outage}");
}
