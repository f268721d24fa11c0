//! What a load run with agents runs.

use std::time::Duration;

use crate::cli::settings::SettingsArgs;
use crate::domain::MonitorType;

/// What to run.
pub(in crate::cli::load) struct AgentsLoad {
    pub(in crate::cli::load) agent_count: u32,
    pub(in crate::cli::load) monitors_per_agent: u32,
    pub(in crate::cli::load) interval_seconds: u32,
    pub(in crate::cli::load) monitor_type: MonitorType,
    pub(in crate::cli::load) measured: Duration,
    pub(in crate::cli::load) warm_up: Duration,
    pub(in crate::cli::load) settings: SettingsArgs,
}
