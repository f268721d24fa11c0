//! What the use cases on records work with.

use std::sync::Arc;

use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::pipeline::Planner;
use crate::store::ConfigStore;
use crate::vault::Keyring;

/// What the use cases work with.
#[derive(Clone)]
pub struct ResourceDependencies {
    /// Keeps the records.
    pub config: Arc<dyn ConfigStore>,
    /// The monitors that records are attached to.
    pub monitors: Arc<MonitorCache>,
    /// What is known of accounts; told when something of it changes.
    pub accounts: Arc<AccountCache>,
    /// Seals private keys.
    pub vault: Arc<Keyring>,
    /// Knows which locations are alive.
    pub planner: Arc<dyn Planner>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}
