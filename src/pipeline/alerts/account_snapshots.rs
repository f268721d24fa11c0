//! Account data that the alert engine reads without waiting. It is reloaded when the account cache invalidates it, and
//! the old data stays in use while the store cannot be read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::catalog::{AccountCache, AccountSnapshot};
use crate::domain::CustomerId;
use crate::store::StoreError;

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
    /// Generation of the account before it was read.
    generation: u64,
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

    /// Reloads the accounts that changed, at once; does nothing when nothing changed.
    pub(super) async fn refresh(&mut self) {
        let generation = self.account_cache.generation();
        let mut customer_ids: Vec<CustomerId> = self.unreadable_accounts.iter().copied().collect();
        if generation != self.cache_generation {
            let has_changed = |(id, snapshot): &(&CustomerId, &VersionedAccount)| {
                self.account_cache.account_generation(**id) != snapshot.generation
            };
            customer_ids.extend(self.snapshots.iter().filter(has_changed).map(|(id, _)| *id));
        }
        if self.reload(customer_ids).await {
            self.cache_generation = generation;
        }
    }

    /// Loads `customer_id`, now or as soon as it can be read.
    pub(super) async fn ensure_loaded(&mut self, customer_id: CustomerId) {
        if !self.snapshots.contains_key(&customer_id) {
            self.reload(vec![customer_id]).await;
        }
    }

    /// Returns the facts of `customer_id` and their version.
    pub(super) fn get(&self, customer_id: CustomerId) -> Option<(&AccountSnapshot, u64)> {
        self.snapshots.get(&customer_id).map(|snapshot| (snapshot.account.as_ref(), snapshot.version))
    }

    /// Reads accounts concurrently; returns whether all could be read.
    async fn reload(&mut self, customer_ids: Vec<CustomerId>) -> bool {
        let account_cache = &self.account_cache;
        let reads = customer_ids.into_iter().map(async |customer| {
            let generation = account_cache.account_generation(customer);
            (customer, generation, account_cache.account(customer).await)
        });
        let mut all_loaded = true;
        for (customer, generation, read) in futures::future::join_all(reads).await {
            all_loaded &= self.take_read(customer, generation, read);
        }
        all_loaded
    }

    fn take_read(
        &mut self,
        customer: CustomerId,
        generation: u64,
        read: Result<Arc<AccountSnapshot>, StoreError>,
    ) -> bool {
        let account = match read {
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
        if let Some(known) = self.snapshots.get_mut(&customer)
            && Arc::ptr_eq(&known.account, &account)
        {
            known.generation = generation;
            return true;
        }
        self.last_version += 1;
        let version = self.last_version;
        self.snapshots.insert(customer, VersionedAccount { account, version, generation });
        true
    }
}
