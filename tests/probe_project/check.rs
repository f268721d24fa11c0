//! Runs one attempt of a project, against a service that answers by path.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext};
use vigie::schema::MonitorDocument;

use crate::probe_api::check::{failed, passed};
use crate::probe_api::service::{Request, Response, Service, respond, respond_json};

/// An attempt.
pub struct Check {
    pub fields: Map<String, Value>,
    pub settings: ProbeBuildContext,
    pub timeout: Duration,
}

impl Check {
    /// Checks the case `Case` of `Suite`.
    pub fn of(script: &str) -> Self {
        let fields = json!({"script": script, "test_suite": "Suite", "test_case": "Case"});
        let Value::Object(fields) = fields else { unreachable!() };
        Self { fields, settings: ProbeBuildContext::default(), timeout: Duration::from_secs(20) }
    }

    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    pub async fn run(&self) -> Observation {
        let document = MonitorDocument::new(MonitorType::ApiProject, self.fields.clone()).unwrap();
        let (probe, _) = vigie::probe::build_probe(&document, &self.settings);
        let net = Net::new(&NetConfig::default()).unwrap();
        let cancel = CancellationToken::new();
        let cx = ProbeContext::new(&net, Deadline::within(self.timeout), &cancel, &SystemClock);
        probe.attempt(cx).await
    }
}

/// Runs the case `Case` of `script`.
pub async fn run(script: &str) -> Observation {
    Check::of(script).run().await
}

/// Runs a case that must pass.
pub async fn run_passing(script: &str) -> Observation {
    let observation = run(script).await;
    passed(&observation);
    observation
}

/// Runs a case that must fail in a step, with the code `status` of the step, and returns the detail.
pub async fn run_failing(script: &str, status: u16) -> String {
    let observation = run(script).await;
    failed(&observation, FailureKind::ProjectStepFailed, 6000 + status).detail.clone()
}

/// Runs a case that must not start, and returns the detail.
pub async fn run_unstarted(script: &str) -> String {
    let observation = run(script).await;
    failed(&observation, FailureKind::ProjectNotStarted, 61).detail.clone()
}

/// Starts the service that most tests use.
pub async fn start_service() -> Service {
    Service::start(answer).await
}

fn answer(request: &Request) -> Response {
    let xml = |body: &str| respond(200, "Content-Type: text/xml\r\n", body);
    match request.target.split(['?', ';']).next().unwrap_or_default() {
        "/json" => respond_json(
            r#"{"id": 7, "name": "Ann", "tags": ["a", "b"], "none": null, "parts": [{"n": 1, "k": "x"}, {"n": 2, "k": "y"}]}"#,
        ),
        "/xml" => xml("<o xmlns='urn:o' xmlns:p='urn:p'><i k='v'>one</i><i>two</i><p:q>3</p:q><e/></o>"),
        "/text" => respond(200, "Content-Type: text/plain\r\n", "Hello\r\nworld, token=t0k3n"),
        "/login" => respond(
            200,
            "Set-Cookie: sid=1; Path=/\r\nContent-Type: application/json\r\n",
            r#"{"token": "l0gin-t0ken"}"#,
        ),
        "/fault" => respond(
            500,
            "Content-Type: text/xml\r\n",
            envelope("<s:Fault><faultcode>s:Server</faultcode></s:Fault>"),
        ),
        "/soap" => xml(&envelope("<c:AddResponse xmlns:c='urn:c'><c:sum>5</c:sum></c:AddResponse>")),
        "/old" => respond(302, "Location: /json\r\n", ""),
        "/slow" => Response::Stall,
        "/private" if request.header("Authorization") == Some("Basic dTpzM2NyZXQtcHc=") => respond_json("{}"),
        "/private" => respond(401, "WWW-Authenticate: Basic realm=\"r\"\r\n", ""),
        path if path.starts_with("/status/") => respond(path[8..].parse().unwrap(), "", "status"),
        path if path.starts_with("/v1/") => respond_json(r#"{"ok": true}"#),
        _ => respond(404, "", ""),
    }
}

/// Returns an envelope of SOAP 1.1.
pub fn envelope(body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>{body}</s:Body></s:Envelope>"
    )
}
