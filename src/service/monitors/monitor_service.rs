//! The service behind the use cases on monitors.

use std::sync::Arc;

use tokio::sync::{RwLockReadGuard, RwLockWriteGuard};

use super::last_run::LastRunLookup;
use super::pause_ends::PauseEnds;
use super::plan_quota::BillingPlanReservations;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::{CustomerId, MonitorId};
use crate::pipeline::Planner;
use crate::schema::Monitor;
use crate::store::ConfigStore;
use crate::vault::Keyring;

/// Dependencies of a [`MonitorService`].
#[derive(Clone)]
pub struct MonitorDependencies {
    /// Stores changes.
    pub config_store: Arc<dyn ConfigStore>,
    /// All monitors in memory.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies account data.
    pub account_cache: Arc<AccountCache>,
    /// Plans monitors.
    pub planner: Arc<dyn Planner>,
    /// Encrypts their secrets.
    pub keyring: Arc<Keyring>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// Service of the use cases on monitors. Creates run concurrently; changes of existing monitors run one at a time, so
/// that no update is lost.
pub struct MonitorService {
    pub(super) dependencies: MonitorDependencies,
    /// Quota reserved by creates in progress.
    pub(super) billing_plan_reservations: BillingPlanReservations,
    /// Ends of pauses.
    pub(super) pause_ends: PauseEnds,
    /// Supplies `script_status`.
    pub(super) last_run_lookup: Option<Arc<dyn LastRunLookup>>,
}

impl MonitorService {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: MonitorDependencies) -> Self {
        Self {
            dependencies,
            billing_plan_reservations: BillingPlanReservations::default(),
            pause_ends: PauseEnds::default(),
            last_run_lookup: None,
        }
    }

    /// Adds a lookup of the last runs of scripts.
    #[must_use]
    pub fn with_last_run_lookup(mut self, lookup: Arc<dyn LastRunLookup>) -> Self {
        self.last_run_lookup = Some(lookup);
        self
    }

    /// Returns all monitors in memory.
    #[must_use]
    pub fn monitor_cache(&self) -> &Arc<MonitorCache> {
        &self.dependencies.monitor_cache
    }

    /// Returns the monitor `id` of the account `customer`.
    #[must_use]
    pub fn find(&self, customer: CustomerId, id: MonitorId) -> Option<Monitor> {
        self.dependencies.monitor_cache.get_for_customer(customer, id)
    }

    /// Returns the first `limit` matching monitors by id, from `start` on.
    pub fn list_from(
        &self,
        start: MonitorId,
        limit: usize,
        matches: impl Fn(&Monitor) -> bool,
    ) -> Vec<Monitor> {
        self.dependencies.monitor_cache.list_from(start, limit, matches)
    }

    /// Returns how many monitors match, and the id of the match after `skip` others.
    pub fn count_and_nth_match(
        &self,
        skip: u64,
        matches: impl Fn(&Monitor) -> bool,
    ) -> (u64, Option<MonitorId>) {
        self.dependencies.monitor_cache.count_and_nth_match(skip, matches)
    }

    /// Returns the account cache.
    #[must_use]
    pub fn account_cache(&self) -> &Arc<AccountCache> {
        &self.dependencies.account_cache
    }

    /// Locks all monitors against changes; monitors may be created concurrently.
    pub(super) async fn lock_shared(&self) -> RwLockReadGuard<'_, ()> {
        self.dependencies.monitor_cache.lock_shared().await
    }

    /// Locks all monitors against other changes, from reading until storing. Loading monitors from files into
    /// the cache holds this lock too.
    pub async fn lock_exclusive(&self) -> RwLockWriteGuard<'_, ()> {
        self.dependencies.monitor_cache.lock_exclusive().await
    }
}
