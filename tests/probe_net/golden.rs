//! Golden observations and verdicts of each type, with times, ports and keys masked.

use std::time::Duration;

use hickory_proto::op::ResponseCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use vigie::domain::{MonitorType, Observation};
use vigie::evaluate::evaluate_attempts;
use vigie::net::Pem;

use crate::probe_net::{TIMEOUT, attempt, net, net_with};
use crate::support::name_server::{NameServer, Reply, alias, v4};
use crate::support::tls_server::{Authority, config, serve};

/// Renders `observation` and its verdict as text; values that differ from run to run are masked.
fn render(observation: &Observation) -> String {
    let verdict = evaluate_attempts(std::slice::from_ref(observation));
    let mut value = json!({
        "observation": {
            "phases": observation.phases,
            "address": observation.address,
            "failure": observation.failure,
            "warnings": observation.warnings,
            "facts": observation.facts,
        },
        "verdict": {
            "outcome": verdict.outcome,
            "status": verdict.status,
            "reasons": verdict.reasons,
        },
    });
    let port = observation.address.map_or(0, |address| address.port());
    mask(&mut value, port);
    serde_json::to_string_pretty(&value).unwrap()
}

fn mask(value: &mut Value, port: u16) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries.iter_mut() {
                let is_masked = name.ends_with("_us") || matches!(name.as_str(), "sha256" | "socket");
                if is_masked { *value = json!("*") } else { mask(value, port) }
            }
        }
        Value::Array(values) => {
            for value in values {
                mask(value, port);
            }
        }
        Value::String(text) if port > 0 => *text = text.replace(&format!(":{port}"), ":PORT"),
        _ => {}
    }
}

#[tokio::test]
async fn name_server() {
    let server = NameServer::start("127.0.0.1", |name, _| match name {
        "www.test" => Reply::Records(vec![alias("a.test."), v4("192.0.2.1"), v4("192.0.2.2")]),
        _ => Reply::Code(ResponseCode::Refused),
    })
    .await;
    for (name, snapshot) in [("www.test", "name_server_ok"), ("other.test", "name_server_refused")] {
        let fields = json!({"hostname": "127.0.0.1", "port": server.at.port(), "name_to_resolve": name});
        insta::assert_snapshot!(
            snapshot,
            render(&attempt(&net(), MonitorType::NameServer, fields, TIMEOUT).await)
        );
    }
}

#[tokio::test]
async fn ping() {
    let fields = json!({"hostname": "127.0.0.1", "ping_count": 2});
    let observation = attempt(&net(), MonitorType::Ping, fields, Duration::from_secs(2)).await;
    insta::assert_snapshot!("ping_ok", render(&observation));
}

#[tokio::test]
async fn tcp() {
    let authority = Authority::new("test authority");
    let identity = authority.issue(&["127.0.0.1"], (2020, 2090));
    let net = net_with(|config| {
        config.trust_config.additional_authorities =
            vec![Pem { label: "ca".to_owned(), text: authority.pem().into_bytes() }];
    });
    let at = serve("127.0.0.1", config(&identity, &[&rustls::version::TLS13], None)).await;
    for (pattern, snapshot) in [("hello", "tcp_ok"), ("goodbye", "tcp_unexpected")] {
        let fields = json!({
            "hostname": "127.0.0.1", "port": at.port(), "tls": "implicit", "dialogue": [{"expect": pattern}],
        });
        insta::assert_snapshot!(snapshot, render(&attempt(&net, MonitorType::Tcp, fields, TIMEOUT).await));
    }
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let fields = json!({"hostname": "127.0.0.1", "port": closed.port()});
    insta::assert_snapshot!("tcp_refused", render(&attempt(&net, MonitorType::Tcp, fields, TIMEOUT).await));
}
