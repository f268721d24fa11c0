//! What a location found of one run, as far as alerting needs it.

use serde::{Deserialize, Serialize};

use crate::domain::{CheckId, LocationId, Outcome, Status, Timestamp};
use crate::evaluate::settle::LocationOutcome;

/// What a location found of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationResult {
    /// The run.
    pub planned_at: Timestamp,
    /// The location.
    pub location: LocationId,
    /// The check.
    pub check_id: CheckId,
    /// What it came to.
    pub outcome: Outcome,
    /// Its status code.
    pub status: Status,
    /// How many planned runs it stands for: more than one for a series of missed ones, whose first is
    /// `planned_at`.
    #[serde(default = "default_slots", skip_serializing_if = "is_single_slot")]
    pub slots: u32,
    /// Planned time of the last of them.
    pub last_planned_at: Timestamp,
    /// The failing step of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The content views that failed, of those whose errors are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "views")]
    pub failed_views: Vec<i64>,
    /// Set when the content or the objects of the page changed since the last good run there, and the monitor
    /// wants to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<PageChange>,
    /// Set when a certificate has expired or is about to, as `check_ssl_expiration_dates` asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<ExpiringCertificate>,
}

const fn default_slots() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_single_slot(slots: &u32) -> bool {
    *slots == 1
}

/// A page that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageChange {
    /// Bytes before, decoded.
    pub before: u64,
    /// Bytes now.
    pub now: u64,
    /// How its objects changed, in words; then the bytes are those of the page with all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "objects")]
    pub object_changes: Option<String>,
}

/// A certificate whose end is near or past.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpiringCertificate {
    /// Its subject.
    pub subject: String,
    /// Its end.
    pub not_after: Timestamp,
}

impl LocationResult {
    /// What it says, as far as the ruling of its run needs it.
    #[must_use]
    pub fn to_vote(&self) -> LocationOutcome {
        LocationOutcome { location: self.location, outcome: self.outcome, status: self.status }
    }

    /// Whether it says something of the target: ok, warning or error.
    #[must_use]
    pub fn is_conclusive(&self) -> bool {
        self.to_vote().is_conclusive()
    }
}
