//! Recipients of alerts, their groups and their templates.

use serde::{Deserialize, Deserializer};

use crate::domain::{NotificationKind, NotificationMethod};
use crate::schema::table::alerting::TEMPLATE_KINDS;

/// A recipient of alerts.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RecipientSettings<'a> {
    /// Display name.
    pub name: &'a str,
    /// Mail address, URL, host:port or telephone number, depending on the method.
    pub recipient: &'a str,
    /// How it is reached.
    #[serde(deserialize_with = "deserialize_method", rename = "method_id")]
    pub method: NotificationMethod,
    /// Login at the destination, or SNMP community.
    pub username: Option<&'a str>,
    /// Whether it gets errors and related notifications.
    pub availability_alert: bool,
    /// Whether it gets performance alerts.
    pub performance_alert: bool,
    /// Whether it gets the clear of an error that it was notified of.
    pub notify_on_clear: bool,
    /// Number of consecutive failing runs from which it is notified.
    pub start_threshold: u32,
    /// Most errors of one outage that it is notified of; 0 for no limit.
    pub stop_threshold: u32,
    /// Whether screenshots are attached to mail.
    pub attach_screen_capture: bool,
    /// Whether the response of the target is attached to mail.
    pub attach_server_response: bool,
    /// Language of built-in messages; `None` for that of the account.
    pub language: Option<&'a str>,
}

fn deserialize_method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NotificationMethod, D::Error> {
    let id = i64::deserialize(deserializer)?;
    NotificationMethod::from_id(id).ok_or_else(|| {
        let ids: Vec<_> = NotificationMethod::ALL.iter().map(|(_, id, _)| format!("`{id}`")).collect();
        serde::de::Error::custom(format!("it must be one of {}", ids.join(", ")))
    })
}

fn deserialize_optional_method<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NotificationMethod>, D::Error> {
    deserialize_method(deserializer).map(Some)
}

fn deserialize_optional_notification_kind<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NotificationKind>, D::Error> {
    let name = <&str>::deserialize(deserializer)?;
    let kind = NotificationKind::from_name(name);
    kind.map(Some).ok_or_else(|| serde::de::Error::unknown_variant(name, TEMPLATE_KINDS))
}

/// A group of recipients.
#[derive(Clone, Debug, Deserialize)]
pub struct NotifierGroupSettings<'a> {
    /// Display name.
    pub name: &'a str,
    /// Whether it covers monitors that no group names.
    pub is_default: bool,
    /// Its monitors, steps and content views.
    pub monitors: Vec<NotifierGroupMonitorSettings>,
    /// Its recipients.
    pub recipients: Vec<IdReference>,
    /// Status codes that it is limited to; empty for all.
    pub errortypes: Vec<StatusReference>,
    /// Templates of its notifications.
    pub templates: Vec<IdReference>,
}

/// A monitor of a group, or one of its steps or content views.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct NotifierGroupMonitorSettings {
    /// Id of the monitor.
    pub id: i64,
    /// Only this step.
    pub step_number: Option<u32>,
    /// Only errors of this content view.
    pub content_view_id: Option<i64>,
}

/// A reference by id.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct IdReference {
    /// The id.
    pub id: i64,
}

/// A status code of a group.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct StatusReference {
    /// The code.
    pub id: u16,
}

/// A template of notifications.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TemplateSettings<'a> {
    /// What the notifications are about; `None` for any kind.
    #[serde(default, deserialize_with = "deserialize_optional_notification_kind")]
    pub kind: Option<NotificationKind>,
    /// How they are sent; `None` for any method.
    #[serde(default, deserialize_with = "deserialize_optional_method", rename = "method_id")]
    pub method: Option<NotificationMethod>,
    /// Title or subject; empty for the built-in one.
    pub subject: &'a str,
    /// Plain text, or the whole JSON body; empty for the built-in one.
    pub text: &'a str,
    /// HTML; empty for the built-in one.
    pub html: &'a str,
}
