//! Agents on other hosts. They come by enrolment and end by revocation (`service::agents`); here is what people change.

use serde_json::{Value, json};

use super::record_draft::{RecordDraft, merged_fields};
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::ConfigRecord;
use crate::schema::table::agents::AGENT;
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;

pub(super) fn change_draft(old: &ConfigRecord, body: &Node) -> Result<RecordDraft, ServiceError> {
    Ok(RecordDraft::from_record(old, merged_fields(&AGENT, &old.fields, body)?))
}

/// Returns the value of a field that is not stored.
pub(super) fn computed_field(record: &ConfigRecord, name: &str) -> Option<Value> {
    match name {
        "location_id" => Some(json!(record.parent_id)),
        "enrolled_at" => Some(json!(format_utc_time(record.created_at))),
        _ => None,
    }
}
