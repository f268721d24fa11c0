//! Changes shared fields of several monitors at once (interface.md 2.5, Monitor bulk edit).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::bulk_change::{ErrorCollector, change_monitors, monitor_label, read_request_body};
use super::monitor_context::MonitorContext;
use super::validation_context::AccountValidationContext;
use crate::catalog::AccountFacts;
use crate::schema::reader::InputFormat;
use crate::schema::table::requests::MONITOR_BULK_EDIT;
use crate::schema::typed::request::{UpdateLocationsAction, UpdateLocationsRequest, parse_request_fields};
use crate::schema::typed::schedule::LocationReference;
use crate::schema::{Monitor, validate};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::node::{Node, NodeValue};

/// Fields of the body that are not fields of monitors.
const REQUEST_ONLY_FIELDS: [&str; 2] = ["monitors", "update_locations_action"];

/// Monitor bulk edit (interface.md 2.5): all or nothing. Sets the required fields in every monitor, and other fields
/// if the body has them. `locations` replaces the monitor's own, or with `append` is added to those that it uses now,
/// its own or the account's. Duplicate ids count once. Returns the warnings.
///
/// # Errors
/// [`ServiceError::Forbidden`] for a role that may not edit, an id that is not the account's, or a monitor defined in a
/// file; [`ServiceError::Invalid`] for errors of the body, or with the monitors that may not have one of the values;
/// errors of the store.
pub async fn bulk_edit(
    context: &MonitorContext,
    caller: &Caller,
    body: &Node,
) -> Result<Vec<String>, ServiceError> {
    let fields = read_request_body(&MONITOR_BULK_EDIT, body)?;
    let request: UpdateLocationsRequest = parse_request_fields(&MONITOR_BULK_EDIT, &fields)?;
    let append = request.update_locations_action == UpdateLocationsAction::Append;
    let is_shared = |name: &str| !(REQUEST_ONLY_FIELDS.contains(&name) || append && name == "locations");
    let entries = body.entries().iter().filter(|(key, _)| is_shared(&key.name)).cloned().collect();
    let shared = Node { value: NodeValue::Map(entries), position: body.position };
    let change = move |old: &Monitor,
                       _: &Map<String, Value>,
                       validation: &AccountValidationContext,
                       faults: &mut ErrorCollector| {
        let more = request.locations.as_deref().unwrap_or_default();
        let patched = if append && !more.is_empty() {
            &with_locations(&shared, current_and_added_locations(old, validation.account(), more))
        } else {
            &shared
        };
        match validate::validate_change(
            &old.document,
            InputFormat::V3,
            patched,
            &validation.validation_context(),
        ) {
            Ok(accepted) => Some(accepted),
            Err(errors) => {
                faults.add_all(&monitor_label(old.id), errors);
                None
            }
        }
    };
    change_monitors(context, caller, "bulk-edit", fields, change).await
}

/// Returns the locations that `monitor` uses now, followed by the others of `more`.
fn current_and_added_locations(monitor: &Monitor, facts: &AccountFacts, more: &[LocationReference]) -> Value {
    let mut unique = HashSet::new();
    let more = more.iter().map(|location| location.id.0);
    let pool = facts.location_pool(monitor).into_iter().chain(more);
    pool.filter(|id| unique.insert(*id)).map(|id| json!({"id": id})).collect()
}

fn with_locations(body: &Node, locations: Value) -> Node {
    let mut entries = body.entries().to_vec();
    let key = crate::syntax::node::Key { name: "locations".to_owned(), position: body.position };
    entries.push((key, Node::from(locations)));
    Node { value: NodeValue::Map(entries), position: body.position }
}
