//! The cluster that is simulated.

use std::time::Duration;

use crate::cli::settings::SettingsArgs;
use crate::domain::MonitorType;

/// A cluster, and an outage that it has to survive.
#[derive(Clone, Debug)]
pub(in crate::cli::load) struct ClusterPlan {
    pub(in crate::cli::load) monitors: u32,
    pub(in crate::cli::load) agents: u32,
    /// The agents are spread over these evenly.
    pub(in crate::cli::load) locations: u32,
    pub(in crate::cli::load) interval_seconds: u32,
    pub(in crate::cli::load) monitor_type: MonitorType,
    /// How long nothing is stored: the database or all controllers are away.
    pub(in crate::cli::load) outage: Duration,
    /// Results that the database stores a second, unless that of the manual.
    pub(in crate::cli::load) stored_per_second: Option<u32>,
    pub(in crate::cli::load) settings: SettingsArgs,
}

impl ClusterPlan {
    /// Returns the mean number of checks a second.
    pub(super) fn checks_per_second(&self) -> f64 {
        f64::from(self.monitors) / f64::from(self.interval_seconds)
    }
}
