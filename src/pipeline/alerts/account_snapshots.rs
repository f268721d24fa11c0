//! Account data that the alert engine reads without waiting. It is reloaded when the account cache invalidates it, in
//! tasks of its own, and the old data stays in use until then.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

use crate::catalog::{AccountCache, AccountSnapshot};
use crate::domain::CustomerId;
use crate::store::StoreError;

/// How long a batch waits for accounts that have changed just before; longer reads go on beside it.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Snapshots of the accounts that have monitors.
pub(super) struct AccountSnapshots {
    account_cache: Arc<AccountCache>,
    snapshots: HashMap<CustomerId, VersionedAccount>,
    /// Accounts that could not be read so far.
    unreadable_accounts: HashSet<CustomerId>,
    /// Reads in progress.
    reads: JoinSet<AccountRead>,
    /// The account of each read in progress, by the id of its task.
    accounts_in_read: HashMap<Id, CustomerId>,
    /// Generation of the account cache at the last complete refresh.
    cache_generation: u64,
    /// Version of the last snapshot read.
    last_version: u64,
}

/// An account, its generation before it was read, and what was read.
type AccountRead = (CustomerId, u64, Result<Arc<AccountSnapshot>, StoreError>);

/// A snapshot, and what tells whether it is current.
struct VersionedAccount {
    account: Arc<AccountSnapshot>,
    /// Changes with the account; rules that were built for another version are built again.
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
            reads: JoinSet::new(),
            accounts_in_read: HashMap::new(),
            cache_generation: generation,
            last_version: 0,
        }
    }

    /// Reloads the accounts that changed; does nothing when nothing changed. Waits for a moment only.
    pub(super) async fn refresh(&mut self) {
        let generation = self.account_cache.generation();
        if self.reads.is_empty() && self.unreadable_accounts.is_empty() && generation == self.cache_generation
        {
            return;
        }
        let mut customer_ids = self.unreadable_accounts.clone();
        if generation != self.cache_generation {
            let has_changed = |(id, snapshot): &(&CustomerId, &VersionedAccount)| {
                self.account_cache.account_generation(**id) != snapshot.generation
            };
            customer_ids.extend(self.snapshots.iter().filter(has_changed).map(|(id, _)| *id));
        }
        for customer_id in self.accounts_in_read.values() {
            customer_ids.remove(customer_id);
        }
        let max_wait = if customer_ids.is_empty() { Duration::ZERO } else { MAX_WAIT };
        let mut all_loaded = true;
        for customer_id in customer_ids {
            self.start_read(customer_id);
        }
        let deadline = Instant::now() + max_wait;
        while let Ok(Some(ended)) = tokio::time::timeout_at(deadline, self.reads.join_next_with_id()).await {
            let id = ended.as_ref().map_or_else(tokio::task::JoinError::id, |(id, _)| *id);
            self.accounts_in_read.remove(&id);
            // A read that panicked is repeated with the next batch.
            all_loaded &= ended
                .is_ok_and(|(_, (customer, generation, read))| self.apply_read(customer, generation, read));
        }
        if all_loaded && self.reads.is_empty() {
            self.cache_generation = generation;
        }
    }

    /// Starts to read an account in a task of its own.
    fn start_read(&mut self, customer_id: CustomerId) {
        let account_cache = Arc::clone(&self.account_cache);
        let read = self.reads.spawn(async move {
            let generation = account_cache.account_generation(customer_id);
            (customer_id, generation, account_cache.account(customer_id).await)
        });
        self.accounts_in_read.insert(read.id(), customer_id);
    }

    /// Loads `customer_id`, now or as soon as it can be read. Its monitors were planned with this snapshot before, so
    /// that it is in the cache.
    pub(super) async fn ensure_loaded(&mut self, customer_id: CustomerId) {
        if !self.snapshots.contains_key(&customer_id) {
            let generation = self.account_cache.account_generation(customer_id);
            let read = self.account_cache.account(customer_id).await;
            self.apply_read(customer_id, generation, read);
        }
    }

    /// Returns the snapshot of `customer_id` and its version.
    pub(super) fn get(&self, customer_id: CustomerId) -> Option<(&AccountSnapshot, u64)> {
        self.snapshots.get(&customer_id).map(|snapshot| (snapshot.account.as_ref(), snapshot.version))
    }

    /// Takes over what was read; returns `false` when the read failed. An unchanged account keeps its version.
    fn apply_read(
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
        if let Some(current) = self.snapshots.get_mut(&customer)
            && Arc::ptr_eq(&current.account, &account)
        {
            current.generation = generation;
            return true;
        }
        self.last_version += 1;
        let version = self.last_version;
        self.snapshots.insert(customer, VersionedAccount { account, version, generation });
        true
    }
}
