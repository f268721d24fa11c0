//! Saved views of the list of monitors: the rules of their fields.

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{
    RecordDraft, field_conflict_error, fields_with_defaults, invalid_request_error, merged_fields,
};
use super::view_access::{OWNER_FIELD, is_owner, is_shared};
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::{ConfigRecord, ConfigRecordKind, UserId};
use crate::schema::table::views::{MAX_VIEW_QUERY_CHARS, VIEW};
use crate::service::caller::ServiceError;
use crate::service::list_query::ListQuery;
use crate::store::{ConfigChange, ConfigRecordFilter, Pagination};
use crate::syntax::node::Node;

/// Most views of an account.
const MAX_PER_ACCOUNT: u64 = 500;

pub(super) async fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let mut fields = fields_with_defaults(&VIEW, body)?;
    normalize_query(&mut fields, body)?;
    let filter = ConfigRecordFilter::new(ConfigRecordKind::View).for_customer(cx.caller.customer);
    let existing = cx.dependencies.config_store.records(filter, Pagination { limit: 1, offset: 0 }).await?;
    if existing.total >= MAX_PER_ACCOUNT {
        return Err(ServiceError::Conflict(format!("The account has {MAX_PER_ACCOUNT} views already")));
    }
    fields.insert(OWNER_FIELD.to_owned(), json!(cx.caller.user_id.0));
    Ok(RecordDraft::new(fields).with_unique_name(cx))
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let mut fields = merged_fields(&VIEW, &old.fields, body)?;
    if body.get("query").is_some() {
        normalize_query(&mut fields, body)?;
    }
    // Otherwise it would vanish for who does it.
    if is_shared(&old.fields) && !is_shared(&fields) && !is_owner(old, cx.caller) {
        let message = "Only who made a view can take it back from the others of the account";
        return Err(ServiceError::Forbidden(message.to_owned()));
    }
    Ok(RecordDraft::from_record(old, fields).with_unique_name(cx))
}

/// Replaces the query by what the list reads of it; fails for a part that the list would ignore.
fn normalize_query(fields: &mut Map<String, Value>, body: &Node) -> Result<(), ServiceError> {
    let text = fields.get("query").and_then(Value::as_str).unwrap_or_default();
    let (query, unknown) = ListQuery::parse_strictly(text);
    if !unknown.is_empty() {
        let parts: Vec<_> = unknown.iter().map(|part| format!("`{part}`")).collect();
        let message =
            format!("`query`: the list has no such filter, or not this value: {}", parts.join(", "));
        return Err(invalid_request_error(field_conflict_error(body, "query", message)));
    }
    // A view begins at its first page.
    let text = ListQuery { page_number: 1, ..query }.to_text();
    // What is read back can be sent again.
    if text.len() > MAX_VIEW_QUERY_CHARS {
        let message = format!("`query` must have at most {MAX_VIEW_QUERY_CHARS} characters as in an address");
        return Err(invalid_request_error(field_conflict_error(body, "query", message)));
    }
    fields.insert("query".to_owned(), json!(text));
    Ok(())
}

/// Returns the removal of the views that only the user `user` sees.
pub(super) async fn removals_of_user(
    cx: &RecordContext<'_>,
    user: UserId,
) -> Result<Vec<ConfigChange>, ServiceError> {
    let mut filter = ConfigRecordFilter::new(ConfigRecordKind::View).for_customer(cx.caller.customer);
    filter.field_values.push((OWNER_FIELD, json!(user.0)));
    let owned = cx.dependencies.config_store.records(filter, Pagination::ALL).await?.items;
    let private = owned.iter().filter(|record| !is_shared(&record.fields));
    let kind = ConfigRecordKind::View;
    Ok(private
        .map(|record| ConfigChange::RemoveRecord { kind, id: record.id, expected: record.revision })
        .collect())
}

/// Returns the value of a computed field.
pub(super) fn computed_field(record: &ConfigRecord, name: &str) -> Option<Value> {
    match name {
        "created_at" => Some(json!(format_utc_time(record.created_at))),
        "created_by" => Some(json!(record.created_by)),
        _ => None,
    }
}
