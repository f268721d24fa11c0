//! A table of servers that misbehave: what each does, and what the probe makes of it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use serde_json::{Map, Value, json};
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind, MonitorType, Observation, Phase};
use vigie::evaluate::evaluate_attempts;

use crate::probe_mail::kit::{Act, SHORT, SOON, acts, attempt, net, stage, toward, transcript};
use crate::support::tls_server::{Authority, Identity, config};

pub const USER: &str = "tim";
pub const PASSWORD: &str = "hunter2-s3cret";

/// What is expected of an attempt.
#[derive(Debug)]
pub enum Expect {
    Passes,
    /// Status code, kind, phase, and a part of the text.
    Fails(u16, FailureKind, Phase, &'static str),
}

/// One server.
pub struct Case {
    name: &'static str,
    acts: Vec<Act>,
    fields: Value,
    timeout: Duration,
    expect: Expect,
}

/// A server that plays `script`.
pub fn case(name: &'static str, script: &str, expect: Expect) -> Case {
    Case { name, acts: acts(script), fields: json!({}), timeout: SOON, expect }
}

impl Case {
    pub fn fields(mut self, fields: Value) -> Self {
        self.fields = fields;
        self
    }

    /// Plays `act` after its script.
    pub fn then(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }

    /// Stalls after its script: the timeout is what ends the attempt.
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
        let at = stage(self.acts, Some(acceptor)).await;
        let mut fields: Map<String, Value> = login.as_object().unwrap().clone();
        fields.extend(self.fields.as_object().unwrap().clone());
        fields.retain(|_, value| !value.is_null());
        let observation =
            attempt(&net(&[trust.0.pem()]), kind, toward(at, &fields.into()), self.timeout).await;
        keeps_the_secret(&observation);
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

/// The password is in nothing that is kept, neither plain nor in Base64.
pub fn keeps_the_secret(observation: &Observation) {
    let plain = format!("\0{USER}\0{PASSWORD}");
    let kept = format!(
        "{observation:?}{}{}",
        transcript(observation),
        serde_json::to_string(&observation.facts).unwrap()
    );
    for secret in [PASSWORD.to_owned(), STANDARD.encode(PASSWORD), STANDARD.encode(plain)] {
        assert!(!kept.contains(&secret), "{secret} is in {kept}");
    }
}

/// Runs all `cases` of `kind` side by side, each with `login` among its fields.
pub async fn hold(kind: MonitorType, login: Value, cases: Vec<Case>) {
    assert!(cases.len() >= 25, "{}", cases.len());
    let authority = Authority::new("table");
    let identity = authority.issue(&["127.0.0.1"], (2020, 2090));
    let trust = (authority, identity);
    let outcomes = join_all(cases.into_iter().map(|case| case.run(kind, &login, &trust))).await;
    let errors: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n\n"));
}

/// Certificates that a server may not show, and what each leads to. `script` ends where TLS begins.
pub async fn certificates(kind: MonitorType, script: &str) {
    use FailureKind::{CertificateExpired, CertificateIssuer, CertificateName};
    let authority = Authority::new("known");
    let stranger = Authority::new("stranger");
    for (identity, fault) in [
        (authority.issue(&["127.0.0.1"], (2020, 2021)), Some((5, CertificateExpired))),
        (authority.issue(&["mx.test"], (2020, 2090)), Some((3, CertificateName))),
        (stranger.issue(&["127.0.0.1"], (2020, 2090)), Some((3, CertificateIssuer))),
        (authority.issue(&["127.0.0.1"], (2020, 2090)), None),
    ] {
        let tls = config(&identity, &[&rustls::version::TLS13], None);
        let acceptor = TlsAcceptor::from(std::sync::Arc::new(tls));
        let at = stage(acts(script), Some(acceptor)).await;
        let net = net(&[authority.pem()]);
        let observation = attempt(&net, kind, toward(at, &json!({})), SOON).await;
        let failure = observation.failure.as_ref().map(|failure| (failure.status().0, failure.kind));
        // The server closes after the handshake: what matters is that it came so far.
        let passed = observation.failure.as_ref().is_none_or(|failure| failure.phase > Phase::Tls);
        assert_eq!((fault.is_none(), fault.or(failure)), (passed, failure), "{:?}", observation.failure);
        assert!(
            observation.facts.tls.is_some_and(|tls| !tls.certificates.is_empty()),
            "its certificate is kept"
        );
        let blind = toward(at, &json!({"verify_certificate": false}));
        let observation = attempt(&net, kind, blind, SOON).await;
        assert!(
            observation.failure.as_ref().is_none_or(|failure| failure.phase > Phase::Tls),
            "{:?}",
            observation.failure
        );
    }
}

/// Observation and verdict as they are kept, with what differs from run to run masked.
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
