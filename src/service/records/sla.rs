//! Service level agreements (behaviour.md 1 `/slas`): at most one for each monitor.

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{
    RecordDraft, field_conflict_error, fields_with_defaults, invalid_request_error, merged_fields,
};
use crate::domain::{ConfigRecord, MonitorId};
use crate::schema::table::alerting::SLA;
use crate::service::caller::ServiceError;
use crate::syntax::ValidationError;
use crate::syntax::node::Node;

pub(super) fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let parse_result = fields_with_defaults(&SLA, body);
    let (mut fields, mut errors) = match parse_result {
        Ok(fields) => (fields, Vec::new()),
        Err(errors) => (Map::new(), errors),
    };
    validate(cx, &fields, body, &mut errors);
    let monitor_id = body.get("monitor_id").and_then(|id| id.to_json().as_i64()).filter(|id| *id > 0);
    if let Some(monitor_id) = monitor_id
        && cx.dependencies.monitor_cache.get_for_customer(cx.caller.customer, MonitorId(monitor_id)).is_none()
    {
        let message = format!("`monitor_id`: monitor `{monitor_id}` does not exist");
        errors.push(field_conflict_error(body, "monitor_id", message).with_value(monitor_id.to_string()));
    }
    if !errors.is_empty() {
        return Err(ServiceError::Invalid(errors));
    }
    fields.shift_remove("monitor_id");
    Ok(RecordDraft {
        parent_id: monitor_id,
        unique_key: monitor_id.map(|id| id.to_string()),
        ..RecordDraft::new(fields)
    })
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let mut before = old.fields.clone();
    before.insert("monitor_id".to_owned(), json!(old.parent_id));
    let mut fields = merged_fields(&SLA, &before, body)?;
    if fields.shift_remove("monitor_id") != Some(json!(old.parent_id)) {
        let message = "`monitor_id` of an agreement cannot be changed; remove it and create another";
        return Err(invalid_request_error(field_conflict_error(body, "monitor_id", message)));
    }
    let mut errors = Vec::new();
    validate(cx, &fields, body, &mut errors);
    if errors.is_empty() {
        Ok(RecordDraft::from_record(old, fields))
    } else {
        Err(ServiceError::Invalid(errors))
    }
}

/// Checks that goals have at most three decimals, and that exclusions end after their start and name a location of
/// the account. Existing exclusions are not checked, since their locations may have been removed.
pub(super) fn validate(
    cx: &RecordContext<'_>,
    fields: &Map<String, Value>,
    body: &Node,
    errors: &mut Vec<ValidationError>,
) {
    for goal_field in ["availability", "uptime", "response_time"] {
        let number = fields.get(goal_field).and_then(Value::as_f64);
        if number.is_some_and(|number| !has_at_most_three_decimals(number)) {
            errors.push(field_conflict_error(
                body,
                goal_field,
                format!("`{goal_field}` must have at most three decimals"),
            ));
        }
    }
    if body.get("exclusions").is_none() {
        return;
    }
    let exclusions = fields.get("exclusions").and_then(Value::as_array);
    for (index, exclusion) in exclusions.into_iter().flatten().enumerate() {
        let field_text = |field: &str| exclusion.get(field).and_then(Value::as_str).unwrap_or_default();
        // Both have the same format, so they compare as strings.
        if field_text("from_date") >= field_text("thru_date") {
            let path = format!("exclusions[{index}].thru_date");
            errors.push(field_conflict_error(body, &path, format!("`{path}` must be after `from_date`")));
        }
        let location_id = exclusion.get("location_id").and_then(Value::as_i64);
        if let Some(location_id) = location_id.filter(|id| !cx.account.locations.contains_key(id)) {
            let path = format!("exclusions[{index}].location_id");
            let message = format!("`{path}`: location `{location_id}` does not exist");
            errors.push(field_conflict_error(body, &path, message).with_value(location_id.to_string()));
        }
    }
}

/// Whether the number has at most three decimals, within the precision of floating point.
fn has_at_most_three_decimals(number: f64) -> bool {
    let thousandths = number * 1000.0;
    (thousandths - thousandths.round()).abs() < 1e-6
}

/// Returns the value of a computed field.
pub(super) fn computed_field(record: &ConfigRecord, name: &str) -> Option<Value> {
    (name == "monitor_id").then(|| json!(record.parent_id))
}

#[cfg(test)]
mod tests {
    use super::has_at_most_three_decimals;

    #[test]
    fn goals_have_three_decimals() {
        for valid in [99.0, 99.9, 99.95, 99.999, 0.001, 100.0] {
            assert!(has_at_most_three_decimals(valid), "{valid}");
        }
        for invalid in [99.9999, 0.0005, 99.999_01] {
            assert!(!has_at_most_three_decimals(invalid), "{invalid}");
        }
    }
}
