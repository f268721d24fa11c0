//! Attributes that say which check a data point, log record or span is about. Names outside of the semantic conventions
//! of OpenTelemetry begin with `vigie.`: there is none for uptime.

use std::net::SocketAddr;

use super::check::{ExportedCheck, FailedCheck};
use super::model::KeyValue;
use crate::domain::{Attempt, Failure};

/// Returns the attributes of the monitor and the location, which every item has.
pub(super) fn monitor_attributes(check: &ExportedCheck) -> Vec<KeyValue> {
    let context = &check.context;
    let mut attributes = vec![
        KeyValue::new("vigie.account.id", context.account.0),
        KeyValue::new("vigie.monitor.id", check.monitor_id.0),
        KeyValue::new("vigie.monitor.name", &*check.monitor_name),
        KeyValue::new("vigie.monitor.type", check.monitor_type.name()),
        KeyValue::new("vigie.location.id", check.location_id.0),
    ];
    attributes.extend(context.monitor_key.as_deref().map(|key| KeyValue::new("vigie.monitor.key", key)));
    if !context.location_name.is_empty() {
        attributes.push(KeyValue::new("vigie.location.name", &*context.location_name));
    }
    attributes
}

/// Returns the attributes of a check that failed, after those of [`monitor_attributes`].
pub(super) fn failed_check_attributes(check: &ExportedCheck, failed: &FailedCheck) -> Vec<KeyValue> {
    let mut attributes = monitor_attributes(check);
    attributes.extend([
        KeyValue::new("vigie.check.id", check.check_id.to_string()),
        KeyValue::new("vigie.check.outcome", check.outcome.name()),
        KeyValue::new("vigie.check.status", i64::from(check.status.0)),
        KeyValue::new("vigie.check.status_text", failed.status_text.as_str()),
        KeyValue::new("vigie.check.attempts", i64::try_from(failed.attempts.len()).unwrap_or(i64::MAX)),
    ]);
    if let Some(failure) = failed.attempts.last().and_then(|attempt: &Attempt| attempt.failure.as_ref()) {
        attributes.extend(failure_attributes(failure));
    }
    if let Some((url, http_status)) = &failed.last_response {
        attributes.push(KeyValue::new("url.full", url.as_str()));
        attributes.push(KeyValue::new("http.response.status_code", i64::from(*http_status)));
    }
    if let Some(address) = failed.address {
        attributes.extend(peer_attributes(address));
    }
    attributes
}

/// Returns the attributes of a failure.
pub(super) fn failure_attributes(failure: &Failure) -> [KeyValue; 2] {
    [
        KeyValue::new("error.type", failure.kind.label()),
        KeyValue::new("vigie.failure.phase", failure.phase.name()),
    ]
}

/// Returns the attributes of the address that was reached.
pub(super) fn peer_attributes(address: SocketAddr) -> [KeyValue; 2] {
    [
        KeyValue::new("network.peer.address", address.ip().to_string()),
        KeyValue::new("network.peer.port", i64::from(address.port())),
    ]
}
