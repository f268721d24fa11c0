//! When and where a monitor runs.

use serde::Deserialize;

use crate::domain::{LocationId, LocationMode};

/// How often, how long and at how many locations a monitor runs: for every type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct ScheduleSettings {
    /// Whether runs are planned.
    pub enabled: bool,
    /// Minutes between two runs.
    #[serde(rename = "interval")]
    pub interval_minutes: u16,
    /// Time limit of one attempt in seconds; for a browser, that of one page load.
    #[serde(rename = "timeout")]
    pub timeout_seconds: u16,
    /// Whether each run uses the next locations of the pool.
    pub rotate_locations: bool,
    /// Number of locations of a run; 0 for the default of the mode.
    #[serde(rename = "monitor_location_count")]
    pub locations_per_run: u16,
    /// First location, and the one that alerts in mode Primary.
    pub home_location: Option<LocationId>,
    /// Whether a failure is retried at once, at the same location.
    pub retry_on_failure: bool,
    /// Whether checks out of schedule are permitted.
    #[serde(rename = "allow_internal_testing")]
    pub allow_on_demand_tests: bool,
}

/// Intervals below a minute: for types that use the network alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct ShortIntervalSettings {
    /// Seconds between two runs, instead of `interval`.
    pub interval_seconds: Option<u16>,
}

/// Which locations a run uses: for every type but those of handsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct LocationModeSettings {
    /// Which locations a run uses, and which of them alert.
    #[serde(with = "LocationModeName")]
    pub mode: LocationMode,
}

/// The names of the modes in the field table.
#[derive(Deserialize)]
#[serde(remote = "LocationMode")]
enum LocationModeName {
    #[serde(rename = "Global Verify")]
    GlobalVerify,
    Primary,
    #[serde(rename = "Global Notify")]
    GlobalNotify,
    #[serde(rename = "Round Robin")]
    RoundRobin,
    #[serde(rename = "SLA (MultiPOP)")]
    MultiPop,
}

/// When tests on handsets run, and on which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct HandsetSettings {
    /// Which handsets a run uses.
    pub mode: HandsetMode,
    /// Minutes after 00:00 UTC at which the grid of runs starts.
    #[serde(rename = "monitor_offset")]
    pub offset_minutes: Option<u16>,
}

/// Which handsets a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum HandsetMode {
    /// One after another.
    #[serde(rename = "One Handset (Rotated)")]
    Rotated,
    /// All at once.
    #[serde(rename = "All Handsets Simultaneously")]
    Simultaneous,
}

/// A location of a monitor's pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct LocationReference {
    /// Its id.
    pub id: LocationId,
}

/// A value that a monitor has of a custom property of its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyReference {
    /// Id of the property.
    pub id: i64,
    /// Id of the value.
    pub value_id: i64,
}
