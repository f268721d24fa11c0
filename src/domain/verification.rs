//! Confirmation of a failure by a second location (behaviour.md 3 "70–79", 5).

use serde::{Deserialize, Serialize};

use super::id::LocationId;
use super::status::Status;
use super::time::Timestamp;

/// The result of re-checking a failure from another location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// 70 no error found, 71 confirmed, 72 no answer, 73 invalid answer, 79 unavailable.
    pub status: Status,
    /// The location that verified; `None` with status 79.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location_id: Option<LocationId>,
    /// Status of the check at that location; set with statuses 70 and 71.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "found")]
    pub recheck_status: Option<Status>,
    /// When the result came in.
    #[serde(rename = "at")]
    pub completed_at: Timestamp,
}
