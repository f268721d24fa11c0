//! Hosts that report metrics (`/hosts`). Their tokens and reports are in `service::hosts`.

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, fields_with_defaults, merged_fields};
use super::usage::monitor_usage_text;
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::{ConfigRecord, HostId};
use crate::schema::host_file::metrics_url_error;
use crate::schema::host_reference::find_host_id;
use crate::schema::table::hosts::HOST;
use crate::service::caller::ServiceError;
use crate::service::hosts::NewHostSecret;
use crate::syntax::node::Node;

/// Prepares a host with a token, which is returned once and stored as its hash.
pub(super) fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let fields = fields_with_defaults(&HOST, body)?;
    check_metrics_url(&fields, body)?;
    let mut draft = RecordDraft::new(fields).with_unique_name(cx);
    let secret = NewHostSecret::generate();
    draft.private_data = Some(secret.hash.clone());
    // The id, which is a part of the token, comes with the commit.
    draft.complete_response =
        Some(Box::new(move |id| Map::from_iter([("token".to_owned(), json!(secret.token_of(HostId(id))))])));
    Ok(draft)
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let fields = merged_fields(&HOST, &old.fields, body)?;
    check_metrics_url(&fields, body)?;
    let draft = RecordDraft::from_record(old, fields).with_unique_name(cx);
    let (old_name, new_name) =
        (cx.definition.record_name(&old.fields), cx.definition.record_name(&draft.fields));
    if old_name != new_name {
        let uses_name = |reference: &str| reference == old_name && reference.parse() != Ok(old.id);
        if let Some(usage) = usage(cx, old, uses_name) {
            let message = format!("{usage} this host by its name; let them use its id {} first", old.id);
            return Err(ServiceError::Conflict(message));
        }
    }
    Ok(draft)
}

fn check_metrics_url(fields: &Map<String, Value>, body: &Node) -> Result<(), ServiceError> {
    metrics_url_error(fields, body).map_or(Ok(()), |error| Err(ServiceError::Invalid(vec![error])))
}

pub(super) fn check_removal(cx: &RecordContext<'_>, old: &ConfigRecord) -> Result<(), ServiceError> {
    let uses_host = |reference: &str| find_host_id(&cx.account.hosts, reference) == Some(old.id);
    match usage(cx, old, uses_host) {
        Some(usage) => Err(ServiceError::Conflict(format!("{usage} this host; give them another one first"))),
        None => Ok(()),
    }
}

fn usage(cx: &RecordContext<'_>, host: &ConfigRecord, is_meant: impl Fn(&str) -> bool) -> Option<String> {
    monitor_usage_text(cx.dependencies, Some(host.customer), |document| {
        document.host_reference().is_some_and(&is_meant)
    })
}

/// Returns the value of a field that is not stored.
pub(super) fn computed_field(cx: &RecordContext<'_>, record: &ConfigRecord, name: &str) -> Option<Value> {
    let summary = cx.host_summaries.get(&HostId(record.id));
    Some(match name {
        "created_at" => json!(format_utc_time(record.created_at)),
        "created_by" => json!(record.created_by),
        "state" => json!(state_name(cx, record)),
        "last_report_at" => json!(format_utc_time(summary?.received_at)),
        "agent_version" => json!(summary?.agent_version),
        "system" => json!(summary?.system),
        _ => return None,
    })
}

fn state_name(cx: &RecordContext<'_>, record: &ConfigRecord) -> &'static str {
    let interval_s = record.fields.get("report_seconds").and_then(Value::as_u64).unwrap_or(60);
    match cx.host_summaries.get(&HostId(record.id)) {
        _ if record.private_data.is_none() => "revoked",
        None => "waiting",
        Some(summary) if cx.now.since(summary.measured_at).as_secs() > 2 * interval_s => "silent",
        Some(_) => "reporting",
    }
}
