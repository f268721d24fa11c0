//! Debian's prometheus-alertmanager accepts alerts and matches a clear to its error.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{NotificationKind, NotificationMethod};

use super::samples::{message, send};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking;

/// Returns the body of the response to GET `path`.
fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

fn alerts(port: u16, count: usize) -> Vec<Value> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let body: Value = serde_json::from_str(&get(port, "/api/v2/alerts")).unwrap();
        let alerts = body.as_array().unwrap().clone();
        if alerts.len() == count {
            return alerts;
        }
        assert!(Instant::now() < end, "not {count}: {body}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_active_until_its_clear() {
    if !has("prometheus-alertmanager") {
        let remedy = "apt-get install prometheus-alertmanager";
        lacking::lacks("alerts to alertmanager", "prometheus-alertmanager", remedy);
        return;
    }
    let folder = open_folder();
    let (configuration, port) = (folder.path().join("alertmanager.yml"), free_port());
    fs::write(&configuration, "route:\n  receiver: nobody\nreceivers:\n- name: nobody\n").unwrap();
    let mut command = Command::new("/usr/bin/prometheus-alertmanager");
    command.arg(format!("--config.file={}", configuration.display()));
    command.arg(format!("--storage.path={}", folder.path().join("data").display()));
    command.arg(format!("--web.listen-address=127.0.0.1:{port}")).arg("--cluster.listen-address=");
    let _daemon = Daemon::start(&mut command);
    wait_for(port);
    let url = format!("http://127.0.0.1:{port}");
    let now = SystemClock.now();
    for run in 0..2 {
        let mut error = message(NotificationKind::SiteError, NotificationMethod::Alertmanager, &url, "");
        (error.content.outage_started_at, error.content.occurred_at) =
            (Some(now - Duration::from_mins(5)), now);
        error.content.consecutive_failures = 3 + run;
        error.content.location_name = format!("location {run}");
        send(&error).await.unwrap();
    }
    let alert = alerts(port, 1).remove(0);
    assert_eq!(alert["labels"]["alertname"], "VigieSiteError");
    assert_eq!(alert["labels"]["monitor"], "Shop \"front\" <page>");
    assert_eq!(alert["labels"]["severity"], "critical");
    assert_eq!(alert["annotations"]["location"], "location 1");
    assert_eq!(alert["status"]["state"], "active");
    let ends: jiff::Timestamp = alert["endsAt"].as_str().unwrap().parse().unwrap();
    assert!(ends.as_microsecond() > (now + Duration::from_hours(23)).as_micros(), "{ends}");
    let mut clear = message(NotificationKind::SiteClear, NotificationMethod::Alertmanager, &url, "");
    (clear.content.outage_started_at, clear.content.occurred_at) = (Some(now - Duration::from_mins(5)), now);
    send(&clear).await.unwrap();
    alerts(port, 0);
}
