//! The result of one run at one location, reduced to what alerting needs.

use serde::{Deserialize, Serialize};

use crate::domain::{CheckId, LocationId, Outcome, Status, Timestamp};
use crate::evaluate::security::FindingChanges;
use crate::evaluate::settle::LocationOutcome;

/// Result of one run at one location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationResult {
    /// Planned time of the run, or of the first run of a series.
    pub planned_at: Timestamp,
    /// The location.
    #[serde(rename = "location")]
    pub location_id: LocationId,
    /// Id of the check.
    pub check_id: CheckId,
    /// Outcome of the check.
    pub outcome: Outcome,
    /// Its status code.
    pub status: Status,
    /// Number of planned runs that it covers: more than one for a series of missed runs, whose first is `planned_at`.
    #[serde(default = "default_run_count", skip_serializing_if = "is_single_run")]
    #[serde(rename = "slots")]
    pub run_count: u32,
    /// Planned time of the last of these runs.
    pub last_planned_at: Timestamp,
    /// The failing step of a multi-step check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "step")]
    pub failing_step: Option<u32>,
    /// Failed content views whose errors are notified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "views")]
    pub failed_views: Vec<i64>,
    /// Set when the content or the objects of the page changed since the last passing run there, and the monitor
    /// notifies on such changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "page")]
    pub page_change: Option<PageChange>,
    /// Set when a certificate has expired or will soon, as `check_ssl_expiration_dates` requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "certificate")]
    pub expiring_certificate: Option<ExpiringCertificate>,
}

const fn default_run_count() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_single_run(run_count: &u32) -> bool {
    *run_count == 1
}

/// A change of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageChange {
    /// Decoded size before, in bytes.
    #[serde(rename = "before")]
    pub bytes_before: u64,
    /// Decoded size now, in bytes.
    #[serde(rename = "now")]
    pub bytes_now: u64,
    /// Description of how the page's objects changed. When set, the sizes include all objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "objects")]
    pub object_changes: Option<String>,
    /// How the findings of a security scan changed. When set, the sizes are a hash of the change, so that each change is
    /// told once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "findings")]
    pub finding_changes: Option<FindingChanges>,
}

/// A certificate that has expired or will soon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpiringCertificate {
    /// Its subject.
    pub subject: String,
    /// When it expires.
    pub not_after: Timestamp,
}

impl LocationResult {
    /// Returns the part of the result that decides the run.
    #[must_use]
    pub fn to_outcome(&self) -> LocationOutcome {
        LocationOutcome { location_id: self.location_id, outcome: self.outcome, status: self.status }
    }

    /// Whether the outcome says something about the target: ok, warning or error.
    #[must_use]
    pub fn is_conclusive(&self) -> bool {
        self.to_outcome().is_conclusive()
    }
}
