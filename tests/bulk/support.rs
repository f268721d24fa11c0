//! Bodies to start from, and what there is before and after.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType, Revision};
use vigie::schema::reader::InputFormat;
use vigie::schema::{Monitor, Origin, SecretMode};
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::store::{ConfigStore, MonitorStore};
use vigie::syntax::node::Node;

use crate::fleet::kit::{Kit, admin};

/// `values` with the fields of `more`.
pub fn with(mut values: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("{more}") };
    values.as_object_mut().unwrap().extend(more);
    values
}

/// A bulk edit with all that is required.
pub fn edit(ids: &[MonitorId], more: Value) -> Node {
    let required = json!({
        "monitors": ids.iter().map(|id| id.0).collect::<Vec<_>>(), "billing_plancode": "large", "enabled": true,
        "interval": 10, "mode": "Global Verify", "rotate_locations": false, "monitor_location_count": 0,
        "notify_on_error": false, "home_location": 1, "retry_on_failure": false, "allow_internal_testing": true,
        "traceroute_on_error": false, "timeout": 20,
    });
    Node::from(with(required, more))
}

/// A password or script bulk edit.
pub fn exchange(ids: &[MonitorId], current: &str, new: &str) -> Node {
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    Node::from(json!({"monitors": ids, "current_value": current, "new_value": new}))
}

/// Makes a monitor of any type.
pub async fn made(kit: &Kit, kind: MonitorType, values: Value) -> MonitorId {
    let body = with(json!({"billing_plancode": "large", "name": "n"}), values);
    let saved = monitors::create(&kit.monitors, &admin(), kind, InputFormat::V3, &Node::from(body)).await;
    MonitorId(saved.unwrap().id)
}

/// A monitor of a file, in memory and in the store.
pub async fn of_file(kit: &Kit, id: i64) -> MonitorId {
    let like = kit.made(json!({"name": "filed"})).await;
    let monitor =
        Monitor { id: MonitorId(id), origin: Origin::File { key: "shop".into() }, ..kit.monitor(like) };
    kit.ledger.inner.apply_monitors(vec![monitor.clone()], Vec::new(), Box::new(|_| None)).await.unwrap();
    kit.monitors.monitors().apply(vec![monitor], &[like]);
    MonitorId(id)
}

/// Everything that a refused call has to leave as it is.
#[derive(Debug, PartialEq)]
pub struct Whole {
    monitors: Vec<(MonitorId, Revision, Value, Origin)>,
    kept: Vec<(MonitorId, Revision, Option<Vec<u8>>)>,
    planned: BTreeMap<MonitorId, Revision>,
    audit: usize,
}

pub async fn whole(kit: &Kit) -> Whole {
    let monitors = kit.monitors.monitors().all();
    let document = |monitor: &Monitor| Value::Object(monitor.document.to_stored(SecretMode::Revealed));
    let kept = kit.ledger.inner.stored_monitors().await.unwrap();
    Whole {
        monitors: monitors.iter().map(|m| (m.id, m.revision, document(m), m.origin.clone())).collect(),
        kept: kept.into_iter().map(|kept| (kept.monitor.id, kept.monitor.revision, kept.sealed)).collect(),
        planned: kit.notes.planned(),
        audit: kit.audit().await.len(),
    }
}

/// What refuses a call, as `path: first line of the message` of each fault.
pub fn told<T>(refused: Result<T, ServiceError>) -> Vec<String> {
    match refused {
        Ok(_) => Vec::new(),
        Err(ServiceError::Invalid(errors)) => {
            errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect()
        }
        Err(other) => vec![format!("{other:?}")],
    }
}
