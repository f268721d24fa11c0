//! Lists locations: configured ones first, then records.

use serde_json::{Map, Value, json};

use super::location::health_to_json;
use super::record_context::RecordContext;
use super::record_json;
use crate::domain::{ConfigRecordKind, Location};
use crate::pipeline::AgentStatus;
use crate::service::caller::ServiceError;
use crate::store::{ConfigRecordFilter, Paginated, Pagination};
use crate::syntax::json_object::into_object;

/// Lists the configured locations, then the records by id.
pub(super) async fn list_locations(
    cx: &RecordContext<'_>,
    page: Pagination,
) -> Result<Paginated<Map<String, Value>>, ServiceError> {
    let all = Pagination::ALL;
    let location_records = cx
        .dependencies
        .config_store
        .records(ConfigRecordFilter::new(ConfigRecordKind::Location), all)
        .await?;
    let configured = configured_locations(cx).into_iter();
    let records = location_records.items.iter().filter(|record| cx.can_see(record));
    let objects: Vec<_> =
        configured.chain(records.map(|record| record_json::record_to_json(cx, record))).collect();
    let count = objects.len() as u64;
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    Ok(Paginated { total: count, items: objects.into_iter().skip(offset).take(limit).collect() })
}

/// Returns the configured locations as JSON.
pub(super) fn configured_locations(cx: &RecordContext<'_>) -> Vec<Map<String, Value>> {
    let agents = cx.dependencies.planner.agent_statuses();
    cx.account.shared.locations.iter().map(|location| configured_to_json(location, &agents)).collect()
}

/// Returns the configured location with this id as JSON; `None` for another one, and for another kind of record.
pub(super) fn configured_location(cx: &RecordContext<'_>, id: i64) -> Option<Map<String, Value>> {
    if cx.definition.kind != ConfigRecordKind::Location {
        return None;
    }
    cx.account
        .shared
        .locations
        .iter()
        .find(|location| location.id.0 == id)
        .map(|location| configured_to_json(location, &cx.dependencies.planner.agent_statuses()))
}

/// Fails for a location that is defined in the settings.
pub(super) fn require_not_configured(cx: &RecordContext<'_>, id: i64) -> Result<(), ServiceError> {
    if configured_location(cx, id).is_none() {
        return Ok(());
    }
    let message = "This location is defined in the settings of the server; change it there";
    Err(ServiceError::Forbidden(message.to_owned()))
}

fn configured_to_json(location: &Location, agents: &[AgentStatus]) -> Map<String, Value> {
    into_object(json!({
        "id": location.id.0,
        "name": location.name,
        "region": location.region_code,
        "private": false,
        "verifies": agents.iter().any(|agent| agent.location.id == location.id && agent.can_verify),
        "health": health_to_json(1, usize::from(has_working_agent(location, agents))),
        "managed": true,
    }))
}

/// Whether an agent runs checks at `location` now and has connectivity.
fn has_working_agent(location: &Location, agents: &[AgentStatus]) -> bool {
    agents.iter().any(|agent| agent.location.id == location.id && agent.is_alive && !agent.is_isolated)
}
