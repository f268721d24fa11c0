//! Open ports: unexpected, expected, all, none.

use std::net::TcpListener;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use vigie::domain::{FailureKind, Severity};
use vigie::net::NameServers;
use vigie::probe::SecurityScanSettings;

use super::{facts, labels, net_with, scan, scan_with, settings, severity};

/// Listens on `ports` of `ip`. Connections stay in the backlog, which accepts them.
fn listen(ip: &str, ports: &[u16]) -> Vec<TcpListener> {
    ports.iter().map(|port| TcpListener::bind((ip, *port)).unwrap()).collect()
}

#[tokio::test]
async fn open_ports_are_findings_unless_expected() {
    let _open = listen("127.0.72.1", &[6379, 8443]);
    let unexpected = scan(json!({"hostname": "127.0.72.1", "expected_ports": [8443]})).await;
    assert_eq!(severity(&unexpected, "port-unexpected (6379)"), Some(Severity::High));
    assert_eq!(severity(&unexpected, "port-unexpected (8443)"), None);
    assert!(facts(&unexpected).open_ports.contains(&6379));
    let expected = scan(json!({"hostname": "127.0.72.1", "expected_ports": [6379, 8443]})).await;
    assert_eq!(severity(&expected, "port-unexpected (6379)"), None);
    let closed = scan(json!({"hostname": "127.0.72.1", "expected_ports": [6379, 8443, 50123]})).await;
    assert_eq!(severity(&closed, "port-expected-closed (50123)"), Some(Severity::Medium));
}

#[tokio::test]
async fn a_host_that_answers_on_every_port_is_one_finding() {
    let ports: Vec<u16> = vigie::evaluate::security::USUAL_PORTS
        .iter()
        .map(|port| port.number)
        .filter(|port| *port >= 1024)
        .collect();
    let _open = listen("127.0.72.2", &ports);
    let observation =
        scan(json!({"hostname": "127.0.72.2", "expected_ports": [ports[0]], "timeout": 1})).await;
    assert!(labels(&observation).contains("ports-all-open"), "{:#?}", facts(&observation).findings);
    let unexpected =
        facts(&observation).findings.iter().filter(|finding| finding.id == "port-unexpected").count();
    assert_eq!(unexpected, 0);
}

#[tokio::test]
async fn a_host_without_an_open_port_is_unreachable_and_not_hurried() {
    let started = Instant::now();
    let fast = scan(json!({"hostname": "127.0.72.3"})).await;
    let fast_time = started.elapsed();
    assert_eq!(fast.failure.as_ref().unwrap().kind, FailureKind::ConnectRefused, "{fast:?}");
    assert_eq!(fast.failure.as_ref().unwrap().status().0, 1);
    assert!(fast.facts.security.is_none());
    let slow = SecurityScanSettings { connections_per_second: NonZeroU32::new(100).unwrap(), ..settings() };
    let started = Instant::now();
    let slow = scan_with(json!({"hostname": "127.0.72.3"}), slow, &net_with(NameServers::System)).await;
    assert!(slow.failure.is_some());
    // 100 ports at 100 a second; the first one need not wait.
    assert!(started.elapsed() >= Duration::from_millis(980), "{:?}", started.elapsed());
    assert!(started.elapsed() > fast_time);
}

#[tokio::test]
async fn an_endless_greeting_is_cut_and_a_version_in_it_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.72.4:2222").await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n").await;
                while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
            });
        }
    });
    let observation = scan(json!({"hostname": "127.0.72.4", "expected_ports": [2222]})).await;
    assert!(
        labels(&observation).contains("version-banner (port 2222)"),
        "{:#?}",
        facts(&observation).findings
    );
}
