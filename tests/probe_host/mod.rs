//! The probe of `hostagent`: values against thresholds, silence with and without a ping, pushes, pages of metrics.

mod scrape;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::FakeClock;
use vigie::domain::{
    FailureKind, HostValueLevel, MonitorId, MonitorType, Observation, PushedState, ReportedState,
    ReportedStateError, SeriesReadings, Status, Timestamp,
};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext, ReportSource, ReportedStateFuture, build_probe};
use vigie::schema::MonitorDocument;

use crate::support::namespace::inside;

type Answer = Result<ReportedState, ReportedStateError>;

/// Answers as the server would.
#[derive(Debug)]
struct Answers(Answer);

impl ReportSource for Answers {
    fn reported_state(&self, _: MonitorId) -> ReportedStateFuture<'_> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

/// Checks a monitor with `fields` again and again.
struct Checks {
    net: Net,
    clock: FakeClock,
    context: ProbeBuildContext,
    document: MonitorDocument,
}

impl Checks {
    fn new(fields: Value, answer: Answer) -> Self {
        let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
        let net = Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap();
        let source: Arc<dyn ReportSource> = Arc::new(Answers(answer));
        let context = ProbeBuildContext { report_source: Some(source), ..ProbeBuildContext::default() };
        let Value::Object(fields) = fields else { panic!("no object") };
        let document = MonitorDocument::new(MonitorType::HostAgent, fields).unwrap();
        Self { net, clock: FakeClock::new(Timestamp::from_seconds(1_800_000_000)), context, document }
    }

    async fn check(&self) -> Observation {
        let (probe, _) = build_probe(&self.document, &self.context);
        let cancel = CancellationToken::new();
        let deadline = Deadline::within(Duration::from_secs(20));
        probe.attempt(ProbeContext::new(&self.net, deadline, &cancel, &self.clock)).await
    }
}

async fn check(fields: Value, answer: Answer) -> Observation {
    Checks::new(fields, answer).check().await
}

fn status(observation: &Observation) -> Status {
    let failure = observation.failure.as_ref().map(vigie::domain::Failure::status);
    failure
        .or_else(|| observation.warnings.iter().find_map(vigie::domain::Warning::status))
        .unwrap_or(Status::OK)
}

fn reported(series: &[(&str, &[f64])]) -> ReportedState {
    let to_readings = |(series, values): &(&str, &[f64])| SeriesReadings {
        series: (*series).to_owned(),
        values: values.to_vec(),
    };
    ReportedState {
        silent_us: 5_000_000,
        overdue_after_us: 120_000_000,
        was_reported: true,
        series: series.iter().map(to_readings).collect(),
        ..ReportedState::default()
    }
}

#[tokio::test]
async fn each_field_of_a_threshold_decides() {
    let threshold = |fields: Value| {
        let mut threshold = json!({"metric": "load1", "error": 4.0});
        for (name, value) in fields.as_object().unwrap() {
            threshold[name] = value.clone();
        }
        json!({"host_id": "db1", "thresholds": [threshold]})
    };
    let answer = || Ok(reported(&[("load1", &[5.0, 1.0])]));
    let (error, warning) = (Status(4040), Status(4030));
    for (fields, expected) in [
        (json!({}), error),
        (json!({"error": 6.0}), Status::OK),
        (json!({"error": 6.0, "warning": 5.0}), warning),
        (json!({"direction": "below"}), Status::OK),
        (json!({"direction": "below", "error": 5.0}), error),
        (json!({"for": 2}), Status::OK),
        (json!({"for": 2, "error": 1.0}), error),
        (json!({"metric": "load5"}), warning),
    ] {
        assert_eq!(status(&check(threshold(fields.clone()), answer()).await), expected, "{fields}");
    }
    let observation = check(threshold(json!({})), answer()).await;
    let facts = observation.facts.host.unwrap();
    assert_eq!((facts.report_age_us, facts.host_values[0].level), (5_000_000, HostValueLevel::Error));
    let failure = observation.failure.unwrap();
    assert_eq!(failure.detail, "`load1` is 5, at or above 4");
}

#[tokio::test]
async fn a_host_that_is_silent_is_told_from_one_that_is_down() {
    let name = "probe_host::a_host_that_is_silent_is_told_from_one_that_is_down";
    // Only IPv6 answers.
    let setup = "ip link set lo up; sysctl -qw net.ipv4.icmp_echo_ignore_all=1";
    if !inside(name, setup, "") {
        return;
    }
    let silent = |address: Option<&str>| ReportedState {
        silent_us: 121_000_000,
        address: address.map(str::to_owned),
        ..reported(&[])
    };
    let monitor = || json!({"host_id": "db1"});
    let without_address = check(monitor(), Ok(silent(None))).await;
    assert_eq!(status(&without_address), Status(4050));
    let answered = check(monitor(), Ok(silent(Some("::1")))).await;
    assert_eq!((status(&answered), answered.address.unwrap().ip().to_string()), (Status(4050), "::1".into()));
    let unanswered = check(monitor(), Ok(silent(Some("127.0.0.1")))).await;
    assert_eq!(status(&unanswered), Status(4059), "{:?}", unanswered.failure);
    assert!(unanswered.address.is_some(), "for the traceroute");
    let just_in_time = ReportedState { silent_us: 120_000_000, ..silent(None) };
    assert_eq!(status(&check(monitor(), Ok(just_in_time)).await), Status::OK);
}

#[tokio::test]
async fn pushes_say_up_or_down_and_their_duration_has_thresholds() {
    let thresholds = json!([{"metric": "ping_ms", "warning": 100.0, "error": 1000.0}]);
    let monitor = || json!({"report": "push", "thresholds": thresholds.clone()});
    let pushed = |push: PushedState| Ok(ReportedState { push: Some(push), ..reported(&[]) });
    let up = |millis: u64| PushedState { duration_us: Some(millis * 1000), ..PushedState::default() };
    for (millis, expected) in [(99, Status::OK), (100, Status(4030)), (1000, Status(4040))] {
        assert_eq!(status(&check(monitor(), pushed(up(millis))).await), expected, "{millis} ms");
    }
    let down = PushedState {
        is_down: true,
        message: "no space".to_owned(),
        exit_code: Some(2),
        output: "tar: error\n".to_owned(),
        ..PushedState::default()
    };
    let observation = check(monitor(), pushed(down)).await;
    let failure = observation.failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::PushedDown, "exit code 2: no space"));
    assert_eq!(status(&observation), Status(4040));
    assert_eq!(observation.captures[0].name, "output.txt");
    let overdue = ReportedState { silent_us: 121_000_000, push: Some(up(5)), ..reported(&[]) };
    assert_eq!(status(&check(monitor(), Ok(overdue)).await), Status(4050));
    let awaited = ReportedState { was_reported: false, ..reported(&[]) };
    assert_eq!(status(&check(monitor(), Ok(awaited)).await), Status::OK, "the first push is awaited");
}

#[tokio::test]
async fn what_vigie_lacks_is_no_error_of_the_host() {
    let monitor = || json!({"host_id": "db1"});
    let missing = ReportedStateError::NotConfigured("no such host".to_owned());
    let observation = check(monitor(), Err(missing)).await;
    assert_eq!(status(&observation), Status::CANNOT_RUN);
    let broken = ReportedStateError::Unavailable("the database does not work".to_owned());
    assert_eq!(status(&check(monitor(), Err(broken)).await), Status::INTERNAL);
    let mut checks = Checks::new(monitor(), Ok(reported(&[])));
    checks.context.report_source = None;
    let observation = checks.check().await;
    assert!(observation.failure.unwrap().detail.contains("server"));
}
