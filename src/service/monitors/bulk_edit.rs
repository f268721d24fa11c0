//! Changes shared fields of several monitors at once (interface.md 2.5, Monitor bulk edit).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::account_validation::AccountValidationContext;
use super::bulk_change::{ErrorCollector, change_monitors, monitor_label, read_request_body};
use super::monitor_service::MonitorService;
use crate::catalog::AccountSnapshot;
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
/// if the body has them. `locations` replaces the monitor's own, or with the action `append` is added to those that it
/// uses now, its own or the account's. Duplicate ids count once. Returns the warnings.
///
/// # Errors
/// [`ServiceError::Forbidden`] for a role that may not edit, an id that is not the account's, or a monitor defined in a
/// file; [`ServiceError::Invalid`] for errors of the body, or with the monitors that may not have one of the values;
/// errors of the store.
pub async fn bulk_edit(
    service: &MonitorService,
    caller: &Caller,
    body: &Node,
) -> Result<Vec<String>, ServiceError> {
    let fields = read_request_body(&MONITOR_BULK_EDIT, body)?;
    let request: UpdateLocationsRequest = parse_request_fields(&MONITOR_BULK_EDIT, &fields)?;
    let appends_locations = request.update_locations_action == UpdateLocationsAction::Append;
    let is_monitor_field =
        |name: &str| !(REQUEST_ONLY_FIELDS.contains(&name) || appends_locations && name == "locations");
    let entries = body.entries().iter().filter(|(key, _)| is_monitor_field(&key.name)).cloned().collect();
    let monitor_patch = Node { value: NodeValue::Map(entries), position: body.position };
    let change_monitor = move |old: &Monitor,
                               _: &Map<String, Value>,
                               validation: &AccountValidationContext,
                               collector: &mut ErrorCollector| {
        let added_locations = request.locations.as_deref().unwrap_or_default();
        let patch = if appends_locations && !added_locations.is_empty() {
            &with_locations(
                &monitor_patch,
                current_and_added_locations(old, validation.account(), added_locations),
            )
        } else {
            &monitor_patch
        };
        match validate::merge_and_validate(
            &old.document,
            InputFormat::V3,
            patch,
            &validation.validation_context(),
        ) {
            Ok(validated) => Some(validated),
            Err(errors) => {
                collector.add_all(&monitor_label(old.id), errors);
                None
            }
        }
    };
    change_monitors(service, caller, "bulk-edit", fields, change_monitor).await
}

/// Returns the locations that `monitor` uses now, followed by the others of `added`.
fn current_and_added_locations(
    monitor: &Monitor,
    account: &AccountSnapshot,
    added: &[LocationReference],
) -> Value {
    let mut seen = HashSet::new();
    let added = added.iter().map(|location| location.id.0);
    let location_ids = account.location_pool_ids(monitor).into_iter().chain(added);
    location_ids.filter(|id| seen.insert(*id)).map(|id| json!({"id": id})).collect()
}

/// Returns `body` with the further field `locations`.
fn with_locations(body: &Node, locations: Value) -> Node {
    let mut entries = body.entries().to_vec();
    let key = crate::syntax::node::Key { name: "locations".to_owned(), position: body.position };
    entries.push((key, Node::from(locations)));
    Node { value: NodeValue::Map(entries), position: body.position }
}
