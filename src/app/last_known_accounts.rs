//! The last known data of each account: what the locations were sent of it, and its own locations.

use crate::sync::RwLock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::catalog::AccountSnapshot;
use crate::domain::{CustomerId, Location};

/// Each read of an account updates it; entries are at most a second old while the store can be read, and stay while it
/// cannot.
#[derive(Default)]
pub struct LastKnownAccounts {
    accounts: RwLock<HashMap<CustomerId, Arc<AccountSnapshot>>>,
}

impl LastKnownAccounts {
    /// Sets the current data of an account; returns whether it is new.
    pub(super) fn update(&self, account_snapshot: &Arc<AccountSnapshot>) -> bool {
        let is_current = |known: &Arc<_>| Arc::ptr_eq(known, account_snapshot);
        if self.accounts.read().get(&account_snapshot.customer_id).is_some_and(is_current) {
            return false;
        }
        self.accounts.write().insert(account_snapshot.customer_id, Arc::clone(account_snapshot));
        true
    }

    /// Returns the data of an account; `None` before it was read.
    pub(super) fn get(&self, customer: CustomerId) -> Option<Arc<AccountSnapshot>> {
        self.accounts.read().get(&customer).cloned()
    }

    /// Returns the data of all accounts.
    pub(super) fn all(&self) -> Vec<Arc<AccountSnapshot>> {
        self.accounts.read().values().cloned().collect()
    }

    /// Returns the locations of all accounts, by id.
    pub(super) fn locations(&self) -> BTreeMap<i64, Location> {
        let accounts = self.accounts.read();
        let locations = accounts.values().flat_map(|account_snapshot| account_snapshot.locations.iter());
        locations.map(|(id, location)| (*id, location.clone())).collect()
    }
}
