//! Agents on other hosts. They come by enrolment and end by revocation (`service::agents`); here is what people change.

use serde_json::{Value, json};

use super::agent_states::is_revoked;
use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, merged_fields};
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::ConfigRecord;
use crate::schema::table::agents::AGENT;
use crate::service::agents::LiveAgent;
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;

pub(super) fn change_draft(old: &ConfigRecord, body: &Node) -> Result<RecordDraft, ServiceError> {
    Ok(RecordDraft::from_record(old, merged_fields(&AGENT, &old.fields, body)?))
}

/// Returns the value of a field that is not stored. Without a heartbeat lately, the version is the one of the last
/// enrolment or renewal, which is stored.
pub(super) fn computed_field(cx: &RecordContext<'_>, record: &ConfigRecord, name: &str) -> Option<Value> {
    let live_agent = cx.agent_states.live_agent(record);
    match name {
        "location_id" => Some(json!(record.parent_id)),
        "enrolled_at" => Some(json!(format_utc_time(record.created_at))),
        "state" => Some(json!(state_name(record, live_agent))),
        _ => heartbeat_field(live_agent?, name),
    }
}

/// Returns the state as in the table of agents.
fn state_name(record: &ConfigRecord, live_agent: Option<&LiveAgent>) -> &'static str {
    match live_agent {
        _ if is_revoked(record) => "revoked",
        Some(agent) if agent.is_online && agent.presence.is_draining => "draining",
        Some(agent) if agent.is_online => "online",
        _ => "offline",
    }
}

/// Returns the value of a field that the last heartbeat contains.
fn heartbeat_field(agent: &LiveAgent, name: &str) -> Option<Value> {
    let LiveAgent { presence, last_seen_at, .. } = agent;
    Some(match name {
        "last_seen_at" => json!(format_utc_time(*last_seen_at)),
        "version" => json!(presence.version),
        "clock_offset_ms" => json!(presence.clock_offset_us.map(|offset| offset / 1000)),
        "lateness_ms" => json!(u64::try_from(presence.lateness.as_millis()).unwrap_or(u64::MAX)),
        "planned_monitors" => json!(presence.load.planned_monitors),
        "running_checks" => json!(presence.load.running_checks),
        "waiting_checks" => json!(presence.load.waiting_checks),
        "spooled_results" => json!(presence.spool.results),
        "waiting_results" => json!(presence.spool.waiting_results),
        "spool_bytes" => json!(presence.spool.bytes),
        "dropped_results" => json!(presence.spool.dropped_results),
        "dropped_captures" => json!(presence.spool.dropped_captures),
        "browser_capacity" => json!(presence.browser_capacity),
        "weight" => json!(presence.weight),
        "is_isolated" => json!(presence.is_isolated),
        "source_addresses" => json!(presence.network.source_addresses),
        "interface" => json!(presence.network.interface),
        "name_servers" => json!(presence.network.name_servers),
        "proxy" => json!(presence.network.proxy),
        "proxy_ids" => json!(presence.network.proxy_ids),
        "egress_allow" => json!(presence.network.egress_allow),
        "egress_deny" => json!(presence.network.egress_deny),
        "connectivity_targets" => json!(presence.network.connectivity_targets),
        _ => return None,
    })
}
