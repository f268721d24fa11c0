//! Where checks run.

use serde::{Deserialize, Serialize};

use super::id::LocationId;

/// A monitoring location (interface.md 2.3). Serializes as version 3 shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Its number.
    pub id: LocationId,
    /// What people call it.
    pub name: String,
    /// Code of its region; verification prefers another one.
    pub region: i64,
}
