//! Records of alerting as the pure modules want them: recipients, groups and blackouts.

use serde_json::Value;
use zeroize::Zeroizing;

use super::moment::read_window;
use crate::domain::{
    CustomerId, GroupMonitor, Method, MonitorId, NotifierGroup, Recipient, RecipientId, Record, RecordKind,
};
use crate::evaluate::settle::Quorum;
use crate::schedule::{Rests, When, Window};
use crate::store::seal_context;
use crate::vault::{Keyring, VaultError};

/// The recipient that `record` keeps; `None` for a method that this build does not know.
pub(super) fn recipient(record: &Record) -> Option<Recipient> {
    let number = |field: &str| record.fields.get(field).and_then(Value::as_i64);
    let count =
        |field: &str, default| number(field).and_then(|number| u32::try_from(number).ok()).unwrap_or(default);
    Some(Recipient {
        id: RecipientId(record.id),
        name: record.text("name").to_owned(),
        address: record.text("recipient").to_owned(),
        method: Method::of_id(number("method_id")?)?,
        username: record.text("username").to_owned(),
        availability_alert: record.flag("availability_alert"),
        performance_alert: record.flag("performance_alert"),
        notify_on_clear: record.flag("notify_on_clear"),
        start_threshold: count("start_threshold", 1).max(1),
        stop_threshold: count("stop_threshold", 10),
        attach_screen_capture: record.flag("attach_screen_capture"),
        attach_server_response: record.flag("attach_server_response"),
    })
}

/// The password of the recipient that `record` keeps; empty when it has none.
///
/// # Errors
/// As the vault's, when it cannot be opened.
pub fn recipient_password(vault: &Keyring, record: &Record) -> Result<Zeroizing<String>, VaultError> {
    let Some(sealed) = record.private.as_deref() else { return Ok(Zeroizing::default()) };
    let plain = vault.open(&recipient_context(record.customer), sealed)?;
    let text = std::str::from_utf8(&plain).map_err(|_| VaultError::Forged)?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// What passwords of recipients are sealed for.
pub(crate) fn recipient_context(customer: CustomerId) -> String {
    seal_context(RecordKind::Recipient.name(), customer)
}

/// The group that `record` keeps.
pub(super) fn group(record: &Record) -> NotifierGroup {
    let id = |entry: &Value| entry.get("id").and_then(Value::as_i64);
    let monitor = |entry: &Value| {
        let step = entry.get("step_number").and_then(Value::as_u64);
        Some(GroupMonitor {
            id: id(entry)?,
            step_number: step.and_then(|step| u32::try_from(step).ok()),
            content_view_id: entry.get("content_view_id").and_then(Value::as_i64),
        })
    };
    let error = |entry: &Value| id(entry).and_then(|code| u16::try_from(code).ok());
    NotifierGroup {
        id: record.id,
        name: record.text("name").to_owned(),
        is_default: record.flag("is_default"),
        monitors: entries(record, "monitors").filter_map(monitor).collect(),
        recipients: entries(record, "recipients").filter_map(id).map(RecipientId).collect(),
        error_types: entries(record, "errortypes").filter_map(error).collect(),
        templates: entries(record, "templates").filter_map(id).collect(),
    }
}

fn entries<'a>(record: &'a Record, list: &str) -> impl Iterator<Item = &'a Value> {
    record.fields.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// The blackout that `record` keeps; `None` for one that is damaged.
pub(crate) fn window(record: &Record) -> Option<Window> {
    let subject = record.assoc?;
    let rests = match record.text("type") {
        "Monitor" => Rests::Monitor(MonitorId(subject)),
        "Alert" => Rests::Alert(MonitorId(subject)),
        "Notifier" => Rests::Notifier(RecipientId(subject)),
        _ => return None,
    };
    Some(Window { id: record.id, rests, when: when(record)? })
}

fn when(record: &Record) -> Option<When> {
    if !record.flag("persistent") {
        let moment = |field: &str| read_window(record.text(field));
        return Some(When::Once { from: moment("from_date")?, thru: moment("thru_date")? });
    }
    let day = |field: &str| {
        let day = record.fields.get(field)?.as_u64().filter(|day| (1..=7).contains(day))?;
        u8::try_from(day).ok()
    };
    let time = |field: &str| jiff::civil::Time::strptime("%H:%M", record.text(field)).ok();
    Some(When::Weekly {
        start_day: day("start_day")?,
        start: time("start_time")?,
        end_day: day("end_day")?,
        end: time("end_time")?,
    })
}

/// What `multipop_threshold` of an account says; 2 without it.
pub(super) fn quorum(account: &Record) -> Quorum {
    match account.text("multipop_threshold") {
        "all" => Quorum::All,
        number => Quorum::AtLeast(number.parse().ok().filter(|number| *number > 0).unwrap_or(2)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Revision, Timestamp};

    fn record(kind: RecordKind, assoc: Option<i64>, fields: Value) -> Record {
        Record {
            id: 7,
            kind,
            customer: CustomerId(1),
            assoc,
            unique: None,
            revision: Revision(1),
            created_at: Timestamp::from_seconds(0),
            created_by: String::new(),
            modified_at: Timestamp::from_seconds(0),
            fields: fields.as_object().cloned().unwrap_or_default(),
            private: None,
        }
    }

    #[test]
    fn a_recipient_is_read_with_its_defaults() {
        let read = |fields| recipient(&record(RecordKind::Recipient, None, fields));
        let bare = read(json!({"name": "n", "recipient": "a@b.example", "method_id": 1})).unwrap();
        assert_eq!((bare.method, bare.start_threshold, bare.stop_threshold), (Method::MailText, 1, 10));
        let full = read(json!({"method_id": 101, "stop_threshold": 0, "start_threshold": 3,
            "availability_alert": true, "notify_on_clear": true}));
        let full = full.unwrap();
        assert_eq!((full.method, full.start_threshold, full.stop_threshold), (Method::Slack, 3, 0));
        assert!(full.availability_alert && full.notify_on_clear && !full.performance_alert);
        assert_eq!(read(json!({"method_id": 99})), None);
    }

    #[test]
    fn a_group_is_read_with_steps_and_codes() {
        let read = group(&record(
            RecordKind::NotifierGroup,
            None,
            json!({"name": "g", "is_default": true, "monitors": [{"id": 1}, {"id": 2, "step_number": 3}],
                "recipients": [{"id": 4}], "errortypes": [{"id": 51}], "templates": [{"id": 5}]}),
        ));
        let monitor = |id, step_number| GroupMonitor { id, step_number, content_view_id: None };
        assert_eq!(read.monitors, [monitor(1, None), monitor(2, Some(3))]);
        assert_eq!((read.id, read.is_default, read.error_types), (7, true, vec![51]));
        assert_eq!((read.recipients, read.templates), (vec![RecipientId(4)], vec![5]));
    }

    #[test]
    fn blackouts_of_every_type_are_windows() {
        let once = json!({"type": "Monitor", "persistent": false, "from_date": "2026-01-01 12:00:00",
            "thru_date": "2026-01-01 13:00:00"});
        let read = |assoc, fields| window(&record(RecordKind::Blackout, assoc, fields));
        let at = |hour| jiff::civil::date(2026, 1, 1).at(hour, 0, 0, 0);
        let window = read(Some(3), once.clone()).unwrap();
        assert_eq!(window.rests, Rests::Monitor(MonitorId(3)));
        assert_eq!(window.when, When::Once { from: at(12), thru: at(13) });
        let weekly = json!({"type": "Notifier", "persistent": true, "start_day": 7, "start_time": "22:00",
            "end_day": 1, "end_time": "06:30"});
        let window = read(Some(3), weekly).unwrap();
        assert_eq!(window.rests, Rests::Notifier(RecipientId(3)));
        let time = |hour, minute| jiff::civil::time(hour, minute, 0, 0);
        assert_eq!(
            window.when,
            When::Weekly { start_day: 7, start: time(22, 0), end_day: 1, end: time(6, 30) }
        );
        assert_eq!(read(None, once), None);
        assert_eq!(read(Some(3), json!({"type": "Alert", "persistent": true})), None);
    }

    #[test]
    fn an_account_says_how_many_have_to_fail() {
        let of = |fields| quorum(&record(RecordKind::Customer, None, fields));
        assert_eq!(of(json!({})), Quorum::AtLeast(2));
        assert_eq!(of(json!({"multipop_threshold": "1"})), Quorum::AtLeast(1));
        assert_eq!(of(json!({"multipop_threshold": "3"})), Quorum::AtLeast(3));
        assert_eq!(of(json!({"multipop_threshold": "all"})), Quorum::All);
    }
}
