//! What the use cases on monitors work with.

use std::sync::Arc;

use tokio::sync::{RwLockReadGuard, RwLockWriteGuard};

use super::last_runs::LastRuns;
use super::pauses::Pauses;
use super::plan_places::PlanPlaces;
use crate::catalog::{Directory, Roster};
use crate::clock::Clock;
use crate::domain::{CustomerId, MonitorId};
use crate::pipeline::Planner;
use crate::schema::Monitor;
use crate::store::ConfigStore;
use crate::vault::Keyring;

/// What a [`MonitorContext`] is made of.
#[derive(Clone)]
pub struct MonitorParts {
    /// Keeps what changes.
    pub ledger: Arc<dyn ConfigStore>,
    /// All monitors in memory.
    pub roster: Arc<Roster>,
    /// What is known of accounts.
    pub directory: Arc<Directory>,
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
    pub(super) parts: MonitorParts,
    /// Places under plans that creates under way have taken.
    pub(super) places: PlanPlaces,
    /// Monitors that are paused.
    pub(super) pauses: Pauses,
    /// Tells `script_status`.
    pub(super) last_runs: Option<Arc<dyn LastRuns>>,
}

impl MonitorContext {
    /// Over `parts`.
    #[must_use]
    pub fn new(parts: MonitorParts) -> Self {
        Self { parts, places: PlanPlaces::default(), pauses: Pauses::default(), last_runs: None }
    }

    /// The same, which knows from `runs` how the last runs of scripts ended.
    #[must_use]
    pub fn with_last_runs(mut self, runs: Arc<dyn LastRuns>) -> Self {
        self.last_runs = Some(runs);
        self
    }

    /// All monitors in memory.
    #[must_use]
    pub fn roster(&self) -> &Arc<Roster> {
        &self.parts.roster
    }

    /// The monitor `id` of the account `customer`.
    #[must_use]
    pub fn find(&self, customer: CustomerId, id: MonitorId) -> Option<Monitor> {
        self.parts.roster.of(customer, id)
    }

    /// The first `most` monitors by id that fit, from `start` on.
    pub fn list_from(&self, start: MonitorId, most: usize, fits: impl Fn(&Monitor) -> bool) -> Vec<Monitor> {
        self.parts.roster.from(start, most, fits)
    }

    /// How many monitors fit, and which of them has `skip` others before it.
    pub fn count(&self, skip: u64, fits: impl Fn(&Monitor) -> bool) -> (u64, Option<MonitorId>) {
        self.parts.roster.count(skip, fits)
    }

    /// What is known of accounts.
    #[must_use]
    pub fn directory(&self) -> &Arc<Directory> {
        &self.parts.directory
    }

    /// To be held while monitors are made; others may make some at the same time.
    pub(super) async fn beside(&self) -> RwLockReadGuard<'_, ()> {
        self.parts.roster.beside().await
    }

    /// To be held from reading what is changed until it was kept: nobody else changes anything then. Whoever
    /// brings monitors of files into the roster holds it as well.
    pub async fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.parts.roster.alone().await
    }
}
