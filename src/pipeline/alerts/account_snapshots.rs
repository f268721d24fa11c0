//! Account data that the alert engine reads without waiting. It is reloaded when the account cache invalidates it, and
//! the old data stays in use while the store cannot be read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::catalog::{AccountCache, AccountSnapshot};
use crate::domain::CustomerId;

/// Facts of the accounts that have monitors.
pub(super) struct AccountSnapshots {
    account_cache: Arc<AccountCache>,
    snapshots: HashMap<CustomerId, VersionedAccount>,
    /// Accounts that could not be read so far.
    unreadable_accounts: HashSet<CustomerId>,
    /// Generation of the account cache at the last complete refresh.
    cache_generation: u64,
    /// Version of the last facts read.
    last_version: u64,
}

struct VersionedAccount {
    account: Arc<AccountSnapshot>,
    version: u64,
}

impl AccountSnapshots {
    pub(super) fn new(account_cache: Arc<AccountCache>) -> Self {
        let generation = account_cache.generation();
        Self {
            account_cache,
            snapshots: HashMap::new(),
            unreadable_accounts: HashSet::new(),
            cache_generation: generation,
            last_version: 0,
        }
    }

    /// Reloads what changed; does nothing when nothing changed.
    pub(super) async fn refresh(&mut self) {
        let generation = self.account_cache.generation();
        let mut customer_ids: Vec<CustomerId> = self.unreadable_accounts.iter().copied().collect();
        if generation != self.cache_generation {
            customer_ids.extend(self.snapshots.keys());
        }
        let mut all_loaded = true;
        for customer in customer_ids {
            all_loaded &= self.reload(customer).await;
        }
        if all_loaded {
            self.cache_generation = generation;
        }
    }

    /// Loads `customer_id`, now or as soon as it can be read.
    pub(super) async fn ensure_loaded(&mut self, customer_id: CustomerId) {
        if !self.snapshots.contains_key(&customer_id) {
            self.reload(customer_id).await;
        }
    }

    /// Returns the facts of `customer_id` and their version.
    pub(super) fn get(&self, customer_id: CustomerId) -> Option<(&AccountSnapshot, u64)> {
        self.snapshots.get(&customer_id).map(|snapshot| (snapshot.account.as_ref(), snapshot.version))
    }

    async fn reload(&mut self, customer: CustomerId) -> bool {
        let account = match self.account_cache.account(customer).await {
            Ok(account) => account,
            Err(error) => {
                tracing::warn!(customer_id = %customer, error = %error, "failed to read an account; alerts use its earlier data");
                if !self.snapshots.contains_key(&customer) {
                    self.unreadable_accounts.insert(customer);
                }
                return false;
            }
        };
        self.unreadable_accounts.remove(&customer);
        if self.snapshots.get(&customer).is_none_or(|known| !Arc::ptr_eq(&known.account, &account)) {
            self.last_version += 1;
            self.snapshots.insert(customer, VersionedAccount { account, version: self.last_version });
        }
        true
    }
}
