//! Dependencies of the use cases on records.

use std::sync::Arc;

use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::pipeline::Planner;
use crate::service::accounts::AccountService;
use crate::store::{ConfigStore, HostStore};
use crate::telemetry::Metrics;
use crate::vault::Keyring;

/// Dependencies of the use cases on records.
#[derive(Clone)]
pub struct ConfigRecordServiceDependencies {
    /// Stores the records.
    pub config_store: Arc<dyn ConfigStore>,
    /// Stores what hosts report.
    pub host_store: Arc<dyn HostStore>,
    /// The monitors that records are attached to.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies account data; invalidated by changes.
    pub account_cache: Arc<AccountCache>,
    /// Encrypts secrets.
    pub keyring: Arc<Keyring>,
    /// Supplies the status of locations.
    pub planner: Arc<dyn Planner>,
    /// Verifies the current password of a user who changes it.
    pub account_service: Arc<AccountService>,
    /// Counts events.
    pub metrics: Arc<Metrics>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}
