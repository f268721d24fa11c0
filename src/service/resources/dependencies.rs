//! Dependencies of the use cases on records.

use std::sync::Arc;

use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::pipeline::Planner;
use crate::store::ConfigStore;
use crate::vault::Keyring;

/// Dependencies of the use cases on records.
#[derive(Clone)]
pub struct ResourceDependencies {
    /// Stores the records.
    pub config: Arc<dyn ConfigStore>,
    /// The monitors that records are attached to.
    pub monitors: Arc<MonitorCache>,
    /// Supplies account data; invalidated by changes.
    pub accounts: Arc<AccountCache>,
    /// Encrypts secrets.
    pub vault: Arc<Keyring>,
    /// Supplies the status of locations.
    pub planner: Arc<dyn Planner>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}
