//! Runs one attempt of an API monitor.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{Failure, FailureKind, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext};
use vigie::schema::MonitorDocument;

pub struct Check {
    pub fields: Map<String, Value>,
    pub timeout: Duration,
    pub settings: ProbeBuildContext,
    pub config: NetConfig,
    pub record: bool,
}

/// Returns a step that sends a GET request to `url`.
pub fn get(name: &str, url: &str) -> Value {
    json!({"step_name": name, "url": url, "http_method": "GET", "head": {}})
}

/// Returns `step` with these fields added.
pub fn with(mut step: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    step.as_object_mut().unwrap().extend(fields);
    step
}

impl Check {
    pub fn of(steps: &[Value]) -> Self {
        let Value::Object(fields) = json!({ "api_steps": steps }) else { unreachable!() };
        let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
        Self {
            fields,
            timeout: Duration::from_secs(20),
            settings: ProbeBuildContext::default(),
            config: NetConfig { trust_config: trust, ..NetConfig::default() },
            record: false,
        }
    }

    pub async fn run(&self) -> Observation {
        self.run_until(&CancellationToken::new()).await
    }

    pub async fn run_until(&self, cancel: &CancellationToken) -> Observation {
        let document = MonitorDocument::new(MonitorType::WebsiteApi, self.fields.clone()).unwrap();
        let (probe, _) = vigie::probe::build_probe(&document, &self.settings);
        let net = Net::new(&self.config).unwrap();
        let started = Instant::now();
        let deadline = Deadline::within(self.timeout);
        let mut cx = ProbeContext::new(&net, deadline, cancel, &SystemClock);
        cx.record_exchanges = self.record;
        let observation = probe.attempt(cx).await;
        let slack = Duration::from_secs(5);
        assert!(started.elapsed() < self.timeout + slack, "over its timeout: {:?}", started.elapsed());
        observation
    }
}

/// Runs one attempt of these steps.
pub async fn run(steps: &[Value]) -> Observation {
    Check::of(steps).run().await
}

#[track_caller]
pub fn passed(observation: &Observation) {
    assert!(observation.failure.is_none(), "{observation:#?}");
}

/// Returns the failure of the attempt, which must have this kind and status.
#[track_caller]
pub fn failed(observation: &Observation, kind: FailureKind, status: u16) -> &Failure {
    let failure = observation.failure.as_ref().unwrap_or_else(|| panic!("it passed: {observation:#?}"));
    assert_eq!((failure.kind, failure.status().0), (kind, status), "{observation:#?}");
    failure
}

/// Renders the steps as a result shows them; values that differ from run to run are masked.
pub fn golden(observation: &Observation, port: u16) -> String {
    let mut shown = json!({"failure": observation.failure, "warnings": observation.warnings, "steps": observation.details.steps});
    mask(&mut shown);
    let captures: Vec<&str> = observation.captures.iter().map(|capture| capture.name.as_str()).collect();
    let text = serde_json::to_string_pretty(&shown).unwrap().replace(&format!(":{port}"), ":PORT");
    format!("{text}\ncaptures: {captures:?}")
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                if name.ends_with("_us") {
                    *value = Value::from("…");
                }
                mask(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}
