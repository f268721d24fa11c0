//! Recipients of notifications, and how they are reached (behaviour.md 1 `/recipients`, 6).

use serde::{Deserialize, Serialize};

use super::id::RecipientId;

/// How a recipient is reached (behaviour.md 6 `method_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotificationMethod {
    /// Mail as plain text.
    MailText,
    /// Short message through an HTTP gateway of the settings.
    Sms,
    /// SNMP trap, version 1 (RFC 1157).
    SnmpV1,
    /// SNMP notification, version 2c (RFC 3416).
    SnmpV2c,
    /// POST of a form.
    FormPost,
    /// Mail with text and HTML; the default of a recipient.
    MailHtml,
    /// PagerDuty, Events API v2.
    PagerDuty,
    /// Splunk HTTP event collector.
    SplunkHec,
    /// POST of a JSON object.
    JsonPost,
    /// JSON for ServiceNow's table API.
    ServiceNow,
    /// Webhook in the format that Slack introduced; beyond the hosted interface.
    Slack,
    /// Prometheus Alertmanager, API v2; beyond the hosted interface.
    Alertmanager,
}

impl NotificationMethod {
    /// Every method with its id and name.
    pub const ALL: [(Self, i64, &'static str); 12] = [
        (Self::MailText, 1, "E-mail (text)"),
        (Self::Sms, 6, "SMS"),
        (Self::SnmpV1, 8, "SNMP trap v1"),
        (Self::SnmpV2c, 9, "SNMP trap v2c"),
        (Self::FormPost, 10, "Form POST"),
        (Self::MailHtml, 12, "E-mail (HTML)"),
        (Self::PagerDuty, 14, "PagerDuty"),
        (Self::SplunkHec, 15, "Splunk HEC"),
        (Self::JsonPost, 16, "JSON POST"),
        (Self::ServiceNow, 17, "ServiceNow"),
        (Self::Slack, 101, "Slack-compatible webhook"),
        (Self::Alertmanager, 102, "Prometheus Alertmanager"),
    ];

    /// Returns its id in the API.
    #[must_use]
    pub fn id(self) -> i64 {
        Self::ALL.iter().find(|(method, ..)| *method == self).map_or(0, |(_, id, _)| *id)
    }

    /// Whether people read its messages. Programs read those of the other methods, and get each notification by itself,
    /// never a digest.
    #[must_use]
    pub fn is_read_by_people(self) -> bool {
        matches!(self, Self::MailText | Self::MailHtml | Self::Sms)
    }

    /// Returns its display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(method, ..)| *method == self).map_or("", |(.., name)| name)
    }

    /// Returns the method with this id.
    #[must_use]
    pub fn from_id(id: i64) -> Option<Self> {
        Self::ALL.iter().find(|(_, method_id, _)| *method_id == id).map(|(method, ..)| *method)
    }
}

/// A recipient of notifications, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Id.
    pub id: RecipientId,
    /// Display name.
    pub name: String,
    /// Mail address, URL, host:port or telephone number, depending on the method.
    pub address: String,
    /// How it is reached.
    pub method: NotificationMethod,
    /// Login at the destination, or SNMP community; empty for none.
    pub username: String,
    /// Whether it gets errors, clears, missing data, traceroutes, changes and certificates.
    pub gets_availability_alerts: bool,
    /// Whether it gets performance alerts.
    pub gets_performance_alerts: bool,
    /// Whether it gets the clear of an error that it was notified of.
    pub notify_on_clear: bool,
    /// How many consecutive runs must have failed before it is notified, at least 1.
    pub start_threshold: u32,
    /// Most errors of one outage that it is notified of; 0 for no limit.
    pub stop_threshold: u32,
    /// Whether screenshots are attached to mail.
    pub attach_screen_capture: bool,
    /// Whether the response of the target is attached to mail.
    pub attach_server_response: bool,
    /// Code of the language of built-in messages, such as `de`; empty for that of the account.
    pub language: String,
}

/// Which recipients get which monitors, steps and errors. In an account without groups every recipient gets every
/// alert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifierGroup {
    /// Id.
    pub id: i64,
    /// Display name.
    pub name: String,
    /// Whether it covers the monitors that no other group names.
    pub is_default: bool,
    /// Its monitors, each as a whole or one of its steps.
    pub group_monitors: Vec<GroupMonitor>,
    /// Its recipients.
    pub recipient_ids: Vec<RecipientId>,
    /// Status codes that are notified; empty for all.
    pub status_codes: Vec<u16>,
    /// Ids of the templates that replace the defaults.
    pub template_ids: Vec<i64>,
}

/// A monitor of a group, or a step or content view of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMonitor {
    /// Id of the monitor.
    #[serde(rename = "id")]
    pub monitor_id: i64,
    /// Only this step; `None` for all.
    pub step_number: Option<u32>,
    /// Only errors of this content view; `None` for all.
    pub content_view_id: Option<i64>,
}
