//! Shared fields of several monitors at once (interface.md 2.5, Monitor bulk edit).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::context::MonitorContext;
use super::many::{Blame, called, change_many, fields};
use super::validation::ValidationContext;
use crate::catalog::AccountFacts;
use crate::schema::intake::Form;
use crate::schema::table::account::MONITOR_BULK_EDIT;
use crate::schema::typed::request::{LocationsAction, LocationsRequest, read_request};
use crate::schema::typed::schedule::LocationReference;
use crate::schema::{Monitor, accept};
use crate::service::caller::{Caller, Refusal};
use crate::syntax::source::{Node, NodeValue};

/// Fields of the body that are not the monitors'.
const OUTER: [&str; 2] = ["monitors", "update_locations_action"];

/// Monitor bulk edit (interface.md 2.5): all or nothing. The required fields are set in every monitor, the
/// others where the body has them. `locations` replaces the monitor's own, or with `append` goes behind
/// those that it uses now, its own or else the account's. A number that stands twice counts once. Answers
/// the warnings.
///
/// # Errors
/// [`Refusal::Forbidden`] for a role that may not edit, an id that is not the account's, or a file's
/// monitor; [`Refusal::Faults`] for what is wrong with the body, or naming the monitors that may not have
/// one of the values; and as the store's.
pub async fn bulk_edit(
    context: &MonitorContext,
    caller: &Caller,
    body: &Node,
) -> Result<Vec<String>, Refusal> {
    let fields = fields(&MONITOR_BULK_EDIT, body)?;
    let wanted: LocationsRequest = read_request(&MONITOR_BULK_EDIT, &fields)?;
    let append = wanted.update_locations_action == LocationsAction::Append;
    let kept = |name: &str| !(OUTER.contains(&name) || append && name == "locations");
    let entries = body.entries().iter().filter(|(key, _)| kept(&key.name)).cloned().collect();
    let shared = Node { value: NodeValue::Map(entries), position: body.position };
    let change =
        move |old: &Monitor, _: &Map<String, Value>, scene: &ValidationContext, blame: &mut Blame| {
            let more = wanted.locations.as_deref().unwrap_or_default();
            let patched = if append && !more.is_empty() {
                &with_locations(&shared, appended(old, scene.facts(), more))
            } else {
                &shared
            };
            match accept::patch(&old.document, Form::V3, patched, &scene.around()) {
                Ok(accepted) => Some(accepted),
                Err(faults) => {
                    blame.add(&called(old.id), faults);
                    None
                }
            }
        };
    change_many(context, caller, "bulk-edit", fields, change).await
}

/// The locations that `monitor` uses now, and those of `more` that are not among them.
fn appended(monitor: &Monitor, facts: &AccountFacts, more: &[LocationReference]) -> Value {
    let mut seen = HashSet::new();
    let more = more.iter().map(|location| location.id.0);
    let pool = facts.pool(monitor).into_iter().chain(more);
    pool.filter(|id| seen.insert(*id)).map(|id| json!({"id": id})).collect()
}

fn with_locations(body: &Node, locations: Value) -> Node {
    let mut entries = body.entries().to_vec();
    let key = crate::syntax::source::Key { name: "locations".to_owned(), position: body.position };
    entries.push((key, Node::from(locations)));
    Node { value: NodeValue::Map(entries), position: body.position }
}
