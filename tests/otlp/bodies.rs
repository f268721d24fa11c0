//! What the bodies hold, decoded by the definitions of OpenTelemetry.

use std::collections::BTreeMap;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::Span;
use vigie::domain::{
    CheckResult, Failure, FailureKind, HeaderList, HttpExchange, Outcome, Phase, Phases, Status, StepResult,
};

use super::collector::{Export, attribute, json_bodies, logs, number, points, settings, spans, wait_for};
use crate::daemon::support::result;
use crate::notify::receiver::Receiver;

/// Start of the first minute of [`result`], in nanoseconds since 1970.
const START: u64 = 1_767_225_600_000_000_000;
const MILLI: u64 = 1_000_000;

fn phases(durations: &[(Phase, u64)]) -> Phases {
    let mut phases = Phases::default();
    durations.iter().for_each(|(phase, millis)| phases.set(*phase, Duration::from_millis(*millis)));
    phases
}

#[tokio::test]
async fn every_result_becomes_data_points_with_its_labels() {
    let receiver = Receiver::always(200).await;
    let mut settings = settings(&receiver);
    settings.resource_attributes = vec![("deployment.environment.name".to_owned(), "test".to_owned())];
    let export = Export::start(settings);
    export.submit(&result(7, 0, Outcome::Ok));
    export.submit(&result(8, 0, Outcome::Error));
    export.submit(&result(9, 0, Outcome::Unknown));
    export.submit(&result(9, 1, Outcome::Missed));
    let points =
        wait_for(&receiver, |receiver| Some(points(receiver)).filter(|points| points.len() > 15)).await;
    let value = |metric: &str, monitor: &str, phase: &str| {
        let found = points.iter().find(|(name, _, point)| {
            name == metric
                && attribute(&point.attributes, "vigie.monitor.id") == monitor
                && attribute(&point.attributes, "vigie.phase") == phase
        });
        found.map(|(_, unit, point)| (number(point), unit.as_str()))
    };
    assert_eq!(value("vigie.check.up", "7", ""), Some((1.0, "")));
    assert_eq!(value("vigie.check.up", "8", ""), Some((0.0, "")));
    assert_eq!(value("vigie.check.up", "9", ""), None, "nothing is known about the target");
    assert_eq!(value("vigie.check.status", "8", ""), Some((1.0, "")));
    assert_eq!(value("vigie.check.duration", "7", ""), Some((0.04, "s")));
    assert_eq!(value("vigie.check.phase.duration", "7", "connect"), Some((0.009, "s")));
    assert_eq!(value("vigie.check.phase.duration", "7", "first_byte"), Some((0.03, "s")));
    assert_eq!(value("vigie.check.phase.duration", "8", "first_byte"), None);

    let (_, _, point) = points.iter().find(|(name, ..)| name == "vigie.check.up").unwrap();
    let labels: BTreeMap<_, _> = point
        .attributes
        .iter()
        .map(|label| (label.key.as_str(), attribute(&point.attributes, &label.key)))
        .collect();
    let expected = [
        ("vigie.account.id", "4"),
        ("vigie.location.id", "1"),
        ("vigie.location.name", "North"),
        ("vigie.monitor.id", "7"),
        ("vigie.monitor.key", "shop"),
        ("vigie.monitor.name", "monitor 7"),
        ("vigie.monitor.type", "website"),
    ];
    assert_eq!(labels, expected.map(|(key, text)| (key, text.to_owned())).into());
    assert_eq!(point.time_unix_nano, START + 40 * MILLI, "the end of the attempt");
    let body = json_bodies(&receiver, "/v1/metrics").remove(0);
    for part in [
        r#"{"key":"service.name","value":{"stringValue":"vigie"}}"#,
        r#"{"key":"deployment.environment.name","value":{"stringValue":"test"}}"#,
        r#""timeUnixNano":"17672256"#,
        r#""asInt":"1""#,
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
}

#[tokio::test]
async fn a_failed_check_becomes_a_log_record_of_its_trace() {
    let receiver = Receiver::always(200).await;
    let export = Export::start(settings(&receiver));
    export.submit(&result(7, 0, Outcome::Ok));
    export.submit(&result(8, 0, Outcome::Error));
    let mut unknown = result(9, 0, Outcome::Unknown);
    unknown.reasons = vec!["this host has no socket or file descriptor left".to_owned()];
    export.submit(&unknown);
    let logs = wait_for(&receiver, |receiver| Some(logs(receiver)).filter(|logs| !logs.is_empty())).await;
    let spans = wait_for(&receiver, |receiver| Some(spans(receiver)).filter(|spans| !spans.is_empty())).await;
    assert_eq!(logs.len(), 2, "a check that passed is none");
    let (resource, record) = &logs[0];
    assert_eq!(attribute(&resource.attributes, "service.name"), "vigie");
    assert_eq!(attribute(&resource.attributes, "service.version"), env!("CARGO_PKG_VERSION"));
    assert_eq!((record.severity_number, record.severity_text.as_str()), (17, "ERROR"));
    assert_eq!(record.event_name, "vigie.check.failed");
    let body = record.body.clone().unwrap().value.unwrap();
    assert_eq!(format!("{body:?}"), r#"StringValue("the target refused the connection")"#);
    assert_eq!(record.time_unix_nano, START + 40 * MILLI);
    assert!(record.observed_time_unix_nano > record.time_unix_nano);
    for (key, expected) in [
        ("vigie.check.outcome", "error"),
        ("vigie.check.status", "1"),
        ("vigie.check.status_text", "TCP connection failed"),
        ("error.type", "connect_refused"),
        ("vigie.failure.phase", "connect"),
        ("vigie.monitor.key", "shop"),
    ] {
        assert_eq!(attribute(&record.attributes, key), expected, "{key}");
    }
    let root = spans.iter().find(|span| span.span_id == record.span_id).unwrap();
    assert_eq!((root.trace_id.len(), root.span_id.len()), (16, 8));
    assert_eq!(root.trace_id, record.trace_id);
    assert_eq!((logs[1].1.severity_number, logs[1].1.severity_text.as_str()), (13, "WARN"));
}

/// Returns the spans of one check as `name parent start-end`, times in milliseconds after the start.
fn lines(spans: &[Span]) -> Vec<String> {
    let name_of =
        |id: &[u8]| spans.iter().find(|span| span.span_id == id).map_or("", |span| span.name.as_str());
    let millis = |nanos: u64| (nanos - START) / MILLI;
    let line = |span: &Span| {
        let status = span.status.as_ref().map_or(0, |status| status.code);
        let (start, end) = (millis(span.start_time_unix_nano), millis(span.end_time_unix_nano));
        let failed = if status == 2 { " !" } else { "" };
        format!("{} < {} {start}-{end}{failed}", span.name, name_of(&span.parent_span_id))
    };
    spans.iter().map(line).collect()
}

async fn exported_spans(result: &CheckResult) -> Vec<Span> {
    let receiver = Receiver::always(200).await;
    let export = Export::start(settings(&receiver));
    export.submit(result);
    wait_for(&receiver, |receiver| Some(spans(receiver)).filter(|spans| !spans.is_empty())).await
}

#[tokio::test]
async fn attempts_and_phases_are_spans_with_the_times_of_the_result() {
    let mut result = result(8, 0, Outcome::Error);
    let mut second = result.attempts[0].clone();
    second.number = 2;
    second.started_at = second.started_at + Duration::from_millis(100);
    second.phases = phases(&[(Phase::Resolve, 2)]);
    second.failure = Some(Failure::new(Phase::Connect, FailureKind::TimedOut, "no data within 1 s"));
    result.attempts.push(second);
    let spans = exported_spans(&result).await;
    assert_eq!(
        lines(&spans),
        [
            "check website <  2-140 !",
            "attempt < check website 0-40 !",
            "resolve < attempt 0-1",
            "connect < attempt 1-10 !",
            "attempt < check website 100-140 !",
            "resolve < attempt 100-102",
            // It was not measured: it lasted until the attempt ended.
            "connect < attempt 102-140 !",
        ]
    );
    let status = spans[0].status.clone().unwrap();
    assert_eq!((status.code, status.message.as_str()), (2, "the target refused the connection"));
    assert_eq!(attribute(&spans[4].attributes, "error.type"), "timed_out");
    assert_eq!(attribute(&spans[4].attributes, "vigie.attempt.number"), "2");
    assert_eq!((spans[0].kind, spans[0].parent_span_id.len()), (1, 0));
}

#[tokio::test]
async fn steps_and_exchanges_are_spans_and_have_the_ids_that_were_sent() {
    let trace_id = "0af7651916cd43dd8448eb211c80319c";
    let mut result = result(8, 0, Outcome::Error);
    let exchange = |offset_ms: u64, status: u16, span: &str| HttpExchange {
        start_offset_us: offset_ms * 1000,
        method: "GET".to_owned(),
        url: "https://api.example/orders".to_owned(),
        phases: phases(&[(Phase::Send, 1), (Phase::FirstByte, 4)]),
        request_headers: HeaderList::from_iter([("traceparent", format!("00-{trace_id}-{span}-01"))]),
        http_status: status,
        ..HttpExchange::default()
    };
    let mut first = StepResult::new(1, "list orders".to_owned(), 1_000);
    first.duration_us = 6_000;
    first.exchanges = vec![exchange(1, 200, "00000000000000a1")];
    let mut second = StepResult::new(2, "order".to_owned(), 8_000);
    second.duration_us = 7_000;
    second.status = Status::HTTP_ERROR;
    second.failures = vec![Failure::new(Phase::FirstByte, FailureKind::HttpErrorStatus, "503")];
    second.exchanges = vec![exchange(9, 503, "00000000000000a2")];
    result.details.steps = vec![first, second];
    result.details.trace_id = Some(trace_id.to_owned());
    let spans = exported_spans(&result).await;
    assert_eq!(
        lines(&spans),
        [
            "check website <  2-40 !",
            "attempt < check website 0-40 !",
            "step < attempt 1-7",
            "GET < step 1-6",
            "send < GET 1-2",
            "first_byte < GET 2-6",
            "step < attempt 8-15 !",
            "GET < step 9-14 !",
            "send < GET 9-10",
            "first_byte < GET 10-14",
        ]
    );
    assert!(spans.iter().all(|span| span.trace_id == const_hex(trace_id)));
    assert_eq!((&spans[3].span_id, spans[3].kind), (&const_hex("00000000000000a1"), 3));
    assert_eq!(spans[7].span_id, const_hex("00000000000000a2"));
    assert_eq!(attribute(&spans[6].attributes, "vigie.step.name"), "order");
    assert_eq!(attribute(&spans[6].attributes, "error.type"), "http_status");
    for (key, value) in [
        ("http.request.method", "GET"),
        ("url.full", "https://api.example/orders"),
        ("http.response.status_code", "503"),
        ("error.type", "503"),
    ] {
        assert_eq!(attribute(&spans[7].attributes, key), value);
    }
}

/// Decodes hexadecimal digits.
fn const_hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[tokio::test]
async fn a_result_that_is_exported_twice_has_the_same_spans() {
    let result = result(8, 0, Outcome::Error);
    let (first, second) = (exported_spans(&result).await, exported_spans(&result).await);
    assert_eq!(first, second);
    let mut ids: Vec<_> = first.iter().map(|span| span.span_id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), first.len());
}
