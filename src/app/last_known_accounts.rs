//! The last known data of each account: its blackouts, looked up before each check, and its locations.

use crate::sync::RwLock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::agent::{Assignment, BlackoutLookup};
use crate::catalog::AccountSnapshot;
use crate::domain::{CustomerId, Location, Timestamp};
use crate::schedule::BlackoutTarget;

/// Serves lookups from memory, so that no check waits for the store. Each read of an account updates it; entries are at
/// most a second old while the store can be read, and stay while it cannot.
#[derive(Default)]
pub struct LastKnownAccounts {
    accounts: RwLock<HashMap<CustomerId, Arc<AccountSnapshot>>>,
}

impl LastKnownAccounts {
    /// Sets the current data of an account.
    pub(super) fn update(&self, account_snapshot: &Arc<AccountSnapshot>) {
        let read = self.accounts.read();
        if read.get(&account_snapshot.customer_id).is_some_and(|cached| Arc::ptr_eq(cached, account_snapshot))
        {
            return;
        }
        drop(read);
        let mut accounts = self.accounts.write();
        accounts.insert(account_snapshot.customer_id, Arc::clone(account_snapshot));
    }

    /// Returns the locations of all accounts, by id.
    pub(super) fn locations(&self) -> BTreeMap<i64, Location> {
        let accounts = self.accounts.read();
        let locations = accounts.values().flat_map(|account_snapshot| account_snapshot.locations.iter());
        locations.map(|(id, location)| (*id, location.clone())).collect()
    }
}

impl BlackoutLookup for LastKnownAccounts {
    fn blackout_at(&self, assignment: &Assignment, at: Timestamp) -> Option<String> {
        let accounts = self.accounts.read();
        let calendar = &accounts.get(&assignment.customer_id)?.blackout_calendar;
        let window = calendar.active_window(BlackoutTarget::Monitor(assignment.monitor_id), at)?;
        Some(format!("blackout {} of the monitor", window.id))
    }
}
