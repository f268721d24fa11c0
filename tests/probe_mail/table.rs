//! The table of misbehaving servers: what each does, and how the probe classifies it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use serde_json::{Map, Value, json};
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind, MonitorType, Observation, Phase};
use vigie::evaluate::evaluate_attempts;

use crate::probe_mail::scripted_server::{
    Act, SHORT, TIMEOUT, attempt, fields_for, net, parse_script, start_server, transcript,
};
use crate::support::tls_server::{Authority, Identity, config};

pub const USER: &str = "tim";
pub const PASSWORD: &str = "hunter2-s3cret";

/// Expected result of an attempt.
#[derive(Debug)]
pub enum Expect {
    Passes,
    /// Status code, kind, phase, and a part of the text.
    Fails(u16, FailureKind, Phase, &'static str),
}

/// One misbehaving server.
pub struct Case {
    name: &'static str,
    acts: Vec<Act>,
    fields: Value,
    timeout: Duration,
    expect: Expect,
}

/// Creates a case of a server that plays `script`.
pub fn case(name: &'static str, script: &str, expect: Expect) -> Case {
    Case { name, acts: parse_script(script), fields: json!({}), timeout: TIMEOUT, expect }
}

impl Case {
    pub fn fields(mut self, fields: Value) -> Self {
        self.fields = fields;
        self
    }

    /// Plays `act` after the script.
    pub fn then(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }

    /// Stalls after the script; the short timeout ends the attempt.
    pub fn stalls(mut self) -> Self {
        self.timeout = SHORT;
        self.then(Act::Stall)
    }

    async fn run(
        self,
        kind: MonitorType,
        login: &Value,
        trust: &(Authority, Identity),
    ) -> Result<(), String> {
        let acceptor = TlsAcceptor::from(std::sync::Arc::new(config(
            &trust.1,
            &[&rustls::version::TLS13, &rustls::version::TLS12],
            None,
        )));
        let at = start_server(self.acts, Some(acceptor)).await;
        let mut fields: Map<String, Value> = login.as_object().unwrap().clone();
        fields.extend(self.fields.as_object().unwrap().clone());
        fields.retain(|_, value| !value.is_null());
        let observation =
            attempt(&net(&[trust.0.pem()]), kind, fields_for(at, &fields.into()), self.timeout).await;
        assert_no_secrets(&observation);
        let failure = observation.failure.as_ref();
        let fits = match (&self.expect, failure) {
            (Expect::Passes, None) => true,
            (Expect::Fails(status, kind, phase, text), Some(failure)) => {
                (failure.status().0, failure.kind, failure.phase) == (*status, *kind, *phase)
                    && failure.to_string().contains(text)
                    && observation.phases.micros(*phase).is_some()
            }
            _ => false,
        };
        let reply = transcript(&observation);
        let saw = format!("{failure:?}, phases {:?}\n{reply}", observation.phases);
        if fits { Ok(()) } else { Err(format!("{}: expected {:?}, saw {saw}", self.name, self.expect)) }
    }
}

/// Asserts that no part of the result contains the password, neither plain nor in Base64.
pub fn assert_no_secrets(observation: &Observation) {
    let plain = format!("\0{USER}\0{PASSWORD}");
    let recorded = format!(
        "{observation:?}{}{}",
        transcript(observation),
        serde_json::to_string(&observation.facts).unwrap()
    );
    for secret in [PASSWORD.to_owned(), STANDARD.encode(PASSWORD), STANDARD.encode(plain)] {
        assert!(!recorded.contains(&secret), "{secret} is in {recorded}");
    }
}

/// Runs all `cases` of `kind` concurrently, each with `login` among its fields.
pub async fn run_cases(kind: MonitorType, login: Value, cases: Vec<Case>) {
    assert!(cases.len() >= 25, "{}", cases.len());
    let authority = Authority::new("table");
    let identity = authority.issue(&["127.0.0.1"], (2020, 2090));
    let trust = (authority, identity);
    let outcomes = join_all(cases.into_iter().map(|case| case.run(kind, &login, &trust))).await;
    let errors: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n\n"));
}

/// Checks servers with bad certificates and the failure of each. `script` ends where TLS starts.
pub async fn check_certificates(kind: MonitorType, script: &str) {
    use FailureKind::{CertificateExpired, CertificateIssuerUnknown, CertificateNameMismatch};
    let authority = Authority::new("known");
    let stranger = Authority::new("stranger");
    for (identity, expected) in [
        (authority.issue(&["127.0.0.1"], (2020, 2021)), Some((5, CertificateExpired))),
        (authority.issue(&["mx.test"], (2020, 2090)), Some((3, CertificateNameMismatch))),
        (stranger.issue(&["127.0.0.1"], (2020, 2090)), Some((3, CertificateIssuerUnknown))),
        (authority.issue(&["127.0.0.1"], (2020, 2090)), None),
    ] {
        let tls = config(&identity, &[&rustls::version::TLS13], None);
        let acceptor = TlsAcceptor::from(std::sync::Arc::new(tls));
        let at = start_server(parse_script(script), Some(acceptor)).await;
        let net = net(&[authority.pem()]);
        let observation = attempt(&net, kind, fields_for(at, &json!({})), TIMEOUT).await;
        let failure = observation.failure.as_ref().map(|failure| (failure.status().0, failure.kind));
        // The server closes after the handshake, so any failure after the TLS phase counts as a pass.
        let passed = observation.failure.as_ref().is_none_or(|failure| failure.phase > Phase::Tls);
        assert_eq!(
            (expected.is_none(), expected.or(failure)),
            (passed, failure),
            "{:?}",
            observation.failure
        );
        assert!(
            observation.facts.tls.is_some_and(|tls| !tls.certificates.is_empty()),
            "its certificate is kept"
        );
        let unverified = fields_for(at, &json!({"verify_certificate": false}));
        let observation = attempt(&net, kind, unverified, TIMEOUT).await;
        assert!(
            observation.failure.as_ref().is_none_or(|failure| failure.phase > Phase::Tls),
            "{:?}",
            observation.failure
        );
    }
}

/// Renders observation and verdict as they are recorded, with values that differ from run to run masked.
pub fn golden(observation: &Observation) -> String {
    let phases: Vec<&str> = observation.phases.iter().map(|(phase, _)| phase.name()).collect();
    let facts = observation.facts.clone();
    let tls = facts.tls.as_ref().and_then(|tls| tls.tls_version.clone());
    let verdict = evaluate_attempts(std::slice::from_ref(observation));
    let shown = json!({
        "outcome": verdict.outcome,
        "status": verdict.status,
        "reasons": verdict.reasons,
        "failure": observation.failure,
        "phases": phases,
        "mail": facts.mail,
        "tls": tls,
    });
    format!("{}\n\n{}", serde_json::to_string_pretty(&shown).unwrap(), transcript(observation))
}
