//! Request bodies, and snapshots of the state before and after a call.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType, Revision};
use vigie::schema::reader::InputFormat;
use vigie::schema::{Monitor, Origin, SecretMode};
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::store::{ConfigStore, MonitorStore};
use vigie::syntax::node::Node;

use crate::monitors::harness::{Harness, admin};

/// Returns `values` extended by the fields of `more`.
pub fn with(mut values: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("{more}") };
    values.as_object_mut().unwrap().extend(more);
    values
}

/// Returns the body of a bulk edit with all required fields.
pub fn edit(ids: &[MonitorId], more: Value) -> Node {
    let required = json!({
        "monitors": ids.iter().map(|id| id.0).collect::<Vec<_>>(), "billing_plancode": "large", "enabled": true,
        "interval": 10, "mode": "Global Verify", "rotate_locations": false, "monitor_location_count": 0,
        "notify_on_error": false, "home_location": 1, "retry_on_failure": false, "allow_internal_testing": true,
        "traceroute_on_error": false, "timeout": 20,
    });
    Node::from(with(required, more))
}

/// Returns the body of a password or script bulk edit.
pub fn replacement(ids: &[MonitorId], current: &str, new: &str) -> Node {
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    Node::from(json!({"monitors": ids, "current_value": current, "new_value": new}))
}

/// Creates a monitor of any type and returns its id.
pub async fn create_monitor(harness: &Harness, kind: MonitorType, values: Value) -> MonitorId {
    let body = with(json!({"billing_plancode": "large", "name": "n"}), values);
    let saved = monitors::create(&harness.monitors, &admin(), kind, InputFormat::V3, &Node::from(body)).await;
    MonitorId(saved.unwrap().id)
}

/// Creates a monitor of a file, in memory and in the store.
pub async fn create_file_monitor(harness: &Harness, id: i64) -> MonitorId {
    let template = harness.create_monitor(json!({"name": "filed"})).await;
    let monitor = Monitor {
        id: MonitorId(id),
        origin: Origin::File { key: "shop".into() },
        ..harness.monitor(template)
    };
    harness.store.inner.apply_monitors(vec![monitor.clone()], Vec::new(), Box::new(|_| None)).await.unwrap();
    harness.monitors.monitor_cache().apply(vec![monitor], &[template]);
    MonitorId(id)
}

/// Everything that a refused call must not change.
#[derive(Debug, PartialEq)]
pub struct Snapshot {
    monitors: Vec<(MonitorId, Revision, Value, Origin)>,
    stored: Vec<(MonitorId, Revision, Option<Vec<u8>>)>,
    planned: BTreeMap<MonitorId, Revision>,
    audit: usize,
}

pub async fn snapshot(harness: &Harness) -> Snapshot {
    let monitors = harness.monitors.monitor_cache().all();
    let document =
        |monitor: &Monitor| Value::Object(monitor.document.to_non_default_fields(SecretMode::Revealed));
    let stored = harness.store.inner.stored_monitors().await.unwrap();
    Snapshot {
        monitors: monitors.iter().map(|m| (m.id, m.revision, document(m), m.origin.clone())).collect(),
        stored: stored
            .into_iter()
            .map(|stored| (stored.monitor.id, stored.monitor.revision, stored.sealed_secrets))
            .collect(),
        planned: harness.planner.planned(),
        audit: harness.audit().await.len(),
    }
}

/// Returns the errors of a refused call, each as `path: message`.
pub fn error_texts<T>(result: Result<T, ServiceError>) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(ServiceError::Invalid(errors)) => {
            errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect()
        }
        Err(other) => vec![format!("{other:?}")],
    }
}
