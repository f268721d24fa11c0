//! The export of a running server.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::collector::{TIMEOUT, attribute, logs, number, points, spans, wait_for};
use crate::daemon::process::{Daemon, command, folder, tcp_monitor};
use crate::notify::receiver::Receiver;
use crate::support::closed::ClosedPort;

/// Returns two monitors, of which one fails.
fn monitors(closed: &ClosedPort, open: u16) -> String {
    let of = |key: &str, port: u16| {
        format!(
            "- {{key: {key}, type: tcp, name: Port {key}, billing_plancode: x, hostname: 127.0.0.1, port: {port}, interval: 1, timeout: 5, retry_on_failure: false}}\n"
        )
    };
    of("gone", closed.at.port()) + &of("fine", open)
}

/// Waits until the server has stored `count` results.
fn wait_for_stored_results(daemon: &Daemon, count: f64) {
    let end = Instant::now() + TIMEOUT;
    loop {
        let (_, text) = daemon.get_with_headers("/metrics", "");
        let stored = text.lines().find_map(|line| line.strip_prefix("vigie_store_commit_results_sum "));
        if stored.is_some_and(|stored| stored.parse::<f64>().unwrap() >= count) {
            return;
        }
        assert!(Instant::now() < end, "{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_exports_what_it_stores_and_sends_the_rest_when_it_stops() {
    let receiver = Receiver::always(200).await;
    let closed = ClosedPort::new();
    let folder = folder(&monitors(&closed, receiver.address.port()));
    let token = folder.path().join("token");
    fs::write(&token, "Bearer s3cret-of-otlp\n").unwrap();
    let config = folder.path().join("vigie.yaml");
    let batch_seconds = 60;
    let text = format!(
        "otlp:\n  endpoint: {}\n  headers: [{{name: Authorization, value_file: {}}}]\n  batch_seconds: {batch_seconds}\n",
        receiver.url("/otlp"),
        token.display()
    );
    fs::write(&config, text).unwrap();
    let mut command = command(folder.path());
    command.arg("--config").arg(&config);
    let daemon = tokio::task::spawn_blocking(move || {
        let daemon = Daemon::from_child(command.spawn().unwrap(), folder);
        wait_for_stored_results(&daemon, 2.0);
        daemon
    })
    .await
    .unwrap();
    assert!(receiver.requests().is_empty(), "they wait for others");
    daemon.signal(Signal::SIGTERM);
    let mut daemon = tokio::task::spawn_blocking(move || {
        let mut daemon = daemon;
        daemon.wait_for_exit();
        daemon
    })
    .await
    .unwrap();
    let request = receiver.requests().remove(0);
    assert_eq!(request.header("authorization"), Some("Bearer s3cret-of-otlp"));
    assert!(!daemon.log_text().contains("s3cret"));
    drop(daemon);
    let _ = wait_for(&receiver, |receiver| (!receiver.requests().is_empty()).then_some(())).await;
    let up = |key: &str| {
        let points = points(&receiver);
        let found = points.into_iter().find(|(name, _, point)| {
            name == "vigie.check.up" && attribute(&point.attributes, "vigie.monitor.key") == key
        });
        found.map(|(.., point)| (number(&point), point.attributes))
    };
    assert_eq!(up("fine").map(|(value, _)| value), Some(1.0));
    let (value, attributes) = up("gone").unwrap();
    assert_eq!(value, 0.0);
    assert_eq!(attribute(&attributes, "vigie.monitor.name"), "Port gone");
    assert_eq!(attribute(&attributes, "vigie.account.id"), "1");
    assert!(!attribute(&attributes, "vigie.location.name").is_empty());
    let logs = logs(&receiver);
    assert!(logs.iter().all(|(_, record)| attribute(&record.attributes, "vigie.monitor.key") == "gone"));
    assert_eq!(attribute(&logs[0].1.attributes, "error.type"), "connect_refused");
    let spans = spans(&receiver);
    assert!(spans.iter().any(|span| span.name == "connect" && span.trace_id == logs[0].1.trace_id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_switches_the_export_on() {
    let receiver = Receiver::always(200).await;
    let closed = ClosedPort::new();
    let folder = folder(&monitors(&closed, receiver.address.port()));
    let config = folder.path().join("vigie.yaml");
    fs::write(&config, "otlp: {batch_seconds: 1}\n").unwrap();
    let mut command = command(folder.path());
    command.arg("--config").arg(&config);
    let (endpoint, port) = (receiver.url(""), receiver.address.port());
    let daemon = tokio::task::spawn_blocking(move || {
        let more = folder.path().join("monitors/more.yaml");
        let mut daemon = Daemon::from_child(command.spawn().unwrap(), folder);
        wait_for_stored_results(&daemon, 2.0);
        // Its first check comes at once.
        fs::write(more, tcp_monitor("new", port)).unwrap();
        fs::write(
            &config,
            format!("otlp: {{batch_seconds: 1, endpoint: '{endpoint}', signals: [metrics]}}\n"),
        )
        .unwrap();
        daemon.signal(Signal::SIGHUP);
        daemon.wait_for_log("reloaded");
        daemon
    })
    .await
    .unwrap();
    let lines = wait_for(&receiver, |receiver| {
        let lines: Vec<_> = receiver.requests().into_iter().map(|request| request.line).collect();
        (!lines.is_empty()).then_some(lines)
    })
    .await;
    assert!(lines.iter().all(|line| line == "POST /v1/metrics HTTP/1.1"), "{lines:?}");
    drop(daemon);
}
