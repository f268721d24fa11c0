//! Dependencies in files, which name monitors by their keys: their ids are not known there (behaviour.md 9).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::dependency_circle::{describe_circle, find_circle};
use super::monitor_document::MonitorDocument;
use super::monitor_file::FileMonitor;
use super::parent_keys::{DEPENDS_ON_FIELD, ParentKey};
use super::secret_values::SecretMode;
use super::typed::InvalidFieldValue;
use crate::domain::{CustomerId, MonitorId};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, truncate_value};

/// Returns `document` that depends on `parents` too.
///
/// # Errors
/// Fails for a document that is invalid without them.
pub fn add_parents(
    document: &MonitorDocument,
    parents: impl IntoIterator<Item = MonitorId>,
) -> Result<MonitorDocument, InvalidFieldValue> {
    let mut ids = document.parent_ids();
    for parent in parents {
        if !ids.contains(&parent) {
            ids.push(parent);
        }
    }
    let mut values = document.to_non_default_fields(SecretMode::Revealed);
    values.insert(DEPENDS_ON_FIELD.to_owned(), ids.into_iter().map(|id| Value::from(id.0)).collect());
    MonitorDocument::new(document.monitor_type(), values)
}

/// Returns the errors of the dependencies of `monitors`, which are all monitors of the files on the server.
#[must_use]
pub fn dependency_errors(monitors: &[FileMonitor]) -> Vec<ValidationError> {
    let keys: HashSet<(CustomerId, &str)> =
        monitors.iter().map(|monitor| (monitor.customer, monitor.key.as_str())).collect();
    let mut errors = Vec::new();
    for monitor in monitors {
        for id in monitor.document.parent_ids() {
            let message =
                format!("`{DEPENDS_ON_FIELD}` names monitors of the files by their keys, not `{id}`");
            errors.push(conflict_error(monitor, monitor.position, message).with_value(id.to_string()));
        }
        for (index, ParentKey { key, position }) in monitor.parent_keys.iter().enumerate() {
            let displayed_key = truncate_value(key);
            let is_repeated = monitor.parent_keys[..index].iter().any(|earlier| earlier.key == *key);
            if *key == monitor.key {
                let message = format!("`{DEPENDS_ON_FIELD}`: a monitor cannot depend on itself");
                errors.push(conflict_error(monitor, *position, message).with_value(displayed_key));
            } else if is_repeated {
                let message = format!("`{DEPENDS_ON_FIELD}`: `{displayed_key}` is in the list already");
                errors.push(conflict_error(monitor, *position, message).with_value(displayed_key));
            } else if !keys.contains(&(monitor.customer, key.as_str())) {
                let message =
                    format!("`{DEPENDS_ON_FIELD}`: no monitor of the files has the key `{displayed_key}`");
                let error = conflict_error(monitor, *position, message).with_value(displayed_key);
                let keys_of_account = keys.iter().filter(|(customer, _)| *customer == monitor.customer);
                errors.push(match closest_match(key, keys_of_account.map(|(_, key)| *key)) {
                    Some(closest_key) => error.with_hint(format!("did you mean `{closest_key}`?")),
                    None => error,
                });
            }
        }
    }
    if errors.is_empty() { circle_errors(monitors) } else { errors }
}

/// Returns one error for each circle.
fn circle_errors(monitors: &[FileMonitor]) -> Vec<ValidationError> {
    let parents: HashMap<(CustomerId, &str), Vec<(CustomerId, &str)>> = monitors
        .iter()
        .filter(|monitor| !monitor.parent_keys.is_empty())
        .map(|monitor| {
            let parents = monitor.parent_keys.iter().map(|parent| (monitor.customer, parent.key.as_str()));
            ((monitor.customer, monitor.key.as_str()), parents.collect())
        })
        .collect();
    let mut in_circle: HashSet<(CustomerId, &str)> = HashSet::new();
    let mut errors = Vec::new();
    for monitor in monitors {
        let start = (monitor.customer, monitor.key.as_str());
        if in_circle.contains(&start) || !parents.contains_key(&start) {
            continue;
        }
        let parents_of = |member: &(CustomerId, &_)| parents.get(member).cloned().unwrap_or_default();
        if let Some(circle) = find_circle(&start, parents_of) {
            let keys: Vec<&str> = circle.iter().map(|(_, key)| *key).collect();
            let message = format!("`{DEPENDS_ON_FIELD}` closes a circle: {}", describe_circle(&keys));
            let position = monitor.parent_keys.first().map_or(monitor.position, |parent| parent.position);
            errors.push(
                conflict_error(monitor, position, message).with_hint("remove one of these dependencies"),
            );
            in_circle.extend(circle);
        }
    }
    errors
}

fn conflict_error(monitor: &FileMonitor, position: Position, message: String) -> ValidationError {
    ValidationError::new(ValidationErrorKind::Conflict, DEPENDS_ON_FIELD, position, message)
        .with_file(&monitor.file)
}
