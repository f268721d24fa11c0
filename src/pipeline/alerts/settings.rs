//! Settings and dependencies of the alert engine.

use std::sync::Arc;
use std::time::Duration;

use crate::catalog::AccountCache;
use crate::clock::Clock;
use crate::pipeline::planner::Planner;
use crate::pipeline::wakeup::DeliveryWakeup;
use crate::store::{AlertStore, ConfigStore, Outbox, ResultStore};

/// Dependencies of the alert engine.
#[derive(Clone)]
pub struct AlertEngineDependencies {
    /// Stores alert states and episodes.
    pub alert_store: Arc<dyn AlertStore>,
    /// Stores notifications.
    pub outbox: Arc<dyn Outbox>,
    /// Reads the results that notifications refer to.
    pub result_store: Arc<dyn ResultStore>,
    /// Stores events.
    pub config_store: Arc<dyn ConfigStore>,
    /// Supplies account data.
    pub account_cache: Arc<AccountCache>,
    /// Runs verifications and traceroutes.
    pub planner: Arc<dyn Planner>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
    /// Woken when there are new notifications.
    pub delivery_wakeup: DeliveryWakeup,
}

/// Settings of the alert engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertEngineSettings {
    /// Consecutive runs without data after which recipients are notified; 0 never.
    pub no_data_threshold: u32,
    /// How long a notification waits for a traceroute (behaviour.md 6).
    pub traceroute_wait: Duration,
    /// By how many percent the size of a page object may change.
    pub size_tolerance_percent: u32,
}

impl Default for AlertEngineSettings {
    fn default() -> Self {
        Self { no_data_threshold: 5, traceroute_wait: Duration::from_secs(5), size_tolerance_percent: 10 }
    }
}
