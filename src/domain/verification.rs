//! What a second location said of a failure (behaviour.md 3 "70–79", 5).

use serde::{Deserialize, Serialize};

use super::id::LocationId;
use super::status::Status;
use super::time::Timestamp;

/// The answer to a failure that another location looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// 70 no error found, 71 confirmed, 72 no answer, 73 invalid answer, 79 unavailable.
    pub status: Status,
    /// Who was asked; `None` with 79.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location_id: Option<LocationId>,
    /// What its own check came to, with 70 and 71.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Status>,
    /// When the answer came.
    pub at: Timestamp,
}
