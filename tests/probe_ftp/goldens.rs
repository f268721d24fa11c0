//! Golden observations of each type, with times and ports masked.

use std::sync::Arc;

use serde_json::{Value, json};
use vigie::domain::{MonitorType, Observation};

use crate::probe_ftp::check::{TIMEOUT, attempt, config, fields, transcript};
use crate::probe_ftp::server::{Rules, Server, send};
use crate::probe_ftp::sessions::BOTH;
use crate::support::tls_server::{self, Authority};

/// Renders `observation` as text; values that differ from run to run are masked.
fn golden(observation: &Observation, port: u16) -> String {
    let status = observation.failure.as_ref().map_or(0, |failure| failure.status().0);
    let phases: Vec<_> = observation.phases.iter().map(|(phase, _)| phase.name()).collect();
    let mut facts = serde_json::to_value(&observation.facts).unwrap();
    for (key, mask) in [("certificates", "[…]"), ("ftp_data_address", "127.0.0.1:…")] {
        if let Some(value) = facts.get_mut(key) {
            *value = Value::from(mask);
        }
    }
    let result = json!({
        "status": status,
        "address": observation.address,
        "failure": observation.failure,
        "warnings": observation.warnings,
        "phases": phases,
        "facts": facts,
    });
    let text = serde_json::to_string_pretty(&result).unwrap().replace(&port.to_string(), "PORT");
    let lines: Vec<String> = transcript(observation).lines().map(masked).collect();
    format!("{text}\n{}", lines.join("\n"))
}

/// Masks ports and file names, which are random.
fn masked(line: &str) -> String {
    let mask_word = |word: &str| {
        if word.starts_with("(|||") || word.starts_with("127.0.0.1:") {
            "PORT".to_owned()
        } else if word.starts_with("vigie-") {
            "NAME".to_owned()
        } else {
            word.to_owned()
        }
    };
    line.split(' ').map(mask_word).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn ftp() {
    let server = Server::start(Rules::default()).await;
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
    insta::assert_snapshot!("ftp_ok", golden(&observation, server.address.port()));
    let server = Server::start(Rules::default().with_act("PASS", send("530 Login incorrect.\r\n"))).await;
    let observation =
        attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), TIMEOUT).await;
    insta::assert_snapshot!("ftp_login_refused", golden(&observation, server.address.port()));
}

#[tokio::test]
async fn ftp_ssl() {
    let authority = Authority::new("test CA");
    let tls = tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, None);
    let rules = Rules { tls: Some(Arc::new(tls)), ..Rules::default() };
    let trusting = config(Some(&authority.pem()));
    let monitor_fields = |server: &Server| fields(server.address, json!({"enable_ftp_upload": true}));
    let server = Server::start(rules.clone()).await;
    let observation = attempt(&trusting, MonitorType::FtpSsl, monitor_fields(&server), TIMEOUT).await;
    insta::assert_snapshot!("ftp_ssl_ok", golden(&observation, server.address.port()));
    let server = Server::start(rules.with_act("RETR data", send("other"))).await;
    let observation = attempt(&trusting, MonitorType::FtpSsl, monitor_fields(&server), TIMEOUT).await;
    insta::assert_snapshot!("ftp_ssl_other_file", golden(&observation, server.address.port()));
}
