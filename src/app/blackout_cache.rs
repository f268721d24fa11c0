//! What was last known of each account: its blackouts, asked before each check, and its locations.

use crate::sync::RwLock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::agent::{Assignment, BlackoutLookup};
use crate::catalog::AccountFacts;
use crate::domain::{CustomerId, Location, Timestamp};
use crate::schedule::BlackoutTarget;

/// Answers from memory, so that no check waits for the store. Who reads an account notes it here; the newest is
/// never older than a second while the store can be read, and lasts while it cannot.
#[derive(Default)]
pub struct BlackoutCache {
    accounts: RwLock<HashMap<CustomerId, Arc<AccountFacts>>>,
}

impl BlackoutCache {
    /// Notes what is known of an account now.
    pub(super) fn update(&self, facts: &Arc<AccountFacts>) {
        let read = self.accounts.read();
        if read.get(&facts.customer).is_some_and(|known| Arc::ptr_eq(known, facts)) {
            return;
        }
        drop(read);
        let mut accounts = self.accounts.write();
        accounts.insert(facts.customer, Arc::clone(facts));
    }

    /// The locations of all accounts, by id.
    pub(super) fn locations(&self) -> BTreeMap<i64, Location> {
        let accounts = self.accounts.read();
        let every = accounts.values().flat_map(|facts| facts.locations.iter());
        every.map(|(id, location)| (*id, location.clone())).collect()
    }
}

impl BlackoutLookup for BlackoutCache {
    fn blackout_at(&self, assignment: &Assignment, at: Timestamp) -> Option<String> {
        let accounts = self.accounts.read();
        let calendar = &accounts.get(&assignment.customer)?.calendar;
        let window = calendar.active_window(BlackoutTarget::Monitor(assignment.monitor_id), at)?;
        Some(format!("blackout {} of the monitor", window.id))
    }
}
