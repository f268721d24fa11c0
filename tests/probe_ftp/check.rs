//! Runs one attempt and asserts what holds for every attempt.

use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation};
use vigie::net::{Deadline, EgressPolicy, Net, NetConfig, Pem, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;

pub const PASSWORD: &str = "s3cret-pw";
pub const TIMEOUT: Duration = Duration::from_secs(20);

pub fn pem(text: &str) -> Pem {
    Pem { label: "test".to_owned(), text: text.as_bytes().to_vec() }
}

/// Returns the network of a location that trusts `authority` only.
pub fn config(authority: Option<&str>) -> NetConfig {
    let authorities = authority.map(pem).into_iter().collect();
    let trust = TrustConfig {
        public_roots: PublicRoots::None,
        additional_authorities: authorities,
        ..TrustConfig::default()
    };
    NetConfig { trust_config: trust, ..NetConfig::default() }
}

pub fn denying(networks: &[&str]) -> NetConfig {
    NetConfig { egress_policy: EgressPolicy::parse(&[], networks).unwrap(), ..config(None) }
}

/// Returns the fields of a monitor of the server at `at`.
pub fn fields(at: SocketAddr, more: Value) -> Value {
    let mut fields = json!({
        "hostname": at.ip().to_string(),
        "port": at.port(),
        "resolve_dns": true,
        "ftp_username": "monitor",
        "ftp_password": PASSWORD,
        "verify_certificate": true,
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut fields, more) {
        all.extend(more);
    }
    fields
}

pub async fn attempt(config: &NetConfig, kind: MonitorType, fields: Value, timeout: Duration) -> Observation {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    let net = Net::new(config).unwrap();
    let (probe, _) = build_probe(&MonitorDocument::new(kind, fields).unwrap(), &ProbeBuildContext::default());
    let cancel = CancellationToken::new();
    let cx = ProbeContext::new(&net, Deadline::within(timeout), &cancel, &SystemClock);
    let observation = probe.attempt(cx).await;
    assert!(
        observation.duration <= timeout + Duration::from_millis(500),
        "over its timeout: {:?}",
        observation.duration
    );
    assert_no_password(&observation);
    observation
}

/// Asserts that the observation contains neither the password nor its Base64 form.
fn assert_no_password(observation: &Observation) {
    let text = format!("{observation:?}\n{}", transcript(observation));
    for secret in [PASSWORD.to_owned(), base64::engine::general_purpose::STANDARD.encode(PASSWORD)] {
        assert!(!text.contains(&secret), "the password is told: {text}");
    }
}

/// Returns the transcript of a failed attempt.
pub fn transcript(observation: &Observation) -> String {
    let texts = observation.captures.iter().filter_map(|capture| capture.content.clone());
    texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}
