//! Locations where checks run.

use serde::{Deserialize, Serialize};

use super::id::LocationId;

/// A monitoring location (interface.md 2.3). Serializes as version 3 shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Id.
    pub id: LocationId,
    /// Display name.
    pub name: String,
    /// Code of its region; verification prefers another region.
    #[serde(rename = "region")]
    pub region_code: i64,
}
