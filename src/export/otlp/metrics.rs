//! Results as metrics. All of them are gauges, since a result is a value at a time: counters would have to outlive
//! restarts and other controllers.

use serde::{Serialize, Serializer};

use super::check::ExportedCheck;
use super::check_attributes::monitor_attributes;
use super::model::{KeyValue, Resource, SCOPE, Scope, UnixNanos, as_text};
use crate::domain::Outcome;

/// The body of a request with metrics.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MetricsBody<'a> {
    resource_metrics: [ResourceMetrics<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceMetrics<'a> {
    resource: &'a Resource,
    scope_metrics: [ScopeMetrics<'a>; 1],
}

#[derive(Serialize)]
struct ScopeMetrics<'a> {
    scope: Scope,
    metrics: Vec<Metric<'a>>,
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'static str,
    description: &'static str,
    unit: &'static str,
    gauge: Gauge<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gauge<'a> {
    data_points: Vec<DataPoint<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DataPoint<'a> {
    attributes: PointAttributes<'a>,
    time_unix_nano: UnixNanos,
    #[serde(flatten)]
    value: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Value {
    AsInt(#[serde(serialize_with = "as_text")] i64),
    AsDouble(f64),
}

/// The attributes of the check, and one of the point itself.
struct PointAttributes<'a> {
    common: &'a [KeyValue],
    own: Option<KeyValue>,
}

impl Serialize for PointAttributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.common.iter().chain(&self.own))
    }
}

/// Values of one check: nothing, one, or one for each value of an attribute.
type Values = Vec<(Value, Option<KeyValue>)>;

/// A metric: its name, what it is, its unit, and its values of one check.
type Definition = (&'static str, &'static str, &'static str, fn(&ExportedCheck) -> Values);

/// Every metric.
const DEFINITIONS: [Definition; 6] = [
    (
        "vigie.check.up",
        "1 when the check passed, 0 when it failed; nothing when Vigie could not check",
        "",
        up,
    ),
    ("vigie.check.status", "Status code of the check; 0 is ok", "", |check| {
        vec![(Value::AsInt(check.status.0.into()), None)]
    }),
    ("vigie.check.duration", "Duration of all attempts together", "s", |check| {
        check.duration_us.map(|micros| (seconds(micros), None)).into_iter().collect()
    }),
    ("vigie.check.phase.duration", "Duration of each phase of the last attempt", "s", phases),
    ("vigie.check.steps.failed", "Steps that failed, of a check with steps", "{step}", |check| {
        let count = check.failed_steps.map(i64::from);
        count.map(|count| (Value::AsInt(count), None)).into_iter().collect()
    }),
    (
        "vigie.tls.certificate.not_after",
        "When the certificate of the target expires, in seconds since 1970",
        "s",
        |check| {
            let end = check.certificate_end.map(|end| end.as_micros() / 1_000_000);
            end.map(|seconds| (Value::AsInt(seconds), None)).into_iter().collect()
        },
    ),
];

impl<'a> MetricsBody<'a> {
    /// Creates the body of `checks`, whose attributes are `attributes`; returns it with its number of data points.
    pub(super) fn new(
        resource: &'a Resource,
        checks: &[ExportedCheck],
        attributes: &'a [Vec<KeyValue>],
    ) -> (Self, usize) {
        let metric = |(name, description, unit, values): Definition| {
            let mut data_points = Vec::new();
            for (check, common) in checks.iter().zip(attributes) {
                let time_unix_nano = UnixNanos(check.ended_at);
                data_points.extend(values(check).into_iter().map(|(value, own)| DataPoint {
                    attributes: PointAttributes { common, own },
                    time_unix_nano,
                    value,
                }));
            }
            Metric { name, description, unit, gauge: Gauge { data_points } }
        };
        let metrics: Vec<_> = DEFINITIONS
            .into_iter()
            .map(metric)
            .filter(|metric| !metric.gauge.data_points.is_empty())
            .collect();
        let points = metrics.iter().map(|metric| metric.gauge.data_points.len()).sum();
        let scope_metrics = [ScopeMetrics { scope: SCOPE, metrics }];
        (Self { resource_metrics: [ResourceMetrics { resource, scope_metrics }] }, points)
    }
}

/// Returns the attributes of each of `checks`.
pub(super) fn point_attributes(checks: &[ExportedCheck]) -> Vec<Vec<KeyValue>> {
    checks.iter().map(monitor_attributes).collect()
}

fn up(check: &ExportedCheck) -> Values {
    let is_up = match check.outcome {
        Outcome::Ok | Outcome::Warning => 1,
        Outcome::Error => 0,
        // Nothing is known about the target.
        Outcome::Unknown | Outcome::Missed | Outcome::Blackout => return Vec::new(),
    };
    vec![(Value::AsInt(is_up), None)]
}

fn phases(check: &ExportedCheck) -> Values {
    let phases = check.phases.iter();
    phases
        .map(|(phase, micros)| (seconds(micros.into()), Some(KeyValue::new("vigie.phase", phase.name()))))
        .collect()
}

fn seconds(micros: u64) -> Value {
    Value::AsDouble(std::time::Duration::from_micros(micros).as_secs_f64())
}
