//! The account of the caller: its time zone, defaults and thresholds.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, field_conflict_error, merged_fields};
use crate::domain::ConfigRecord;
use crate::schema::table::records::ACCOUNT;
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let mut old_with_defaults = ACCOUNT.defaults();
    old_with_defaults.extend(old.fields.clone());
    let fields = merged_fields(&ACCOUNT, &old_with_defaults, body)?;
    let mut errors: Vec<ValidationError> = Vec::new();
    if let Some(zone) = body.get("time_zone").and_then(Node::as_text)
        && !is_time_zone(zone)
    {
        let message =
            format!("`time_zone` must be the IANA name of a zone, such as `Europe/Paris`, not `{zone}`");
        let error = ValidationError::new(
            ValidationErrorKind::Format,
            "time_zone",
            body.position_of("time_zone"),
            message,
        );
        errors.push(error.with_value(zone));
    }
    if body.get("default_locations").is_some() {
        validate_default_locations(cx, &fields, body, &mut errors);
    }
    if errors.is_empty() {
        Ok(RecordDraft::from_record(old, fields))
    } else {
        Err(ServiceError::Invalid(errors))
    }
}

/// Whether this host knows the zone by its IANA name.
fn is_time_zone(name: &str) -> bool {
    TimeZone::get(name).is_ok_and(|zone| zone.iana_name().is_some())
}

fn validate_default_locations(
    cx: &RecordContext<'_>,
    fields: &Map<String, Value>,
    body: &Node,
    errors: &mut Vec<ValidationError>,
) {
    let entries = fields.get("default_locations").and_then(Value::as_array);
    let ids: Vec<i64> =
        entries.into_iter().flatten().filter_map(|entry| entry.get("id").and_then(Value::as_i64)).collect();
    for (index, id) in ids.iter().enumerate() {
        let path = format!("default_locations[{index}].id");
        if !cx.account.locations.contains_key(id) {
            errors.push(
                field_conflict_error(body, &path, format!("`{path}`: location `{id}` does not exist"))
                    .with_value(id.to_string()),
            );
        } else if ids[..index].contains(id) {
            errors.push(field_conflict_error(
                body,
                &path,
                format!("`{path}`: location `{id}` is in the list already"),
            ));
        }
    }
}
