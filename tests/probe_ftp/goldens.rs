//! Observation and verdict of each type, with times and ports masked.

use std::sync::Arc;

use serde_json::{Value, json};
use vigie::domain::{MonitorType, Observation};

use crate::probe_ftp::check::{SOON, attempt, config, fields, transcript};
use crate::probe_ftp::server::{Rules, Server, say};
use crate::probe_ftp::sessions::BOTH;
use crate::support::tls_server::{self, Authority};

/// As the result shows it; what differs from run to run is masked.
fn golden(observation: &Observation, port: u16) -> String {
    let status = observation.failure.as_ref().map_or(0, |failure| failure.status().0);
    let phases: Vec<_> = observation.phases.iter().map(|(phase, _)| phase.name()).collect();
    let mut facts = serde_json::to_value(&observation.facts).unwrap();
    for (key, mask) in [("certificates", "[…]"), ("ftp_data_address", "127.0.0.1:…")] {
        if let Some(value) = facts.get_mut(key) {
            *value = Value::from(mask);
        }
    }
    let shown = json!({
        "status": status,
        "address": observation.address,
        "failure": observation.failure,
        "warnings": observation.warnings,
        "phases": phases,
        "facts": facts,
    });
    let text = serde_json::to_string_pretty(&shown).unwrap().replace(&port.to_string(), "PORT");
    let said: Vec<String> = transcript(observation).lines().map(masked).collect();
    format!("{text}\n{}", said.join("\n"))
}

/// Ports and the names of files are drawn anew each time.
fn masked(line: &str) -> String {
    let word = |word: &str| {
        if word.starts_with("(|||") || word.starts_with("127.0.0.1:") {
            "PORT".to_owned()
        } else if word.starts_with("vigie-") {
            "NAME".to_owned()
        } else {
            word.to_owned()
        }
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn ftp() {
    let server = Server::start(Rules::default()).await;
    let observation = attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
    insta::assert_snapshot!("ftp_ok", golden(&observation, server.address.port()));
    let server = Server::start(Rules::default().but("PASS", say("530 Login incorrect.\r\n"))).await;
    let observation = attempt(&config(None), MonitorType::Ftp, fields(server.address, json!({})), SOON).await;
    insta::assert_snapshot!("ftp_login_refused", golden(&observation, server.address.port()));
}

#[tokio::test]
async fn ftp_ssl() {
    let authority = Authority::new("test CA");
    let tls = tls_server::config(&authority.issue(&["127.0.0.1"], (2020, 2090)), BOTH, None);
    let rules = Rules { tls: Some(Arc::new(tls)), ..Rules::default() };
    let trusting = config(Some(&authority.pem()));
    let asked = |server: &Server| fields(server.address, json!({"enable_ftp_upload": true}));
    let server = Server::start(rules.clone()).await;
    let observation = attempt(&trusting, MonitorType::FtpSsl, asked(&server), SOON).await;
    insta::assert_snapshot!("ftp_ssl_ok", golden(&observation, server.address.port()));
    let server = Server::start(rules.but("RETR data", say("other"))).await;
    let observation = attempt(&trusting, MonitorType::FtpSsl, asked(&server), SOON).await;
    insta::assert_snapshot!("ftp_ssl_other_file", golden(&observation, server.address.port()));
}
