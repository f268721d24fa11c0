//! Blackouts (interface.md 2.4, behaviour.md 1) of a monitor or recipient, once or weekly.

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, field_conflict_error, invalid_request_error};
use crate::catalog::record_settings::{settings_from_record, settings_or_skip};
use crate::catalog::v3_time_format::to_local_time;
use crate::domain::{ConfigRecord, MonitorId};
use crate::schema::blackout;
use crate::schema::typed::record::BlackoutSettings;
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;

pub(super) fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let parse_result = blackout::validate_new(body, to_local_time(cx.now, &cx.account.time_zone));
    let (mut fields, mut errors) = match parse_result {
        Ok(fields) => (fields, Vec::new()),
        Err(errors) => (Map::new(), errors),
    };
    let subject_id = body.get("assoc_id").and_then(|id| id.to_json().as_i64()).filter(|id| *id > 0);
    let subject_type = body.get("type").and_then(Node::as_text).unwrap_or_default();
    if let Some(subject_id) = subject_id
        && let Some(message) = unknown_subject_message(cx, subject_type, subject_id)
    {
        errors.push(field_conflict_error(body, "assoc_id", message).with_value(subject_id.to_string()));
    }
    if !errors.is_empty() {
        return Err(ServiceError::Invalid(errors));
    }
    fields.remove("assoc_id");
    default_to_one_time(&mut fields);
    Ok(RecordDraft { parent_id: subject_id, ..RecordDraft::new(fields) })
}

/// Returns an error message if the monitor or recipient `subject_id` does not exist.
fn unknown_subject_message(cx: &RecordContext<'_>, subject_type: &str, subject_id: i64) -> Option<String> {
    if subject_type == "Notifier" {
        let exists = cx.account.contacts.recipients.iter().any(|recipient| recipient.id.0 == subject_id);
        return (!exists).then(|| format!("`assoc_id`: there is no recipient `{subject_id}`"));
    }
    let exists =
        cx.dependencies.monitor_cache.get_for_customer(cx.caller.customer, MonitorId(subject_id)).is_some();
    (!exists).then(|| format!("`assoc_id`: monitor `{subject_id}` does not exist"))
}

/// Sets `persistent` if it is absent, since lists are filtered by it.
pub(super) fn default_to_one_time(fields: &mut Map<String, Value>) {
    fields.entry("persistent").or_insert(json!(false));
}

/// Changes a recurring blackout; its monitor and type cannot change.
pub(super) fn change_draft(old: &ConfigRecord, body: &Node) -> Result<RecordDraft, ServiceError> {
    if !settings_from_record::<BlackoutSettings<'_>>(old)?.recurs_weekly {
        let message = "A one-time blackout cannot be changed; remove it and create another";
        return Err(ServiceError::Conflict(message.to_owned()));
    }
    let mut before = old.fields.clone();
    before.insert("assoc_id".to_owned(), json!(old.parent_id));
    let mut fields = blackout::merge_and_validate(&before, body)?;
    if fields.remove("assoc_id") != Some(json!(old.parent_id)) {
        let message = "`assoc_id` of a blackout cannot be changed; remove it and create another";
        return Err(invalid_request_error(field_conflict_error(body, "assoc_id", message)));
    }
    Ok(RecordDraft::from_record(old, fields))
}

/// Refuses to remove a past blackout, which is history.
pub(super) fn check_removal(cx: &RecordContext<'_>, old: &ConfigRecord) -> Result<(), ServiceError> {
    if is_past(cx, old) {
        return Err(ServiceError::Conflict("A past blackout cannot be removed".to_owned()));
    }
    Ok(())
}

/// Whether it occurs once and is over.
pub(super) fn is_past(cx: &RecordContext<'_>, blackout: &ConfigRecord) -> bool {
    let now = to_local_time(cx.now, &cx.account.time_zone);
    settings_or_skip(blackout).is_some_and(|blackout: BlackoutSettings<'_>| blackout.is_past(now))
}
