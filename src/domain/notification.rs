//! Notifications: everything that a message is rendered from, stored until it is delivered.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id::{CheckId, CustomerId, EpisodeId, LocationId, MonitorId, RecipientId};
use super::monitor_type::MonitorType;
use super::status::Status;
use super::time::Timestamp;
use super::verification::Verification;

/// What a notification is about (behaviour.md 6 "Kinds").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    /// A run failed.
    SiteError,
    /// The first good run after an error that was notified.
    SiteClear,
    /// A monitor was unknown or missed for a number of runs.
    NoData,
    /// A mean is above its threshold.
    PerformanceError,
    /// The mean is below its threshold again.
    PerformanceClear,
    /// Content or objects of a page changed.
    WebChange,
    /// The network path to a target that could not be reached.
    Traceroute,
    /// A certificate has expired or is about to.
    CertificateExpiration,
    /// A host agent reports an error.
    HostagentError,
    /// The error of the host agent is over.
    HostagentClear,
    /// A test message that a user requested.
    Test,
    /// One message with all notifications held back for a recipient.
    Digest,
    /// A monitor that was unknown or missed for a number of runs has data again.
    NoDataClear,
}

impl NotificationKind {
    /// Every kind with its stable name and display name. SNMP traps are numbered by this order: append new kinds.
    pub const ALL: [(Self, &'static str, &'static str); 13] = [
        (Self::SiteError, "site_error", "Site Error"),
        (Self::SiteClear, "site_clear", "Site Clear"),
        (Self::NoData, "no_data", "No Data"),
        (Self::PerformanceError, "performance_error", "Performance Error"),
        (Self::PerformanceClear, "performance_clear", "Performance Clear"),
        (Self::WebChange, "web_change", "Web Change"),
        (Self::Traceroute, "traceroute", "Traceroute"),
        (Self::CertificateExpiration, "certificate_expiration", "SSL Certificate Expiration"),
        (Self::HostagentError, "hostagent_error", "Host Agent Error"),
        (Self::HostagentClear, "hostagent_clear", "Host Agent Clear"),
        (Self::Test, "test", "Test"),
        (Self::Digest, "digest", "Digest"),
        (Self::NoDataClear, "no_data_clear", "No Data Clear"),
    ];

    /// Returns the stable name, used by the store, the API and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// Returns the display name.
    #[must_use]
    pub fn title(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., title)| title)
    }

    /// Returns the kind with this stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, kind_name, _)| *kind_name == name).map(|(kind, ..)| *kind)
    }

    /// Whether it belongs to performance alerts, which blackouts do not silence (behaviour.md 6).
    #[must_use]
    pub fn is_performance(self) -> bool {
        matches!(self, Self::PerformanceError | Self::PerformanceClear)
    }

    /// Returns the kind that recipients see for a monitor of this type.
    #[must_use]
    pub fn for_monitor_type(self, monitor_type: MonitorType) -> Self {
        match (self, monitor_type) {
            (Self::SiteError, MonitorType::HostAgent) => Self::HostagentError,
            (Self::SiteClear, MonitorType::HostAgent) => Self::HostagentClear,
            _ => self,
        }
    }

    /// Whether it reports the end of an error.
    #[must_use]
    pub fn is_clear(self) -> bool {
        matches!(self, Self::SiteClear | Self::NoDataClear | Self::PerformanceClear | Self::HostagentClear)
    }
}

/// One location's part in a run, as shown in messages (`rotated_locations` of behaviour.md 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationReport {
    /// Id of the location.
    pub location_id: LocationId,
    /// Its name.
    pub name: String,
    /// Status code there; `None` when the location did not report.
    pub status: Option<Status>,
    /// Status in plain text, with the reason.
    pub status_text: String,
}

/// The content of a notification. Its JSON is stored in the outbox and feeds templates; it holds no secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotificationContent {
    /// What it is about.
    pub kind: NotificationKind,
    /// The account.
    pub customer: CustomerId,
    /// Name of the account (`company`).
    #[serde(rename = "company")]
    pub account_name: String,
    /// Name at the start of subjects.
    pub brand: String,
    /// The monitor; `None` for tests and digests.
    pub monitor_id: Option<MonitorId>,
    /// Name of the monitor.
    pub monitor_name: String,
    /// Type of the monitor.
    pub monitor_type: Option<MonitorType>,
    /// The outage that it belongs to.
    #[serde(rename = "episode")]
    pub episode_id: Option<EpisodeId>,
    /// The check that it reports.
    pub check_id: Option<CheckId>,
    /// Planned time of the run; for notifications without a run, time of creation.
    #[serde(rename = "at")]
    pub occurred_at: Timestamp,
    /// Start of the outage.
    #[serde(rename = "since")]
    pub outage_started_at: Option<Timestamp>,
    /// Status code; 0 for clears.
    pub status: Status,
    /// Status in plain text.
    pub status_text: String,
    /// Reasons, the deciding one first.
    pub reasons: Vec<String>,
    /// Consecutive failing runs; 0 for a clear.
    #[serde(rename = "errcount")]
    pub consecutive_failures: u32,
    /// HTTP status of the response, if there was one.
    pub http_status: Option<u16>,
    /// Location of the check.
    pub location_id: Option<LocationId>,
    /// Name of that location.
    #[serde(rename = "location")]
    pub location_name: String,
    /// Every location of the run.
    #[serde(rename = "locations")]
    pub location_reports: Vec<LocationReport>,
    /// Result of the confirmation by a second location.
    pub verification: Option<Verification>,
    /// URL, host or address that was checked, without credentials.
    pub target: String,
    /// Number and name of the failing step, of a check with several.
    #[serde(rename = "step")]
    pub failing_step: Option<(u32, String)>,
    /// The monitor's `alert_note`.
    pub alert_note: String,
    /// Name and value of custom properties.
    pub properties: Vec<(String, String)>,
    /// Name and microseconds of each phase of the deciding attempt, in order, for bar charts.
    pub phases: Vec<(String, u64)>,
    /// Facts of the certificate, as in the result; null without one.
    pub certificate: Value,
    /// Extra data of some kinds: threshold and mean, the change, lines of a digest.
    #[serde(rename = "more")]
    pub extra: Map<String, Value>,
}

/// The delivery state of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationState {
    /// It waits for its first or next delivery attempt.
    Pending,
    /// Held back by the recipient's limit; it goes out in a digest.
    Held,
    /// The receiver accepted it.
    Sent,
    /// It went out as a line of a digest that the receiver accepted.
    Digested,
    /// Given up; it can be resent by hand.
    Dead,
}

impl NotificationState {
    /// Every state with its stable name.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Pending, "pending"),
        (Self::Held, "held"),
        (Self::Sent, "sent"),
        (Self::Digested, "digested"),
        (Self::Dead, "dead"),
    ];

    /// Returns the stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }

    /// Returns the state with this stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, state_name)| *state_name == name).map(|(state, _)| *state)
    }
}

/// A notification to send, before it has an id.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNotification {
    /// Unique; a second notification with the same key is dropped. Receivers get it as idempotency key.
    pub idempotency_key: String,
    /// The recipient.
    pub recipient_id: RecipientId,
    /// The group whose templates apply; `None` for the defaults.
    pub group_id: Option<i64>,
    /// The content.
    pub content: NotificationContent,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Earliest time of delivery: alerts wait up to 5 s for a traceroute.
    pub not_before: Timestamp,
}

/// A notification as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// Id.
    pub id: i64,
    /// Recipient, content and times, as created.
    pub message: NewNotification,
    /// State of the delivery.
    pub state: NotificationState,
    /// Number of delivery attempts.
    pub attempts: u32,
    /// Time of the next attempt, while pending.
    pub next_attempt_at: Timestamp,
    /// When the receiver accepted it.
    pub sent_at: Option<Timestamp>,
    /// Why the last attempt failed.
    pub error: String,
    /// The digest that it went out with.
    pub digest_id: Option<i64>,
}
