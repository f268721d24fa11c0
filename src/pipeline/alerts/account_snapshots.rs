//! Account data that the alert engine reads without waiting. It is reloaded when the account cache invalidates it, and
//! the old data stays in use while the store cannot be read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::catalog::{AccountCache, AccountFacts};
use crate::domain::CustomerId;

/// Facts of the accounts that have monitors.
pub(super) struct AccountSnapshots {
    accounts: Arc<AccountCache>,
    known: HashMap<CustomerId, VersionedFacts>,
    /// Accounts that could not be read so far.
    missing: HashSet<CustomerId>,
    /// Generation of the account cache at the last complete refresh.
    generation: u64,
    /// Version of the last facts read.
    versions: u64,
}

struct VersionedFacts {
    facts: Arc<AccountFacts>,
    version: u64,
}

impl AccountSnapshots {
    pub(super) fn new(accounts: Arc<AccountCache>) -> Self {
        let generation = accounts.generation();
        Self { accounts, known: HashMap::new(), missing: HashSet::new(), generation, versions: 0 }
    }

    /// Reloads what changed; does nothing when nothing changed.
    pub(super) async fn refresh(&mut self) {
        let generation = self.accounts.generation();
        let mut customers: Vec<CustomerId> = self.missing.iter().copied().collect();
        if generation != self.generation {
            customers.extend(self.known.keys());
        }
        let mut all = true;
        for customer in customers {
            all &= self.reload(customer).await;
        }
        if all {
            self.generation = generation;
        }
    }

    /// Loads `customer`, now or as soon as it can be read.
    pub(super) async fn ensure_loaded(&mut self, customer: CustomerId) {
        if !self.known.contains_key(&customer) {
            self.reload(customer).await;
        }
    }

    /// Returns the facts of `customer` and their version.
    pub(super) fn get(&self, customer: CustomerId) -> Option<(&AccountFacts, u64)> {
        self.known.get(&customer).map(|known| (known.facts.as_ref(), known.version))
    }

    async fn reload(&mut self, customer: CustomerId) -> bool {
        let facts = match self.accounts.facts(customer).await {
            Ok(facts) => facts,
            Err(error) => {
                tracing::warn!(customer_id = %customer, error = %error, "failed to read an account; alerts use its earlier data");
                if !self.known.contains_key(&customer) {
                    self.missing.insert(customer);
                }
                return false;
            }
        };
        self.missing.remove(&customer);
        if self.known.get(&customer).is_none_or(|known| !Arc::ptr_eq(&known.facts, &facts)) {
            self.versions += 1;
            self.known.insert(customer, VersionedFacts { facts, version: self.versions });
        }
        true
    }
}
