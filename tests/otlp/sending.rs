//! How bodies are sent: batches, repeats, what receivers reject, bounds, the egress policy, the end.

use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue};
use vigie::domain::Outcome;
use vigie::export::otlp::OtlpSignals;
use vigie::net::{EgressPolicy, NetConfig};
use vigie::redaction::redactor::Redactor;

use super::collector::{Export, json_bodies, logs, points, settings, spans, wait_for};
use crate::daemon::support::result;
use crate::notify::receiver::{Receiver, Response, status};

const METRICS_ONLY: OtlpSignals = OtlpSignals { metrics: true, logs: false, traces: false };

#[tokio::test]
async fn results_share_a_request_and_the_receiver_gets_the_headers() {
    let receiver = Receiver::always(200).await;
    let mut settings = settings(&receiver);
    settings.endpoint = receiver.url("/otlp/").parse().unwrap();
    settings.flush_interval = Duration::from_secs(20);
    settings.max_batch_results = 3;
    settings.compresses = false;
    settings.headers =
        HeaderMap::from_iter([(http::header::AUTHORIZATION, HeaderValue::from_static("Bearer abcdef"))]);
    let export = Export::start(settings);
    // Six of them make two batches, at once; the seventh waits.
    for minute in 0..7 {
        export.submit(&result(1, minute, Outcome::Ok));
    }
    export.wait_for_series("vigie_otlp_items_total{signal=\"metrics\",outcome=\"accepted\"}", 36).await;
    let requests = receiver.requests();
    assert_eq!(requests.len(), 2, "without failed checks there are only metrics");
    for request in &requests {
        assert_eq!(request.line, "POST /otlp/v1/metrics HTTP/1.1");
        assert_eq!(request.header("authorization"), Some("Bearer abcdef"));
        assert_eq!(request.header("content-encoding"), None);
        assert!(request.json()["resourceMetrics"].is_array());
    }
    assert_eq!(export.series("vigie_otlp_queued_results"), 1);
}

#[tokio::test]
async fn a_busy_receiver_gets_the_same_body_again_after_the_time_that_it_asks_for() {
    let receiver = Receiver::start(|number, _| match number {
        0 => Response::Status(503, vec![("Retry-After", "2".to_owned())], "busy".to_owned()),
        _ => status(200),
    })
    .await;
    let mut settings = settings(&receiver);
    settings.signals = METRICS_ONLY;
    let export = Export::start(settings);
    let started = Instant::now();
    export.submit(&result(1, 0, Outcome::Ok));
    export.wait_for_series("vigie_otlp_items_total{signal=\"metrics\",outcome=\"accepted\"}", 6).await;
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    let bodies = json_bodies(&receiver, "/v1/metrics");
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(export.series("vigie_otlp_retries_total{signal=\"metrics\"}"), 1);
}

#[tokio::test]
async fn a_signal_that_is_rejected_is_not_repeated_and_does_not_stop_the_others() {
    let receiver = Receiver::start(|_, request| {
        let partial = r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#;
        match request.line.as_str() {
            "POST /v1/logs HTTP/1.1" => status(400),
            "POST /v1/traces HTTP/1.1" => Response::Status(200, Vec::new(), partial.to_owned()),
            _ => status(200),
        }
    })
    .await;
    let export = Export::start(settings(&receiver));
    export.submit(&result(1, 0, Outcome::Error));
    let series = |signal: &str, outcome: &str| {
        format!("vigie_otlp_items_total{{signal=\"{signal}\",outcome=\"{outcome}\"}}")
    };
    export.wait_for_series(&series("logs", "rejected"), 1).await;
    export.wait_for_series(&series("traces", "rejected"), 2).await;
    export.wait_for_series(&series("metrics", "accepted"), 5).await;
    assert_eq!(export.series(&series("traces", "accepted")), spans(&receiver).len() as u64 - 2);
    assert_eq!(receiver.requests().len(), 3);
    assert_eq!(export.series("vigie_otlp_retries_total{signal=\"logs\"}"), 0);
}

#[tokio::test]
async fn a_body_that_is_too_large_for_the_receiver_is_sent_in_parts() {
    let receiver = Receiver::start(|_, request| {
        let results = super::collector::json_body(request).matches("vigie.check.failed").count();
        if results > 1 { status(413) } else { status(200) }
    })
    .await;
    let mut settings = settings(&receiver);
    settings.signals = OtlpSignals { metrics: false, logs: true, traces: false };
    settings.max_batch_results = 3;
    let export = Export::start(settings);
    for minute in 0..3 {
        export.submit(&result(1, minute, Outcome::Error));
    }
    export.wait_for_series("vigie_otlp_items_total{signal=\"logs\",outcome=\"accepted\"}", 3).await;
    let mut times: Vec<_> = json_bodies(&receiver, "/v1/logs")
        .into_iter()
        .filter(|body| body.matches("vigie.check.failed").count() == 1)
        .collect();
    times.dedup();
    assert_eq!(times.len(), 3);
    assert_eq!(logs(&receiver).len(), 3 + 3 + 2, "three, one, two, one, one");
}

#[tokio::test]
async fn a_receiver_that_is_away_costs_the_oldest_results_and_a_bounded_time() {
    let closed = crate::support::closed::ClosedPort::new();
    let receiver = Receiver::always(200).await;
    let mut settings = settings(&receiver);
    settings.signals = METRICS_ONLY;
    settings.endpoint = format!("http://{}", closed.at).parse().unwrap();
    settings.queue_capacity = 10;
    settings.max_batch_results = 1;
    settings.give_up_after = Duration::from_millis(1_500);
    let export = Export::start(settings.clone());
    export.submit(&result(1, 0, Outcome::Ok));
    export.wait_for_series("vigie_otlp_retries_total{signal=\"metrics\"}", 1).await;
    let started = Instant::now();
    for minute in 1..=25 {
        export.submit(&result(1, minute, Outcome::Ok));
    }
    assert!(started.elapsed() < Duration::from_secs(1), "whoever submits does not wait");
    assert_eq!(export.series("vigie_otlp_queued_results"), 10);
    assert_eq!(export.series("vigie_otlp_dropped_results_total{reason=\"queue_full\"}"), 15);
    export.wait_for_series("vigie_otlp_items_total{signal=\"metrics\",outcome=\"given_up\"}", 6).await;

    // With the right address, what waits is sent at once: the newest ones.
    settings.endpoint = receiver.url("").parse().unwrap();
    export.handle.set_settings(Some(settings));
    let minute = |nanos: u64| (nanos / 1_000_000_000 - 1_767_225_600) / 60;
    let newest =
        |receiver: &Receiver| points(receiver).iter().map(|(.., point)| minute(point.time_unix_nano)).max();
    wait_for(&receiver, |receiver| (newest(receiver) == Some(25)).then_some(())).await;
    let oldest = points(&receiver).iter().map(|(.., point)| minute(point.time_unix_nano)).min();
    assert!(oldest >= Some(16), "{oldest:?}");
}

#[tokio::test]
async fn the_egress_policy_applies_and_its_denial_is_final() {
    let receiver = Receiver::always(200).await;
    let deny = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap();
    let net = NetConfig { egress_policy: deny, ..NetConfig::default() };
    let export = Export::start_in(settings(&receiver), &net);
    export.submit(&result(1, 0, Outcome::Ok));
    export.wait_for_series("vigie_otlp_items_total{signal=\"metrics\",outcome=\"rejected\"}", 6).await;
    assert_eq!(export.series("vigie_otlp_retries_total{signal=\"metrics\"}"), 0);
    assert!(receiver.requests().is_empty());
}

#[tokio::test]
async fn a_receiver_that_stalls_is_cut_off_and_the_end_sends_what_waits() {
    let receiver = Receiver::start(|number, _| match number {
        0 => Response::Silence(Duration::from_mins(1)),
        _ => status(200),
    })
    .await;
    let mut settings = settings(&receiver);
    settings.signals = METRICS_ONLY;
    settings.request_timeout = Duration::from_millis(300);
    settings.redactor = Redactor::default();
    let export = Export::start(settings.clone());
    export.submit(&result(1, 0, Outcome::Ok));
    export.wait_for_series("vigie_otlp_items_total{signal=\"metrics\",outcome=\"accepted\"}", 6).await;
    assert_eq!(receiver.requests().len(), 2);

    settings.flush_interval = Duration::from_mins(1);
    export.handle.set_settings(Some(settings));
    export.submit(&result(1, 1, Outcome::Ok));
    let started = Instant::now();
    export.handle.drain(Duration::from_secs(10)).await;
    assert!(started.elapsed() < Duration::from_secs(8), "it ends once nothing waits");
    assert_eq!(json_bodies(&receiver, "/v1/metrics").len(), 3);
    assert_eq!(export.series("vigie_otlp_dropped_results_total{reason=\"shutdown\"}"), 0);
}

#[tokio::test]
async fn the_end_is_bounded_when_the_receiver_is_away() {
    let closed = crate::support::closed::ClosedPort::new();
    let receiver = Receiver::always(200).await;
    let mut settings = settings(&receiver);
    settings.signals = METRICS_ONLY;
    settings.max_batch_results = 1;
    settings.endpoint = format!("http://{}", closed.at).parse().unwrap();
    let export = Export::start(settings);
    for minute in 0..3 {
        export.submit(&result(1, minute, Outcome::Ok));
    }
    export.wait_for_series("vigie_otlp_retries_total{signal=\"metrics\"}", 1).await;
    let started = Instant::now();
    export.handle.drain(Duration::from_millis(600)).await;
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    let dropped = export.series("vigie_otlp_dropped_results_total{reason=\"shutdown\"}");
    let given_up = export.series("vigie_otlp_items_total{signal=\"metrics\",outcome=\"given_up\"}");
    assert_eq!(dropped * 6 + given_up, 18);
    let waited = wait_for(&receiver, |receiver| Some(receiver.requests().len())).await;
    assert_eq!(waited, 0);
}
