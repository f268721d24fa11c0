//! Reads the records of alerting: recipients, groups and blackouts.

use super::record_settings::{ok_or_log_skipped, settings_or_skip};
use crate::domain::{ConfigRecord, GroupMonitor, MonitorId, NotifierGroup, Recipient, RecipientId};
use crate::evaluate::settle::Quorum;
use crate::schedule::{BlackoutTarget, BlackoutWindow};
use crate::schema::typed::record::{
    BlackoutKind, BlackoutSettings, MultiPopThreshold, NotifierGroupMonitorSettings, NotifierGroupSettings,
    RecipientSettings,
};

/// Reads the recipient of `record`; `None` for an invalid one, which is logged.
pub(crate) fn recipient_from_record(record: &ConfigRecord) -> Option<Recipient> {
    let settings: RecipientSettings<'_> = settings_or_skip(record)?;
    Some(Recipient {
        id: RecipientId(record.id),
        name: settings.name.to_owned(),
        address: settings.recipient.to_owned(),
        method: settings.method,
        username: settings.username.unwrap_or_default().to_owned(),
        gets_availability_alerts: settings.availability_alert,
        gets_performance_alerts: settings.performance_alert,
        notify_on_clear: settings.notify_on_clear,
        start_threshold: settings.start_threshold.max(1),
        stop_threshold: settings.stop_threshold,
        attach_screen_capture: settings.attach_screen_capture,
        attach_server_response: settings.attach_server_response,
        language: settings.language.unwrap_or_default().to_owned(),
    })
}

/// Reads the group of `record`; `None` for an invalid one, which is logged.
pub(super) fn group_from_record(record: &ConfigRecord) -> Option<NotifierGroup> {
    let settings: NotifierGroupSettings<'_> = settings_or_skip(record)?;
    let to_group_monitor = |monitor: &NotifierGroupMonitorSettings| GroupMonitor {
        monitor_id: monitor.id,
        step_number: monitor.step_number,
        content_view_id: monitor.content_view_id,
    };
    Some(NotifierGroup {
        id: record.id,
        name: settings.name.to_owned(),
        is_default: settings.is_default,
        group_monitors: settings.monitors.iter().map(to_group_monitor).collect(),
        recipient_ids: settings.recipients.iter().map(|recipient| RecipientId(recipient.id)).collect(),
        status_codes: settings.errortypes.iter().map(|status| status.id).collect(),
        template_ids: settings.templates.iter().map(|template| template.id).collect(),
    })
}

/// Reads the blackout of `record`; `None` for an invalid one, which is logged.
pub(crate) fn blackout_from_record(record: &ConfigRecord) -> Option<BlackoutWindow> {
    let target_id = record.parent_id?;
    let settings: BlackoutSettings<'_> = settings_or_skip(record)?;
    let target = match settings.kind {
        BlackoutKind::MonitorRuns => BlackoutTarget::Monitor(MonitorId(target_id)),
        BlackoutKind::MonitorAlerts => BlackoutTarget::Alert(MonitorId(target_id)),
        BlackoutKind::RecipientNotifications => BlackoutTarget::Recipient(RecipientId(target_id)),
    };
    Some(BlackoutWindow {
        id: record.id,
        target,
        time_window: ok_or_log_skipped(record, settings.time_window())?,
    })
}

/// Converts the `multipop_threshold` of an account.
pub(super) const fn quorum_from_threshold(threshold: MultiPopThreshold) -> Quorum {
    match threshold {
        MultiPopThreshold::One => Quorum::AtLeast(1),
        MultiPopThreshold::Two => Quorum::AtLeast(2),
        MultiPopThreshold::Three => Quorum::AtLeast(3),
        MultiPopThreshold::All => Quorum::All,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::{ConfigRecordKind, CustomerId, NotificationMethod, Revision, Timestamp};
    use crate::schedule::TimeWindow;
    use crate::schema::typed::record::{AccountSettings, parse_record};

    fn record(kind: ConfigRecordKind, parent_id: Option<i64>, fields: Value) -> ConfigRecord {
        ConfigRecord {
            id: 7,
            kind,
            customer: CustomerId(1),
            parent_id,
            unique_key: None,
            revision: Revision(1),
            created_at: Timestamp::from_seconds(0),
            created_by: String::new(),
            modified_at: Timestamp::from_seconds(0),
            fields: fields.as_object().cloned().unwrap_or_default(),
            private_data: None,
        }
    }

    #[test]
    fn a_recipient_is_read_with_its_defaults() {
        let read = |fields| recipient_from_record(&record(ConfigRecordKind::Recipient, None, fields));
        let bare = read(json!({"name": "n", "recipient": "a@b.example", "method_id": 1})).unwrap();
        assert_eq!(
            (bare.method, bare.start_threshold, bare.stop_threshold),
            (NotificationMethod::MailText, 1, 10)
        );
        let full = read(
            json!({"name": "n", "recipient": "a", "method_id": 101, "stop_threshold": 0, "start_threshold": 3,
            "availability_alert": true, "notify_on_clear": true}),
        );
        let full = full.unwrap();
        assert_eq!(
            (full.method, full.start_threshold, full.stop_threshold),
            (NotificationMethod::Slack, 3, 0)
        );
        assert!(full.gets_availability_alerts && full.notify_on_clear && !full.gets_performance_alerts);
        assert_eq!(read(json!({"name": "n", "recipient": "a", "method_id": 99})), None);
    }

    #[test]
    fn a_group_is_read_with_steps_and_codes() {
        let read = group_from_record(&record(
            ConfigRecordKind::NotifierGroup,
            None,
            json!({"name": "g", "is_default": true, "monitors": [{"id": 1}, {"id": 2, "step_number": 3}],
                "recipients": [{"id": 4}], "errortypes": [{"id": 51}], "templates": [{"id": 5}]}),
        ))
        .unwrap();
        let monitor = |id, step_number| GroupMonitor { monitor_id: id, step_number, content_view_id: None };
        assert_eq!(read.group_monitors, [monitor(1, None), monitor(2, Some(3))]);
        assert_eq!((read.id, read.is_default, read.status_codes), (7, true, vec![51]));
        assert_eq!((read.recipient_ids, read.template_ids), (vec![RecipientId(4)], vec![5]));
    }

    #[test]
    fn blackouts_of_every_type_are_windows() {
        let once = json!({"type": "Monitor", "persistent": false, "from_date": "2026-01-01 12:00:00",
            "thru_date": "2026-01-01 13:00:00"});
        let read =
            |parent_id, fields| blackout_from_record(&record(ConfigRecordKind::Blackout, parent_id, fields));
        let at = |hour| jiff::civil::date(2026, 1, 1).at(hour, 0, 0, 0);
        let window = read(Some(3), once.clone()).unwrap();
        assert_eq!(window.target, BlackoutTarget::Monitor(MonitorId(3)));
        assert_eq!(window.time_window, TimeWindow::Once { start: at(12), end: at(13) });
        let weekly = json!({"type": "Notifier", "persistent": true, "start_day": 7, "start_time": "22:00",
            "end_day": 1, "end_time": "06:30"});
        let window = read(Some(3), weekly).unwrap();
        assert_eq!(window.target, BlackoutTarget::Recipient(RecipientId(3)));
        let time = |hour, minute| jiff::civil::time(hour, minute, 0, 0);
        assert_eq!(
            window.time_window,
            TimeWindow::Weekly { start_day: 7, start: time(22, 0), end_day: 1, end: time(6, 30) }
        );
        assert_eq!(read(None, once), None);
        assert_eq!(read(Some(3), json!({"type": "Alert", "persistent": true})), None);
    }

    #[test]
    fn the_quorum_comes_from_the_multipop_threshold() {
        let quorum = |fields| {
            let record = record(ConfigRecordKind::Customer, None, fields);
            quorum_from_threshold(parse_record::<AccountSettings<'_>>(&record).unwrap().multipop_threshold)
        };
        assert_eq!(quorum(json!({})), Quorum::AtLeast(2));
        assert_eq!(quorum(json!({"multipop_threshold": "1"})), Quorum::AtLeast(1));
        assert_eq!(quorum(json!({"multipop_threshold": "3"})), Quorum::AtLeast(3));
        assert_eq!(quorum(json!({"multipop_threshold": "all"})), Quorum::All);
    }
}
