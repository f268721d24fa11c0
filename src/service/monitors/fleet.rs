//! The monitors of all accounts.

use std::sync::Arc;

use tokio::sync::{RwLockReadGuard, RwLockWriteGuard};

use super::rest::Resting;
use super::save::Pending;
use super::show::LastRuns;
use crate::catalog::{Directory, Roster};
use crate::clock::Clock;
use crate::domain::{MonitorId, Revision};
use crate::pipeline::Planner;
use crate::schema::Monitor;
use crate::service::caller::{Caller, Refusal};
use crate::store::Ledger;
use crate::vault::Keyring;

/// What the fleet is made of.
#[derive(Clone)]
pub struct FleetParts {
    /// Keeps what changes.
    pub ledger: Arc<dyn Ledger>,
    /// Everything in memory.
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

/// All monitors, to be changed by users. Creating goes side by side; whatever touches what exists goes alone,
/// so that no update is lost.
pub struct Fleet {
    pub(super) parts: FleetParts,
    /// Creates under way, per plan.
    pub(super) pending: Pending,
    /// Monitors that rest.
    pub(super) resting: Resting,
    /// What `script_status` is told by.
    pub(super) runs: Option<Arc<dyn LastRuns>>,
}

/// Which version a caller wants to change; `None` for whichever is there.
pub type IfMatch = Option<Revision>;

impl Fleet {
    /// A fleet of `parts`.
    #[must_use]
    pub fn new(parts: FleetParts) -> Self {
        Self { parts, pending: Pending::default(), resting: Resting::default(), runs: None }
    }

    /// The same, which knows from `runs` how the last runs of scripts ended.
    #[must_use]
    pub fn informed_by(mut self, runs: Arc<dyn LastRuns>) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Every monitor in memory.
    #[must_use]
    pub fn roster(&self) -> &Arc<Roster> {
        &self.parts.roster
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

    /// The monitor `id` of the caller's account; that of another account is as unknown as none.
    pub(super) fn own(&self, caller: &Caller, id: MonitorId) -> Result<Monitor, Refusal> {
        self.parts.roster.of(caller.customer, id).ok_or(Refusal::NotFound)
    }

    /// As [`Fleet::own`], where the monitor is to be changed: a file's is refused, and a version that is not
    /// `if_match`.
    pub(super) fn changeable(
        &self,
        caller: &Caller,
        id: MonitorId,
        if_match: IfMatch,
    ) -> Result<Monitor, Refusal> {
        let monitor = self.own(caller, id)?;
        open_to_change(&monitor)?;
        match if_match {
            Some(wanted) if wanted != monitor.revision => Err(Refusal::Stale),
            _ => Ok(monitor),
        }
    }
}

/// Refuses the monitor of a file.
pub(super) fn open_to_change(monitor: &Monitor) -> Result<(), Refusal> {
    match &monitor.origin {
        crate::schema::Origin::File { key } => Err(Refusal::Forbidden(format!(
            "This monitor is managed by a file on the server (key `{key}`); change it there"
        ))),
        _ => Ok(()),
    }
}
