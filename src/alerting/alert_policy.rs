//! The alerting settings of a monitor and its account.

use crate::domain::{LocationId, LocationMode, MonitorId};
pub use crate::evaluate::settle::Quorum;
use crate::schedule::RunPlan;

/// The alerting settings of one revision of a monitor, combined with those of its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertPolicy {
    /// Id of the monitor.
    pub monitor_id: MonitorId,
    /// How the results of several locations are combined.
    pub location_mode: LocationMode,
    /// When and at which locations the monitor runs.
    pub run_plan: RunPlan,
    /// The location that decides in mode Primary.
    pub primary_location: LocationId,
    /// How many locations must fail in mode SLA (MultiPOP).
    pub quorum: Quorum,
    /// `notify_on_error`: enables errors, clears, missing data and traceroutes.
    pub notify_on_error: bool,
    /// `notify_on_content_change`: enables notifications of page changes.
    pub notify_on_content_change: bool,
    /// Whether to notify before certificates expire.
    pub notify_on_expiry: bool,
    /// `traceroute_on_error`: whether to trace the route to a target that cannot be reached.
    pub traceroute_on_error: bool,
    /// Consecutive runs without data after which recipients are notified; 0 never (setting).
    pub no_data_threshold: u32,
}
