//! What the use cases on monitors work with.

use std::sync::Arc;

use tokio::sync::{RwLockReadGuard, RwLockWriteGuard};

use super::last_run::LastRunLookup;
use super::pause_ends::PauseEnds;
use super::plan_quota::PlanQuota;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::{CustomerId, MonitorId};
use crate::pipeline::Planner;
use crate::schema::Monitor;
use crate::store::ConfigStore;
use crate::vault::Keyring;

/// What a [`MonitorContext`] is made of.
#[derive(Clone)]
pub struct MonitorDependencies {
    /// Keeps what changes.
    pub config: Arc<dyn ConfigStore>,
    /// All monitors in memory.
    pub monitors: Arc<MonitorCache>,
    /// What is known of accounts.
    pub accounts: Arc<AccountCache>,
    /// Runs them.
    pub planner: Arc<dyn Planner>,
    /// Seals their secrets.
    pub vault: Arc<Keyring>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// What the use cases on monitors work with. Creating goes side by side; whatever changes what exists goes alone,
/// so that no update is lost.
pub struct MonitorContext {
    pub(super) dependencies: MonitorDependencies,
    /// Places under plans that creates under way have taken.
    pub(super) plan_quota: PlanQuota,
    /// Monitors that are paused.
    pub(super) pauses: PauseEnds,
    /// Tells `script_status`.
    pub(super) last_runs: Option<Arc<dyn LastRunLookup>>,
}

impl MonitorContext {
    /// Over `parts`.
    #[must_use]
    pub fn new(dependencies: MonitorDependencies) -> Self {
        Self { dependencies, plan_quota: PlanQuota::default(), pauses: PauseEnds::default(), last_runs: None }
    }

    /// The same, which knows from `runs` how the last runs of scripts ended.
    #[must_use]
    pub fn with_last_runs(mut self, runs: Arc<dyn LastRunLookup>) -> Self {
        self.last_runs = Some(runs);
        self
    }

    /// All monitors in memory.
    #[must_use]
    pub fn monitors(&self) -> &Arc<MonitorCache> {
        &self.dependencies.monitors
    }

    /// The monitor `id` of the account `customer`.
    #[must_use]
    pub fn find(&self, customer: CustomerId, id: MonitorId) -> Option<Monitor> {
        self.dependencies.monitors.get_for_customer(customer, id)
    }

    /// The first `most` monitors by id that fit, from `start` on.
    pub fn list_from(&self, start: MonitorId, max: usize, fits: impl Fn(&Monitor) -> bool) -> Vec<Monitor> {
        self.dependencies.monitors.list_from(start, max, fits)
    }

    /// How many monitors fit, and which of them has `skip` others before it.
    pub fn count_matching(&self, skip: u64, fits: impl Fn(&Monitor) -> bool) -> (u64, Option<MonitorId>) {
        self.dependencies.monitors.count_matching(skip, fits)
    }

    /// What is known of accounts.
    #[must_use]
    pub fn accounts(&self) -> &Arc<AccountCache> {
        &self.dependencies.accounts
    }

    /// To be held while monitors are made; others may make some at the same time.
    pub(super) async fn lock_shared(&self) -> RwLockReadGuard<'_, ()> {
        self.dependencies.monitors.lock_shared().await
    }

    /// To be held from reading what is changed until it was kept: nobody else changes anything then. Whoever
    /// brings monitors of files into the roster holds it as well.
    pub async fn lock_exclusive(&self) -> RwLockWriteGuard<'_, ()> {
        self.dependencies.monitors.lock_exclusive().await
    }
}
