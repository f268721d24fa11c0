//! A receiver of OTLP, and exports to it.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, LogsData};
use opentelemetry_proto::tonic::metrics::v1::{
    MetricsData, NumberDataPoint, metric::Data, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use serde::de::DeserializeOwned;
use vigie::clock::SystemClock;
use vigie::domain::{CheckResult, CustomerId};
use vigie::export::otlp::{CheckContext, ExportedCheck, OtlpExporter, OtlpHandle, OtlpSettings, OtlpSignals};
use vigie::net::{Net, NetConfig};
use vigie::telemetry::{Metrics, SupervisedTask, TaskHeartbeat, TaskName};

use crate::notify::receiver::{Receiver, Request};

/// Longest time that a test waits for something.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// A running export.
pub struct Export {
    pub handle: OtlpHandle,
    pub metrics: Arc<Metrics>,
}

impl Export {
    pub fn start(settings: OtlpSettings) -> Self {
        Self::start_in(settings, &NetConfig::default())
    }

    pub fn start_in(settings: OtlpSettings, net: &NetConfig) -> Self {
        let metrics = Arc::new(Metrics::new());
        let heartbeat = TaskHeartbeat::unwatched(TaskName::OtlpExport);
        let net = Net::new(net).unwrap();
        let clock = Arc::new(SystemClock);
        let (handle, mut exporter) =
            OtlpExporter::new(Some(settings), &net, clock, Arc::clone(&metrics), heartbeat);
        tokio::spawn(async move { exporter.run().await });
        Self { handle, metrics }
    }

    /// Submits `result` as that of a monitor of account 4 at the location `North`.
    pub fn submit(&self, result: &CheckResult) {
        let context = CheckContext {
            account: CustomerId(4),
            monitor_key: Some(Arc::from("shop")),
            location_name: Arc::from("North"),
        };
        self.handle.submit(ExportedCheck::from_result(result, context, true));
    }

    /// Returns the value of a series of `/metrics`.
    pub fn series(&self, name: &str) -> u64 {
        let text = self.metrics.encode();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no `{name}` in\n{text}")).parse().unwrap()
    }

    /// Waits until a series of `/metrics` has at least `value`.
    pub async fn wait_for_series(&self, name: &str, value: u64) {
        let end = Instant::now() + TIMEOUT;
        while self.series(name) < value {
            assert!(Instant::now() < end, "`{name}` stays at {}", self.series(name));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Returns settings that send at once to `receiver`.
pub fn settings(receiver: &Receiver) -> OtlpSettings {
    OtlpSettings {
        endpoint: receiver.url("").parse().unwrap(),
        headers: http::HeaderMap::new(),
        redactor: vigie::redaction::redactor::Redactor::default(),
        signals: OtlpSignals::ALL,
        compresses: true,
        queue_capacity: 1_000,
        max_batch_results: 500,
        flush_interval: Duration::from_millis(50),
        request_timeout: Duration::from_secs(10),
        give_up_after: Duration::from_secs(30),
        resource_attributes: Vec::new(),
        accounts: None,
    }
}

/// Returns the bodies that `receiver` got at `path`, as JSON.
pub fn json_bodies(receiver: &Receiver, path: &str) -> Vec<String> {
    let end = format!("{path} HTTP/1.1");
    receiver.requests().iter().filter(|request| request.line.ends_with(&end)).map(json_body).collect()
}

pub fn json_body(request: &Request) -> String {
    assert_eq!(request.header("content-type"), Some("application/json"));
    let mut text = String::new();
    match request.header("content-encoding") {
        Some("gzip") => GzDecoder::new(request.body.as_slice()).read_to_string(&mut text).unwrap(),
        None => request.body.as_slice().read_to_string(&mut text).unwrap(),
        Some(other) => panic!("{other}"),
    };
    text
}

/// Waits until `read` returns something of what `receiver` got.
pub async fn wait_for<T>(receiver: &Receiver, read: impl Fn(&Receiver) -> Option<T>) -> T {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = read(receiver) {
            return found;
        }
        assert!(Instant::now() < end, "{:?}", receiver.requests());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn decode<T: DeserializeOwned>(receiver: &Receiver, path: &str) -> Vec<T> {
    let bodies = json_bodies(receiver, path);
    bodies
        .iter()
        .map(|body| serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
        .collect()
}

/// Returns all data points that `receiver` got: name and unit of their metric, and the point.
pub fn points(receiver: &Receiver) -> Vec<(String, String, NumberDataPoint)> {
    let bodies: Vec<MetricsData> = decode(receiver, "/v1/metrics");
    let metrics = bodies
        .into_iter()
        .flat_map(|body| body.resource_metrics)
        .flat_map(|resource| resource.scope_metrics)
        .flat_map(|scope| scope.metrics);
    metrics
        .flat_map(|metric| {
            let Some(Data::Gauge(gauge)) = metric.data else { panic!("{} is no gauge", metric.name) };
            let points = gauge.data_points.into_iter();
            points.map(move |point| (metric.name.clone(), metric.unit.clone(), point)).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns all log records that `receiver` got, each with its resource.
pub fn logs(receiver: &Receiver) -> Vec<(Resource, LogRecord)> {
    let bodies: Vec<LogsData> = decode(receiver, "/v1/logs");
    let resources = bodies.into_iter().flat_map(|body| body.resource_logs);
    resources
        .flat_map(|logs| {
            let resource = logs.resource.unwrap();
            let records = logs.scope_logs.into_iter().flat_map(|scope| scope.log_records);
            records.map(|record| (resource.clone(), record)).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns all spans that `receiver` got.
pub fn spans(receiver: &Receiver) -> Vec<Span> {
    let bodies: Vec<TracesData> = decode(receiver, "/v1/traces");
    bodies
        .into_iter()
        .flat_map(|body| body.resource_spans)
        .flat_map(|resource| resource.scope_spans)
        .flat_map(|scope| scope.spans)
        .collect()
}

/// Returns the value of an attribute as a text; empty without it.
pub fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|attribute| attribute.value.clone()?.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(other) => panic!("{key}: {other:?}"),
        None => String::new(),
    }
}

/// Returns the value of a data point.
pub fn number(point: &NumberDataPoint) -> f64 {
    match point.value.unwrap() {
        number_data_point::Value::AsDouble(value) => value,
        number_data_point::Value::AsInt(value) => f64::from(i32::try_from(value).unwrap()),
    }
}
