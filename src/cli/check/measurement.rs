//! The numbers that a check measured, with the names that thresholds and performance data use.

use crate::domain::{CheckResult, Phase};
use crate::service::result_view::days_between;

/// Unit of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
    Percent,
    Bytes,
    Days,
}

/// One number that a check measured, in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) unit: Unit,
}

/// Duration of all attempts together.
pub(super) const TOTAL_TIME: &str = "time";
const SIZE: &str = "size";
const ROUND_TRIP_MEAN: &str = "rta";
const PACKET_LOSS: &str = "pl";
const CERTIFICATE_DAYS: &str = "cert_days";

impl Measurement {
    /// Formats the value for performance data, without its unit.
    pub(super) fn format_value(&self) -> String {
        match self.unit {
            Unit::Seconds => format!("{:.6}", self.value),
            Unit::Milliseconds => format!("{:.3}", self.value),
            Unit::Percent | Unit::Bytes | Unit::Days => format!("{}", self.value),
        }
    }

    /// Returns the value with its unit, for people.
    pub(super) fn describe(&self) -> String {
        let value = self.format_value();
        match self.unit {
            Unit::Seconds => format!("{value} s"),
            Unit::Milliseconds => format!("{value} ms"),
            Unit::Percent => format!("{value} %"),
            Unit::Bytes => format!("{value} bytes"),
            Unit::Days => format!("{value} days"),
        }
    }
}

/// Returns the names of all measurements of all types.
pub(super) fn measurement_names() -> impl Iterator<Item = &'static str> {
    let facts = [SIZE, ROUND_TRIP_MEAN, PACKET_LOSS, CERTIFICATE_DAYS];
    [TOTAL_TIME].into_iter().chain(Phase::ALL.map(Phase::name)).chain(facts)
}

/// Returns what `result` measured: the total time, the phases that the last attempt reached, facts.
pub(super) fn measurements(result: &CheckResult) -> Vec<Measurement> {
    let seconds = |name, micros: f64| Measurement { name, value: micros / 1e6, unit: Unit::Seconds };
    let mut found = vec![seconds(TOTAL_TIME, result.duration_us as f64)];
    found.extend(result.phases().iter().map(|(phase, micros)| seconds(phase.name(), f64::from(micros))));
    if let Some(http) = &result.facts.http {
        found.push(Measurement { name: SIZE, value: http.body_bytes as f64, unit: Unit::Bytes });
    }
    if let Some(ping) = &result.facts.ping {
        let mean = ping.rtt_avg_us.map(|micros| micros as f64 / 1e3);
        found.extend(mean.map(|value| Measurement {
            name: ROUND_TRIP_MEAN,
            value,
            unit: Unit::Milliseconds,
        }));
        found.push(Measurement { name: PACKET_LOSS, value: ping.loss_percent, unit: Unit::Percent });
    }
    if let Some(certificate) = result.peer_certificate() {
        let value = days_between(result.started_at, certificate.not_after) as f64;
        found.push(Measurement { name: CERTIFICATE_DAYS, value, unit: Unit::Days });
    }
    found
}
