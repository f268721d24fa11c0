//! Recipients of alerts, their groups and their templates.

use serde::{Deserialize, Deserializer};

use crate::domain::{NotificationKind, NotificationMethod};
use crate::schema::table::alerting::TEMPLATE_KINDS;

/// A recipient of alerts.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RecipientSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Mail address, URL, host:port or telephone number, as its method has it.
    pub recipient: &'a str,
    /// How it is reached.
    #[serde(deserialize_with = "deserialize_method", rename = "method_id")]
    pub method: NotificationMethod,
    /// Login of the target, or community of SNMP.
    pub username: Option<&'a str>,
    /// Whether it gets errors and what belongs to them.
    pub availability_alert: bool,
    /// Whether it gets performance alerts.
    pub performance_alert: bool,
    /// Whether it gets the end of an error that it got.
    pub notify_on_clear: bool,
    /// Consecutive failing runs from which on it gets them.
    pub start_threshold: u32,
    /// Errors of one outage that it gets; 0 is all.
    pub stop_threshold: u32,
    /// Whether screenshots go with mail.
    pub attach_screen_capture: bool,
    /// Whether the answer of the target goes with mail.
    pub attach_server_response: bool,
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
    let word = <&str>::deserialize(deserializer)?;
    let kind = NotificationKind::from_name(word);
    kind.map(Some).ok_or_else(|| serde::de::Error::unknown_variant(word, TEMPLATE_KINDS))
}

/// A group of recipients.
#[derive(Clone, Debug, Deserialize)]
pub struct NotifierGroupSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Whether it is for monitors that no group names.
    pub is_default: bool,
    /// Its monitors, steps and content views.
    pub monitors: Vec<NotifierGroupMonitorSettings>,
    /// Its recipients.
    pub recipients: Vec<IdReference>,
    /// Status codes that it is limited to; empty is all.
    pub errortypes: Vec<StatusReference>,
    /// Templates of its messages.
    pub templates: Vec<IdReference>,
}

/// A monitor of a group, or one of its steps or content views.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct NotifierGroupMonitorSettings {
    /// The monitor.
    pub id: i64,
    /// Only this step of it.
    pub step_number: Option<u32>,
    /// Only errors of this content view of it.
    pub content_view_id: Option<i64>,
}

/// Something that is named by its id.
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

/// A template of messages.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TemplateSettings<'a> {
    /// What the messages are about; without it, anything.
    #[serde(default, deserialize_with = "deserialize_optional_notification_kind")]
    pub kind: Option<NotificationKind>,
    /// How they are sent; without it, any way.
    #[serde(default, deserialize_with = "deserialize_optional_method", rename = "method_id")]
    pub method: Option<NotificationMethod>,
    /// Title or subject; empty is the built-in one.
    pub subject: &'a str,
    /// Plain text, or the whole JSON body; empty is the built-in one.
    pub text: &'a str,
    /// HTML; empty is the built-in one.
    pub html: &'a str,
}
