//! Locations (behaviour.md 1): from the settings, shared ones of account 1, and private ones of an account.

use serde_json::{Value, json};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, fields_with_defaults, merged_fields, unique_name};
use super::usage::monitor_usage_text;
use crate::catalog::record_settings::{settings_from_record, settings_or_skip};
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, LocationId};
use crate::schema::MonitorDocument;
use crate::schema::table::records::LOCATION_RECORD;
use crate::schema::typed::record::{AccountSettings, LocationSettings};
use crate::service::agents::EnrolmentSecrets;
use crate::service::caller::ServiceError;
use crate::store::{ConfigChange, ConfigRecordFilter, Pagination};
use crate::syntax::node::Node;

/// Returns the health field. Locations of the settings have this process as their only agent; others have those that
/// enrolled.
pub(super) fn health_to_json(agent_count: usize, alive_count: usize) -> Value {
    let state = if alive_count > 0 { "alive" } else { "away" };
    json!({"agents": agent_count, "alive": alive_count, "state": state})
}

/// Prepares a location with an enrolment secret, which is returned once and stored as its hash.
pub(super) fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let mut draft = RecordDraft::new(fields_with_defaults(&LOCATION_RECORD, body)?);
    set_private_and_unique_key(cx, &mut draft);
    let (secret, pending) = EnrolmentSecrets::default().with_new(cx.now)?;
    draft.private_data = Some(pending.to_private_data()?);
    draft.create_response_fields = secret.into_response_fields();
    Ok(draft)
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let mut draft = RecordDraft::from_record(old, merged_fields(&LOCATION_RECORD, &old.fields, body)?);
    set_private_and_unique_key(cx, &mut draft);
    let becomes_private = draft.fields.get("private") == Some(&json!(true))
        && !settings_from_record::<LocationSettings<'_>>(old)?.private;
    if becomes_private {
        let uses_this_location = |document: &MonitorDocument| uses_location(document, old.id);
        let usage_everywhere = monitor_usage_text(cx.dependencies, None, uses_this_location);
        if usage_everywhere.is_some()
            && usage_everywhere != monitor_usage_text(cx.dependencies, Some(old.customer), uses_this_location)
        {
            let message = "Monitors of other accounts use this location; it cannot become private";
            return Err(ServiceError::Conflict(message.to_owned()));
        }
    }
    Ok(draft)
}

fn set_private_and_unique_key(cx: &RecordContext<'_>, draft: &mut RecordDraft) {
    if cx.caller.customer != CustomerId::OPERATOR {
        draft.fields.insert("private".to_owned(), json!(true));
    }
    draft.unique_key = Some(unique_name(cx.caller.customer, cx.definition.record_name(&draft.fields)));
}

/// Prepares the removal of a location with its revoked agents and its data keys.
pub(super) async fn removal_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
) -> Result<RecordDraft, ServiceError> {
    check_removal(cx, old).await?;
    let mut draft = RecordDraft::default();
    for kind in [ConfigRecordKind::Agent, ConfigRecordKind::LocationKey] {
        let filter = ConfigRecordFilter { parent_ids: vec![old.id], ..ConfigRecordFilter::new(kind) };
        let attached = cx.dependencies.config_store.records(filter, Pagination::ALL).await?;
        let is_active = |record: &&ConfigRecord| record.fields.get("revoked_at").is_none_or(Value::is_null);
        if kind == ConfigRecordKind::Agent && attached.items.iter().any(|record| is_active(&record)) {
            let message = "Agents of this location may still connect; revoke them first";
            return Err(ServiceError::Conflict(message.to_owned()));
        }
        let remove = |record: &ConfigRecord| ConfigChange::RemoveRecord {
            kind,
            id: record.id,
            expected: record.revision,
        };
        draft.additional_changes.extend(attached.items.iter().map(remove));
    }
    Ok(draft)
}

/// Refuses to remove a location that monitors or account defaults use.
async fn check_removal(cx: &RecordContext<'_>, old: &ConfigRecord) -> Result<(), ServiceError> {
    if let Some(usage_text) =
        monitor_usage_text(cx.dependencies, None, |document| uses_location(document, old.id))
    {
        return Err(ServiceError::Conflict(format!(
            "{usage_text} this location; give them another one first"
        )));
    }
    let all = Pagination::ALL;
    let accounts = cx
        .dependencies
        .config_store
        .records(ConfigRecordFilter::new(ConfigRecordKind::Customer), all)
        .await?;
    let lists_this_location = |account: &&ConfigRecord| {
        settings_or_skip::<AccountSettings<'_>>(account).is_some_and(|account| {
            account.default_locations.iter().any(|location| location.id == LocationId(old.id))
        })
    };
    match accounts.items.iter().filter(lists_this_location).count() {
        0 => Ok(()),
        count => {
            let message = format!("This location is among the default locations of {count} account(s)");
            Err(ServiceError::Conflict(message))
        }
    }
}

fn uses_location(document: &MonitorDocument, location_id: i64) -> bool {
    let location_id = LocationId(location_id);
    document.settings().schedule.home_location == Some(location_id)
        || document.location_ids().contains(&location_id)
}
