//! Who is told, and how (behaviour.md 1 `/recipients`, 6).

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
    /// Mail with text and HTML; what a recipient gets that says nothing.
    MailHtml,
    /// PagerDuty, Events API v2.
    PagerDuty,
    /// Splunk HTTP event collector.
    SplunkHec,
    /// POST of a JSON object.
    JsonPost,
    /// JSON as ServiceNow's table API takes it.
    ServiceNow,
    /// Webhook of the kind that Slack introduced; beyond the hosted interface.
    Slack,
    /// Prometheus Alertmanager, API v2; beyond the hosted interface.
    Alertmanager,
}

impl NotificationMethod {
    /// Every method with its number and name.
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

    /// Its number in the API.
    #[must_use]
    pub fn id(self) -> i64 {
        Self::ALL.iter().find(|(method, ..)| *method == self).map_or(0, |(_, id, _)| *id)
    }

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(method, ..)| *method == self).map_or("", |(.., name)| name)
    }

    /// The method with this number.
    #[must_use]
    pub fn from_id(id: i64) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == id).map(|(method, ..)| *method)
    }
}

/// Somebody who is told, without the secret that it may take to do so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Its number.
    pub id: RecipientId,
    /// What people call it.
    pub name: String,
    /// Mail address, URL, host:port, telephone number: as its method has it.
    pub address: String,
    /// How it is reached.
    pub method: NotificationMethod,
    /// Login of the target, community of SNMP; empty for none.
    pub username: String,
    /// Whether it hears of errors, their end, missing data, traceroutes, changes and certificates.
    pub availability_alert: bool,
    /// Whether it hears of performance alerts.
    pub performance_alert: bool,
    /// Whether it hears of the end of an error that it was told of.
    pub notify_on_clear: bool,
    /// From the how manyth consecutive failing run on it is told, at least 1.
    pub start_threshold: u32,
    /// How many errors of one episode it is told of at most; 0 is no end.
    pub stop_threshold: u32,
    /// Whether screenshots go with mail.
    pub attach_screen_capture: bool,
    /// Whether the answer of the target goes with mail.
    pub attach_server_response: bool,
}

/// Who is told of which monitors, steps and errors. Without any group of the account everybody is told of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifierGroup {
    /// Its number.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// For monitors that no other group names.
    pub is_default: bool,
    /// Monitors, each as a whole or one of its steps.
    pub monitors: Vec<GroupMonitor>,
    /// Who is told.
    pub recipients: Vec<RecipientId>,
    /// Status codes; empty is all.
    pub error_types: Vec<u16>,
    /// Templates that its messages are made with instead of the defaults.
    pub templates: Vec<i64>,
}

/// A monitor of a group, or a step or content view of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMonitor {
    /// Its number.
    pub id: i64,
    /// Only this step; `None` is all of it.
    pub step_number: Option<u32>,
    /// Only errors of this content view; `None` is all of it.
    pub content_view_id: Option<i64>,
}
