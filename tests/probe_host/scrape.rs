//! Pages of metrics: of Debian's `node_exporter`, and of a server that misbehaves.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use vigie::domain::{ReportedState, Status};

use super::{Answer, Checks, check, status};
use crate::support::daemon::{free_port, wait_for};

#[expect(clippy::unnecessary_wraps, reason = "a server may not answer")]
fn page_at(url: &str) -> Answer {
    Ok(ReportedState { was_reported: true, metrics_url: Some(url.to_owned()), ..ReportedState::default() })
}

struct NodeExporter {
    process: Child,
    url: String,
}

impl NodeExporter {
    fn start() -> Self {
        let port = free_port();
        let process = Command::new("prometheus-node-exporter")
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args([
                "--collector.disable-defaults",
                "--collector.loadavg",
                "--collector.cpu",
                "--collector.meminfo",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus-node-exporter starts");
        wait_for(port);
        Self { process, url: format!("http://127.0.0.1:{port}/metrics") }
    }
}

impl Drop for NodeExporter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn series_and_rates_of_node_exporter_are_judged() {
    let exporter = NodeExporter::start();
    let thresholds = json!([
        {"metric": "node_load1", "error": 1e6},
        {"metric": "node_memory_MemTotal_bytes", "error": 1.0},
        {"metric": "rate(node_cpu_seconds_total{mode=\"idle\"})", "error": 1e6},
        {"metric": "node_nothing", "error": 1.0},
    ]);
    let checks = Checks::new(
        json!({"report": "scrape", "host_id": "db1", "thresholds": thresholds}),
        page_at(&exporter.url),
    );
    let observation = checks.check().await;
    assert_eq!(status(&observation), Status(4040));
    let failure = observation.failure.unwrap();
    assert!(failure.detail.starts_with("`node_memory_MemTotal_bytes` is "), "{}", failure.detail);
    let values = observation.facts.host.unwrap().host_values;
    let rate = values.iter().find(|value| value.series.starts_with("rate(")).unwrap();
    assert_eq!(rate.series, "rate(node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"})");
    assert!((0.0..=1.5).contains(&rate.value), "{}", rate.value);
    assert!(observation.warnings.iter().any(|warning| warning.detail.contains("node_nothing")));
    // The second run has the rate since the first one, by the clock.
    checks.clock.advance(Duration::from_mins(5));
    let started = Instant::now();
    let again = checks.check().await;
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
    let values = again.facts.host.unwrap().host_values;
    assert!(values.iter().any(|value| value.series.starts_with("rate(") && value.value < 0.1));
}

/// Answers each connection with `reply`, then keeps it open if `hangs`.
async fn server(reply: Vec<u8>, hangs: bool) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/metrics", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let reply = reply.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&reply).await;
                if hangs {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    url
}

fn http(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn a_page_that_cannot_be_used_is_the_error_of_its_server() {
    let monitor =
        || json!({"report": "scrape", "host_id": "db1", "thresholds": [{"metric": "up", "error": 2.0}]});
    for (reply, expected, reason) in [
        (http("200 OK", "up 1\n"), Status::OK, ""),
        (http("200 OK", "up 3\n"), Status(4040), "`up` is 3"),
        (http("200 OK", "up NaN\n"), Status(4030), ""),
        (http("404 Not Found", "gone"), Status::HTTP_ERROR, "404"),
        (http("302 Found", "moved"), Status::HTTP_ERROR, "302"),
        (http("200 OK", "<html>\n"), Status::INVALID_RESPONSE, "line 1"),
        (http("200 OK", &"x".repeat(5_000_000)), Status::INVALID_RESPONSE, "limit"),
    ] {
        let url = server(reply, false).await;
        let observation = check(monitor(), page_at(&url)).await;
        let detail = observation.failure.as_ref().map(ToString::to_string).unwrap_or_default();
        assert_eq!(status(&observation), expected, "{detail}");
        assert!(detail.contains(reason), "{reason}: {detail}");
    }
    let refused = check(monitor(), page_at("http://127.0.0.1:1/metrics")).await;
    assert_eq!(status(&refused), Status::CONNECT_FAILED);
}

#[tokio::test]
async fn a_threshold_over_several_runs_remembers_them() {
    let monitor = json!({"report": "scrape", "host_id": "db1", "interval": 1,
        "thresholds": [{"metric": "up", "error": 2.0, "for": 2}]});
    let url = server(http("200 OK", "up 3\n"), false).await;
    let checks = Checks::new(monitor, page_at(&url));
    assert_eq!(status(&checks.check().await), Status::OK, "the first run");
    assert_eq!(status(&checks.check().await), Status::OK, "its second attempt");
    checks.clock.advance(Duration::from_mins(1));
    assert_eq!(status(&checks.check().await), Status(4040), "the second run");
}
