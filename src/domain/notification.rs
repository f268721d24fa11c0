//! What somebody is told: everything that a message is made from, kept with it until it was delivered.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id::{CheckId, CustomerId, EpisodeId, LocationId, MonitorId, RecipientId};
use super::monitor_type::MonitorType;
use super::status::Status;
use super::time::Timestamp;
use super::verification::Verification;

/// What a message is about (behaviour.md 6 "Kinds").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    /// A run failed.
    SiteError,
    /// The first good run after an error that was told.
    SiteClear,
    /// A monitor was unknown or missed for a number of runs.
    NoData,
    /// A mean is over its threshold.
    PerformanceError,
    /// It is back.
    PerformanceClear,
    /// Content or objects of a page changed.
    WebChange,
    /// The way to a target that could not be reached.
    Traceroute,
    /// A certificate has expired or is about to.
    CertificateExpiration,
    /// A host agent reports an error.
    HostagentError,
    /// It is over.
    HostagentClear,
    /// A test that somebody ordered.
    Test,
    /// What was held back of a recipient's messages, in one.
    Digest,
}

impl NotificationKind {
    /// Every kind with its stable word and what people read.
    pub const ALL: [(Self, &'static str, &'static str); 12] = [
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
    ];

    /// Its stable word, used by the store, the API and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, word, _)| word)
    }

    /// What people read.
    #[must_use]
    pub fn title(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., title)| title)
    }

    /// The kind with this word.
    #[must_use]
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == word).map(|(kind, ..)| *kind)
    }

    /// Whether it belongs to performance alerts, which blackouts do not silence (behaviour.md 6).
    #[must_use]
    pub fn is_performance(self) -> bool {
        matches!(self, Self::PerformanceError | Self::PerformanceClear)
    }

    /// Whether it says that something is over.
    #[must_use]
    pub fn is_clear(self) -> bool {
        matches!(self, Self::SiteClear | Self::PerformanceClear | Self::HostagentClear)
    }
}

/// One location's part in a run, as messages tell it (`rotated_locations` of behaviour.md 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationReport {
    /// The location.
    pub location_id: LocationId,
    /// Its name.
    pub name: String,
    /// Status code there; `None` when it was not heard.
    pub status: Option<Status>,
    /// The same in words, with why.
    pub status_text: String,
}

/// What somebody is told. Its JSON is kept in the outbox and feeds templates; it holds no secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotificationContent {
    /// What it is about.
    pub kind: NotificationKind,
    /// The account.
    pub customer: CustomerId,
    /// Its name (`company`).
    pub company: String,
    /// Name at the start of subjects.
    pub brand: String,
    /// The monitor; `None` for tests and digests.
    pub monitor_id: Option<MonitorId>,
    /// Its name.
    pub monitor_name: String,
    /// Its type.
    pub monitor_type: Option<MonitorType>,
    /// The outage that it belongs to.
    pub episode: Option<EpisodeId>,
    /// The check that it tells of.
    pub check_id: Option<CheckId>,
    /// When the run was planned; of notices without a run, when it was written.
    pub at: Timestamp,
    /// When the episode began.
    pub since: Option<Timestamp>,
    /// Status code; 0 for clears.
    pub status: Status,
    /// The status in words.
    pub status_text: String,
    /// Why, the deciding reason first.
    pub reasons: Vec<String>,
    /// Consecutive failing runs; 0 for a clear.
    pub errcount: u32,
    /// HTTP status of the answer, where there was one.
    pub http_status: Option<u16>,
    /// Where it was seen.
    pub location_id: Option<LocationId>,
    /// Name of that location.
    pub location: String,
    /// Every location of the run.
    pub locations: Vec<LocationReport>,
    /// What a second location said.
    pub verification: Option<Verification>,
    /// URL, host or address that was checked; without a login.
    pub target: String,
    /// The failing step of several, and its name.
    pub step: Option<(u32, String)>,
    /// The monitor's `alert_note`.
    pub alert_note: String,
    /// Name and value of custom properties.
    pub properties: Vec<(String, String)>,
    /// Microseconds of the phases of the attempt that decided, in order, for bars.
    pub phases: Vec<(String, u64)>,
    /// Facts of the certificate, as the result shows them; null without one.
    pub certificate: Value,
    /// What else a kind has to tell: threshold and mean, the change, lines of a digest.
    #[serde(rename = "more")]
    pub extra: Map<String, Value>,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationState {
    /// It waits to be sent, or to be sent again.
    Pending,
    /// Over the recipient's limit; it goes out in a digest.
    Held,
    /// The receiver took it.
    Sent,
    /// It went out as a line of a digest that the receiver took.
    Digested,
    /// Given up; it can be sent again by hand.
    Dead,
}

impl NotificationState {
    /// Every state with its stable word.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Pending, "pending"),
        (Self::Held, "held"),
        (Self::Sent, "sent"),
        (Self::Digested, "digested"),
        (Self::Dead, "dead"),
    ];

    /// Its stable word.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("", |(_, word)| word)
    }

    /// The state with this word.
    #[must_use]
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(state, _)| *state)
    }
}

/// A message that has to leave the process, before it has a number.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNotification {
    /// Unique; a second one with the same key is dropped. Receivers get it as idempotency key.
    pub key: String,
    /// Who is told.
    pub recipient: RecipientId,
    /// The group whose templates apply; `None` for the defaults.
    pub group: Option<i64>,
    /// What is told.
    pub content: NotificationContent,
    /// When it was written.
    pub created_at: Timestamp,
    /// Not before then: alerts wait up to 5 s for a traceroute.
    pub not_before: Timestamp,
}

/// A message as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// Its number.
    pub id: i64,
    /// What it is.
    pub message: NewNotification,
    /// How far it is.
    pub state: NotificationState,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried next; of one that is pending.
    pub next_attempt_at: Timestamp,
    /// When the receiver took it.
    pub sent_at: Option<Timestamp>,
    /// Why the last try failed.
    pub error: String,
    /// The digest that it went out with.
    pub digest_id: Option<i64>,
}
