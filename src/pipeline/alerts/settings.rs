//! How monitors are watched, and what watching works with.

use std::sync::Arc;
use std::time::Duration;

use crate::catalog::AccountCache;
use crate::clock::Clock;
use crate::pipeline::planner::Planner;
use crate::pipeline::wakeup::Wakeup;
use crate::store::{AlertStore, ConfigStore, Outbox, ResultStore};

/// What watching works with.
#[derive(Clone)]
pub struct AlertEngineDependencies {
    /// Keeps watches and outages.
    pub alert_store: Arc<dyn AlertStore>,
    /// Keeps messages.
    pub outbox: Arc<dyn Outbox>,
    /// Finds results that messages tell of.
    pub results: Arc<dyn ResultStore>,
    /// Takes events.
    pub config_store: Arc<dyn ConfigStore>,
    /// Knows the accounts.
    pub accounts: Arc<AccountCache>,
    /// Checks from another location, and traces.
    pub planner: Arc<dyn Planner>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Rung when there are new messages.
    pub wakeup: Wakeup,
}

/// How watching is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertEngineSettings {
    /// Runs without data after which that is told; 0 never.
    pub no_data_runs: u32,
    /// How long a message waits for a traceroute (behaviour.md 6).
    pub trace_wait: Duration,
    /// Percent of its size within which an object of a page may grow and shrink.
    pub size_tolerance_percent: u32,
}

impl Default for AlertEngineSettings {
    fn default() -> Self {
        Self { no_data_runs: 5, trace_wait: Duration::from_secs(5), size_tolerance_percent: 10 }
    }
}
