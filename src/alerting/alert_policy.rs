//! What a monitor and its account say of alerting.

use crate::domain::{LocationId, LocationMode, MonitorId};
pub use crate::evaluate::settle::Quorum;
use crate::schedule::RunPlan;

/// What a version of a monitor, with its account, says of alerting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertPolicy {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Its mode.
    pub mode: LocationMode,
    /// Its runs over its locations.
    pub run_plan: RunPlan,
    /// The location that alerts in mode Primary.
    pub primary_location: LocationId,
    /// For SLA (MultiPOP).
    pub quorum: Quorum,
    /// `notify_on_error`: gates errors, clears, missing data and traceroutes.
    pub notify_on_error: bool,
    /// `notify_on_content_change`.
    pub notify_on_content_change: bool,
    /// Whether the end of certificates is told.
    pub notify_on_expiry: bool,
    /// `traceroute_on_error`.
    pub traceroute: bool,
    /// Runs without data after which that is told; 0 never (setting).
    pub no_data_runs: u32,
}
