//! Rules over several fields of a blackout (interface.md 2.4, behaviour.md 1).

use serde_json::{Map, Value};

use super::reader::{FieldReader, InputFormat, reject_secret_sources};
use super::table::requests::{BLACKOUT, BLACKOUT_BULK_EDIT};
use crate::syntax::node::{Node, Position};
use crate::syntax::{ValidationError, ValidationErrorKind, display_value};

/// A new one-time blackout may start at most this many minutes in the past ("mute now").
const MAX_START_AGE_MINUTES: i64 = 5;

const ONE_TIME_FIELDS: [&str; 2] = ["from_date", "thru_date"];
const WEEKLY_FIELDS: [&str; 4] = ["start_day", "start_time", "end_day", "end_time"];

/// Reads and validates a new blackout; `now` is the time in the account's time zone.
pub fn validate_new(
    body: &Node,
    now: jiff::civil::DateTime,
) -> Result<Map<String, Value>, Vec<ValidationError>> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let mut values = reader.read_complete_fields(&BLACKOUT, body);
    values.retain(|_, value| !value.is_null());
    set_persistent_by_fields(&mut values);
    let mut errors = reader.errors;
    if errors.is_empty() {
        check_fields(&values, body, now, &mut errors);
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

/// Applies `body` to `old`, a weekly blackout. Fields that `body` does not name stay as they are.
pub fn merge_and_validate(
    old: &Map<String, Value>,
    body: &Node,
) -> Result<Map<String, Value>, Vec<ValidationError>> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let must_be_complete = false;
    let new_values = reader.read_fields(&BLACKOUT, body, &[], must_be_complete);
    let mut errors = reader.errors;
    let mut values = old.clone();
    for (name, value) in new_values {
        match (name.as_str(), value) {
            // The weekly fields and `persistent` cannot be unset.
            (_, Value::Null) if WEEKLY_FIELDS.contains(&name.as_str()) => {
                let message = format!("`{name}` is required when `persistent` is true");
                errors.push(ValidationError::new(
                    ValidationErrorKind::MissingField,
                    &*name,
                    body.position_of(&name),
                    message,
                ));
            }
            ("persistent", Value::Null | Value::Bool(false)) => {
                let message = "`persistent` stays `true`; remove the blackout and make one that comes once";
                errors.push(conflict_error(body, "persistent", message.to_owned()));
            }
            (_, Value::Null) => drop(values.shift_remove(&name)),
            (_, value) => drop(values.insert(name, value)),
        }
    }
    if errors.is_empty() {
        // A weekly blackout must have no dates, so the current time does not matter.
        check_fields(&values, body, jiff::civil::DateTime::MIN, &mut errors);
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

/// Reads a bulk edit of blackouts; `now` is the time in the account's time zone.
pub fn validate_bulk_edit(
    body: &Node,
    now: jiff::civil::DateTime,
) -> Result<Map<String, Value>, Vec<ValidationError>> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let mut values = reader.read_complete_fields(&BLACKOUT_BULK_EDIT, body);
    values.retain(|_, value| !value.is_null());
    let mut errors = reader.errors;
    for (enabling_field, action_field) in
        [("update_one_time", "update_one_time_action"), ("update_persistent", "update_persistent_action")]
    {
        let enabled = values.get(enabling_field) == Some(&Value::Bool(true));
        if enabled && !values.contains_key(action_field) && body.get(action_field).is_none() {
            let message = format!("`{action_field}` is required when `{enabling_field}` is true");
            errors.push(ValidationError::new(
                ValidationErrorKind::MissingField,
                action_field,
                body.position,
                message,
            ));
        }
    }
    let blackouts = values.get("one_time_blackouts").and_then(Value::as_array);
    for (index, blackout) in blackouts.into_iter().flatten().enumerate() {
        if let Value::Object(blackout) = blackout {
            check_dates(blackout, body, &format!("one_time_blackouts[{index}]."), now, &mut errors);
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

/// Sets `persistent` where it is absent: a blackout with days recurs weekly, one with dates does not.
fn set_persistent_by_fields(values: &mut Map<String, Value>) {
    let has_any = |fields: &[&str]| fields.iter().any(|field| values.contains_key(*field));
    if !values.contains_key("persistent") && has_any(&WEEKLY_FIELDS) && !has_any(&ONE_TIME_FIELDS) {
        values.insert("persistent".to_owned(), Value::Bool(true));
    }
}

fn check_fields(
    values: &Map<String, Value>,
    body: &Node,
    now: jiff::civil::DateTime,
    errors: &mut Vec<ValidationError>,
) {
    let weekly = values.get("persistent") == Some(&Value::Bool(true));
    let (required_fields, forbidden_fields): (&[&str], &[&str]) =
        if weekly { (&WEEKLY_FIELDS, &ONE_TIME_FIELDS) } else { (&ONE_TIME_FIELDS, &WEEKLY_FIELDS) };
    for field in required_fields.iter().filter(|field| !values.contains_key(**field)) {
        let message = format!("`{field}` is required when `persistent` is {weekly}");
        errors.push(ValidationError::new(ValidationErrorKind::MissingField, *field, body.position, message));
    }
    for field in forbidden_fields.iter().filter(|field| values.contains_key(**field)) {
        errors.push(conflict_error(body, field, format!("`{field}` does not go with `persistent` {weekly}")));
    }
    if values.get("type").and_then(Value::as_str) == Some("Notifier") && values.contains_key("note") {
        errors.push(conflict_error(body, "note", "`note` does not go with `type` Notifier".to_owned()));
    }
    if !weekly {
        check_dates(values, body, "", now, errors);
    }
}

/// Checks that `from_date` is before `thru_date`, that `thru_date` is in the future, and that `from_date` is at most
/// [`MAX_START_AGE_MINUTES`] minutes in the past.
fn check_dates(
    values: &Map<String, Value>,
    body: &Node,
    prefix: &str,
    now: jiff::civil::DateTime,
    errors: &mut Vec<ValidationError>,
) {
    let date_time = |field: &str| {
        let text = values.get(field)?.as_str()?;
        jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok()
    };
    let (Some(from), Some(thru)) = (date_time("from_date"), date_time("thru_date")) else { return };
    let (from_path, thru_path) = (format!("{prefix}from_date"), format!("{prefix}thru_date"));
    if from >= thru {
        let message = format!("`{thru_path}` must be after `from_date`");
        errors.push(conflict_error(body, &thru_path, message));
    } else if thru <= now {
        errors.push(conflict_error(body, &thru_path, format!("`{thru_path}` is past")));
    }
    let earliest = now.saturating_sub(jiff::SignedDuration::from_mins(MAX_START_AGE_MINUTES));
    if from < earliest {
        let message = format!("`{from_path}` is more than {MAX_START_AGE_MINUTES} minutes ago");
        errors.push(conflict_error(body, &from_path, message));
    }
}

fn conflict_error(body: &Node, path: &str, message: String) -> ValidationError {
    let position: Position = body.position_of(path);
    let error = ValidationError::new(ValidationErrorKind::Conflict, path, position, message);
    match body.get(path) {
        Some(node) => error.with_value(display_value(node)),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> jiff::civil::DateTime {
        jiff::civil::date(2026, 3, 1).at(12, 0, 0, 0)
    }

    fn blackout_body(extra_fields: Value) -> Node {
        let mut body = json!({"assoc_id": 1, "type": "Monitor"});
        if let (Value::Object(body), Value::Object(extra_fields)) = (&mut body, extra_fields) {
            body.extend(extra_fields);
        }
        Node::from(body)
    }

    fn validation_messages(extra_fields: Value) -> Vec<String> {
        validate_new(&blackout_body(extra_fields), now())
            .err()
            .into_iter()
            .flatten()
            .map(|error| error.to_string())
            .collect()
    }

    fn one_time_dates(from: &str, thru: &str) -> Value {
        json!({"from_date": format!("2026-{from}"), "thru_date": format!("2026-{thru}")})
    }

    #[test]
    fn a_blackout_is_either_one_time_or_weekly() {
        let weekly = json!({"persistent": true, "start_day": 7, "start_time": "23:00", "end_day": 1, "end_time": "01:00"});
        assert_eq!(validation_messages(weekly.clone()), Vec::<String>::new());
        assert_eq!(
            validation_messages(one_time_dates("03-01 12:00:00", "03-01 13:00:00")),
            Vec::<String>::new()
        );
        assert_eq!(
            validation_messages(json!({})),
            [
                "`from_date` is required when `persistent` is false",
                "`thru_date` is required when `persistent` is false"
            ]
        );
        assert_eq!(validation_messages(json!({"persistent": true})).len(), 4);
        let mut mixed_body = weekly;
        mixed_body["from_date"] = json!("2026-03-02 00:00:00");
        assert_eq!(validation_messages(mixed_body), ["`from_date` does not go with `persistent` true"]);
    }

    #[test]
    fn without_persistent_a_blackout_with_days_is_weekly_and_one_with_dates_comes_once() {
        let read = |extra_fields: Value| validate_new(&blackout_body(extra_fields), now());
        let mut weekly = json!({"start_day": 7, "start_time": "23:00", "end_day": 1, "end_time": "01:00"});
        assert_eq!(read(weekly.clone()).unwrap()["persistent"], json!(true));
        weekly["persistent"] = Value::Null;
        assert_eq!(read(weekly.clone()).unwrap()["persistent"], json!(true));
        let one_time = read(one_time_dates("03-01 12:00:00", "03-01 13:00:00")).unwrap();
        assert_ne!(one_time.get("persistent"), Some(&json!(true)));
        assert_eq!(
            validation_messages(json!({"start_day": 7})).len(),
            3,
            "the other weekly fields are missing"
        );
        weekly["from_date"] = json!("2026-03-02 00:00:00");
        assert!(
            validation_messages(weekly)
                .iter()
                .any(|error| error.contains("does not go with `persistent` false"))
        );
    }

    #[test]
    fn a_one_time_blackout_must_not_be_past() {
        assert_eq!(
            validation_messages(one_time_dates("03-01 11:55:00", "03-01 12:00:01")),
            Vec::<String>::new()
        );
        assert_eq!(
            validation_messages(one_time_dates("03-01 11:54:59", "03-01 13:00:00")),
            ["`from_date` is more than 5 minutes ago"]
        );
        assert_eq!(
            validation_messages(one_time_dates("03-01 11:58:00", "03-01 12:00:00")),
            ["`thru_date` is past"]
        );
        assert_eq!(
            validation_messages(one_time_dates("03-01 13:00:00", "03-01 13:00:00")),
            ["`thru_date` must be after `from_date`"]
        );
    }

    #[test]
    fn a_notifier_blackout_has_no_note() {
        let mut body = one_time_dates("03-01 12:00:00", "03-01 13:00:00");
        body["note"] = json!("x");
        assert_eq!(validation_messages(body.clone()), Vec::<String>::new());
        body["type"] = json!("Notifier");
        assert_eq!(validation_messages(body), ["`note` does not go with `type` Notifier"]);
    }

    #[test]
    fn a_bulk_edit_requires_its_actions() {
        let body = |action: Value, thru: &str| {
            Node::from(json!({
                "monitors": [1], "update_one_time": true, "update_one_time_action": action, "update_persistent": false,
                "one_time_blackouts": [{"type": "Alert", "from_date": "2026-03-01 12:00:00", "thru_date": thru}],
            }))
        };
        assert!(validate_bulk_edit(&body(json!("append"), "2026-03-01 13:00:00"), now()).is_ok());
        let errors = validate_bulk_edit(&body(json!("append"), "2026-02-01 13:00:00"), now()).unwrap_err();
        assert_eq!(
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["`one_time_blackouts[0].thru_date` must be after `from_date`"]
        );
        let body_without_actions =
            Node::from(json!({"monitors": [1], "update_one_time": true, "update_persistent": false}));
        let errors = validate_bulk_edit(&body_without_actions, now()).unwrap_err();
        assert_eq!(errors[0].message, "`update_one_time_action` is required when `update_one_time` is true");
    }
}
