//! The context of the use cases on monitors.

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

/// Dependencies of a [`MonitorContext`].
#[derive(Clone)]
pub struct MonitorDependencies {
    /// Stores changes.
    pub config: Arc<dyn ConfigStore>,
    /// All monitors in memory.
    pub monitors: Arc<MonitorCache>,
    /// Supplies account data.
    pub accounts: Arc<AccountCache>,
    /// Plans monitors.
    pub planner: Arc<dyn Planner>,
    /// Encrypts their secrets.
    pub vault: Arc<Keyring>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// Context of the use cases on monitors. Creates run concurrently; changes of existing monitors run one at a time, so
/// that no update is lost.
pub struct MonitorContext {
    pub(super) dependencies: MonitorDependencies,
    /// Quota reserved by creates in progress.
    pub(super) plan_quota: PlanQuota,
    /// Ends of pauses.
    pub(super) pauses: PauseEnds,
    /// Supplies `script_status`.
    pub(super) last_runs: Option<Arc<dyn LastRunLookup>>,
}

impl MonitorContext {
    /// Creates the context.
    #[must_use]
    pub fn new(dependencies: MonitorDependencies) -> Self {
        Self { dependencies, plan_quota: PlanQuota::default(), pauses: PauseEnds::default(), last_runs: None }
    }

    /// Adds a lookup of the last runs of scripts.
    #[must_use]
    pub fn with_last_runs(mut self, runs: Arc<dyn LastRunLookup>) -> Self {
        self.last_runs = Some(runs);
        self
    }

    /// Returns all monitors in memory.
    #[must_use]
    pub fn monitors(&self) -> &Arc<MonitorCache> {
        &self.dependencies.monitors
    }

    /// Returns the monitor `id` of the account `customer`.
    #[must_use]
    pub fn find(&self, customer: CustomerId, id: MonitorId) -> Option<Monitor> {
        self.dependencies.monitors.get_for_customer(customer, id)
    }

    /// Returns the first `max` matching monitors by id, from `start` on.
    pub fn list_from(&self, start: MonitorId, max: usize, fits: impl Fn(&Monitor) -> bool) -> Vec<Monitor> {
        self.dependencies.monitors.list_from(start, max, fits)
    }

    /// Returns how many monitors match, and the id of the match after `skip` others.
    pub fn count_matching(&self, skip: u64, fits: impl Fn(&Monitor) -> bool) -> (u64, Option<MonitorId>) {
        self.dependencies.monitors.count_matching(skip, fits)
    }

    /// Returns the account cache.
    #[must_use]
    pub fn accounts(&self) -> &Arc<AccountCache> {
        &self.dependencies.accounts
    }

    /// Locks all monitors against changes; monitors may be created concurrently.
    pub(super) async fn lock_shared(&self) -> RwLockReadGuard<'_, ()> {
        self.dependencies.monitors.lock_shared().await
    }

    /// Locks all monitors against other changes, from reading until storing. Loading monitors from files into
    /// the cache holds this lock too.
    pub async fn lock_exclusive(&self) -> RwLockWriteGuard<'_, ()> {
        self.dependencies.monitors.lock_exclusive().await
    }
}
