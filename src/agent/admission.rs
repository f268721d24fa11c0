//! Admission control: limits the checks that run at once, in total, by concurrency class and by target host, and shares
//! the places between accounts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::CustomerId;
use crate::domain::id::mix_hash;
use crate::probe::ConcurrencyClass;

/// Limits of running and waiting checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Maximum number of checks that run at once, at least 1.
    pub max_running: usize,
    /// Maximum number of light checks among them.
    pub max_light: usize,
    /// Maximum number of heavy checks among them.
    pub max_heavy: usize,
    /// Maximum number of checks of one target host at once.
    pub max_per_target: usize,
    /// Maximum number of checks that wait for admission; a run beyond that is missed.
    pub max_waiting: usize,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self { max_running: 2000, max_light: 2000, max_heavy: 2, max_per_target: 100, max_waiting: 100_000 }
    }
}

impl AdmissionLimits {
    fn max_for_class(&self, class: ConcurrencyClass) -> usize {
        match class {
            ConcurrencyClass::Light => self.max_light,
            ConcurrencyClass::Heavy => self.max_heavy,
        }
    }
}

/// A target host, as a hash of its name, ignoring case. Two hosts with the same hash share their limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetKey(u64);

impl TargetKey {
    /// Returns the key of `host`.
    #[must_use]
    pub fn from_host(host: &str) -> Self {
        Self(
            host.bytes().fold(0x686f_7374, |hash, byte| mix_hash(hash, i64::from(byte.to_ascii_lowercase()))),
        )
    }
}

/// Id of one waiting or running check, shared by the admission and its owner.
pub type TicketId = u32;

/// How urgent a waiting check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionPriority {
    /// A planned run, or one on demand.
    Normal,
    /// A first check: it waits for those of all accounts, and never takes the place of another in a full queue.
    Low,
}

/// Sequence numbers from here on are those of checks of low priority.
const FIRST_LOW_SEQUENCE: u64 = 1 << 63;

/// Admits waiting checks within the limits. Those of low priority wait for all others. The next one is the longest
/// waiting check of the account that has the fewest running checks of that class, so that no account can take the
/// places of another, however many checks it has waiting and however long they run. A check whose target or
/// concurrency class is full does not block those behind it.
#[derive(Debug)]
pub struct AdmissionQueue {
    limits: AdmissionLimits,
    next_sequence: u64,
    tickets: HashMap<TicketId, Ticket>,
    accounts: HashMap<CustomerId, AccountQueue>,
    /// Accounts with ready checks, by class, in the order of admission.
    ready_accounts_by_class: [BTreeSet<AccountRank>; 2],
    targets: HashMap<TargetKey, TargetQueue>,
    running_by_class: [usize; 2],
}

#[derive(Clone, Copy, Debug)]
struct Ticket {
    account: CustomerId,
    concurrency_class: ConcurrencyClass,
    target: Option<TargetKey>,
    /// Sequence number of a waiting check; `None` while it runs.
    waiting_sequence: Option<u64>,
}

/// An account with running or waiting checks.
#[derive(Debug, Default)]
struct AccountQueue {
    running_by_class: [usize; 2],
    /// All waiting checks by sequence number.
    waiting: BTreeMap<u64, TicketId>,
    /// Waiting checks whose target had capacity when last checked, by class and sequence number.
    ready_by_class: [BTreeMap<u64, TicketId>; 2],
}

/// Rank of an account in one class: whether only checks of low priority are ready, its running checks, then the
/// sequence number of its first ready check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AccountRank {
    is_low_priority: bool,
    running: usize,
    first_sequence: u64,
    account: CustomerId,
}

impl AccountQueue {
    fn rank(&self, account: CustomerId, class: ConcurrencyClass) -> Option<AccountRank> {
        let (&first_sequence, _) = self.ready_by_class[class as usize].first_key_value()?;
        let is_low_priority = first_sequence >= FIRST_LOW_SEQUENCE;
        let running = self.running_by_class[class as usize];
        Some(AccountRank { is_low_priority, running, first_sequence, account })
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running_by_class == [0, 0]
    }
}

/// A target with running or waiting checks.
#[derive(Debug, Default)]
struct TargetQueue {
    running: usize,
    /// Waiting checks for which this target has no capacity, by account and class, each list by sequence number.
    parked: BTreeMap<(CustomerId, ConcurrencyClass), BTreeMap<u64, TicketId>>,
}

impl TargetQueue {
    fn is_idle(&self) -> bool {
        self.running == 0 && self.parked.is_empty()
    }
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionQueueFull;

const CONCURRENCY_CLASSES: [ConcurrencyClass; 2] = [ConcurrencyClass::Light, ConcurrencyClass::Heavy];

impl AdmissionQueue {
    /// Creates an admission without checks.
    #[must_use]
    pub fn new(limits: AdmissionLimits) -> Self {
        Self {
            limits: AdmissionLimits { max_running: limits.max_running.max(1), ..limits },
            next_sequence: 0,
            tickets: HashMap::new(),
            accounts: HashMap::new(),
            ready_accounts_by_class: [BTreeSet::new(), BTreeSet::new()],
            targets: HashMap::new(),
            running_by_class: [0, 0],
        }
    }

    /// Puts `ticket` at the end of the queue. It must be neither waiting nor running. Even a full queue accepts a
    /// check that could start at once. In a full queue, a check takes the place of the newest waiting one of low
    /// priority. Without any, it takes that of the newest waiting check of the account that has the most, if that has
    /// at least two more than its own account. Returns the ticket that lost its place. One of low priority takes no
    /// place.
    pub fn enqueue(
        &mut self,
        ticket: TicketId,
        account: CustomerId,
        class: ConcurrencyClass,
        target: Option<TargetKey>,
        priority: AdmissionPriority,
    ) -> Result<Option<TicketId>, AdmissionQueueFull> {
        debug_assert!(!self.tickets.contains_key(&ticket), "ticket {ticket} was offered twice");
        let is_full = self.waiting_count() >= self.limits.max_waiting
            && !(self.waiting_count() == 0 && self.has_capacity(account, class, target));
        let is_low_priority = priority == AdmissionPriority::Low;
        let replaced = if is_full && is_low_priority {
            return Err(AdmissionQueueFull);
        } else if is_full {
            Some(
                self.newest_of_low_priority()
                    .or_else(|| self.newest_of_largest_account(account))
                    .ok_or(AdmissionQueueFull)?,
            )
        } else {
            None
        };
        if let Some(replaced) = replaced {
            self.release(replaced);
        }
        let sequence =
            if is_low_priority { FIRST_LOW_SEQUENCE + self.next_sequence } else { self.next_sequence };
        self.next_sequence += 1;
        let waiting_sequence = Some(sequence);
        self.tickets.insert(ticket, Ticket { account, concurrency_class: class, target, waiting_sequence });
        let parking_target = target.filter(|&key| self.must_queue_at_target(key, account, class));
        self.update_account(account, class, |queue| {
            queue.waiting.insert(sequence, ticket);
            if parking_target.is_none() {
                queue.ready_by_class[class as usize].insert(sequence, ticket);
            }
        });
        if let Some(key) = parking_target {
            self.park(key, account, class, sequence, ticket);
        }
        Ok(replaced)
    }

    /// Admits the next waiting check that the limits allow; `None` when there is none.
    pub fn admit_next(&mut self) -> Option<TicketId> {
        while self.running_count() < self.limits.max_running {
            let (rank, class) = CONCURRENCY_CLASSES
                .into_iter()
                .filter(|&class| self.running_by_class[class as usize] < self.limits.max_for_class(class))
                .filter_map(|class| Some((*self.ready_accounts_by_class[class as usize].first()?, class)))
                .min_by_key(|&(rank, _)| rank)?;
            let AccountRank { first_sequence: sequence, account, .. } = rank;
            let ticket =
                self.accounts.get(&account)?.ready_by_class[class as usize].get(&sequence).copied()?;
            let target = self.tickets.get(&ticket)?.target;
            if let Some(key) = target {
                let target = self.targets.entry(key).or_default();
                if target.running >= self.limits.max_per_target {
                    self.update_account(account, class, |queue| {
                        queue.ready_by_class[class as usize].remove(&sequence);
                    });
                    self.park(key, account, class, sequence, ticket);
                    continue;
                }
                target.running += 1;
            }
            self.update_account(account, class, |queue| {
                queue.ready_by_class[class as usize].remove(&sequence);
                queue.waiting.remove(&sequence);
                queue.running_by_class[class as usize] += 1;
            });
            self.tickets.get_mut(&ticket)?.waiting_sequence = None;
            self.running_by_class[class as usize] += 1;
            return Some(ticket);
        }
        None
    }

    /// Removes a running check, or a waiting one that is no longer needed.
    pub fn release(&mut self, ticket: TicketId) {
        let Some(entry) = self.tickets.remove(&ticket) else { return };
        let Ticket { account, concurrency_class: class, target, waiting_sequence } = entry;
        let mut was_ready = false;
        self.update_account(account, class, |queue| match waiting_sequence {
            Some(sequence) => {
                queue.waiting.remove(&sequence);
                was_ready = queue.ready_by_class[class as usize].remove(&sequence).is_some();
            }
            None => queue.running_by_class[class as usize] -= 1,
        });
        if waiting_sequence.is_none() {
            self.running_by_class[class as usize] -= 1;
        }
        let Some(key) = target else { return };
        if let Some(target) = self.targets.get_mut(&key) {
            match waiting_sequence {
                None => target.running -= 1,
                Some(sequence) if !was_ready => target.unpark(account, class, sequence),
                Some(_) => {}
            }
        }
        self.make_target_checks_ready(key);
    }

    /// Returns the number of waiting checks.
    #[must_use]
    pub fn waiting_count(&self) -> usize {
        self.tickets.len() - self.running_count()
    }

    /// Returns the number of running checks.
    #[must_use]
    pub fn running_count(&self) -> usize {
        self.running_by_class.iter().sum()
    }

    /// Returns the number of running checks of a concurrency class.
    #[must_use]
    pub fn running_count_by_class(&self, class: ConcurrencyClass) -> usize {
        self.running_by_class[class as usize]
    }

    /// Changes the queue of `account`, updates its rank in `class`, and removes the account when it is idle.
    fn update_account(
        &mut self,
        account: CustomerId,
        class: ConcurrencyClass,
        change: impl FnOnce(&mut AccountQueue),
    ) {
        let queue = self.accounts.entry(account).or_default();
        let ranks = &mut self.ready_accounts_by_class[class as usize];
        let rank_before = queue.rank(account, class);
        change(queue);
        let rank_after = queue.rank(account, class);
        if rank_before != rank_after {
            rank_before.map(|rank| ranks.remove(&rank));
            rank_after.map(|rank| ranks.insert(rank));
        }
        if queue.is_idle() {
            self.accounts.remove(&account);
        }
    }

    /// Returns the newest waiting check of low priority.
    fn newest_of_low_priority(&self) -> Option<TicketId> {
        let newest = self.accounts.values().filter_map(|queue| queue.waiting.last_key_value());
        let (sequence, ticket) = newest.max()?;
        (*sequence >= FIRST_LOW_SEQUENCE).then_some(*ticket)
    }

    /// Returns the newest waiting check of the account that has the most, if that has at least two more than `account`.
    fn newest_of_largest_account(&self, account: CustomerId) -> Option<TicketId> {
        let own_count = self.accounts.get(&account).map_or(0, |queue| queue.waiting.len());
        let waiting_count_and_id = |(id, queue): &(&CustomerId, &AccountQueue)| (queue.waiting.len(), **id);
        let (_, largest) = self.accounts.iter().max_by_key(waiting_count_and_id)?;
        let newest = largest.waiting.last_key_value().map(|(_, &ticket)| ticket);
        newest.filter(|_| largest.waiting.len() >= own_count + 2)
    }

    fn has_capacity(&self, account: CustomerId, class: ConcurrencyClass, target: Option<TargetKey>) -> bool {
        self.running_count() < self.limits.max_running
            && self.running_by_class[class as usize] < self.limits.max_for_class(class)
            && target.is_none_or(|key| !self.must_queue_at_target(key, account, class))
    }

    /// Whether a new check of this account and class must wait for the target.
    fn must_queue_at_target(&self, key: TargetKey, account: CustomerId, class: ConcurrencyClass) -> bool {
        match self.targets.get(&key) {
            Some(target) => {
                target.running >= self.limits.max_per_target || target.parked.contains_key(&(account, class))
            }
            None => self.limits.max_per_target == 0,
        }
    }

    fn park(
        &mut self,
        key: TargetKey,
        account: CustomerId,
        class: ConcurrencyClass,
        sequence: u64,
        ticket: TicketId,
    ) {
        let parked = &mut self.targets.entry(key).or_default().parked;
        parked.entry((account, class)).or_default().insert(sequence, ticket);
    }

    /// Makes as many parked checks of each account and class ready as the target has capacity for; admission decides
    /// which of them fits first. Keeps this invariant: an account and class has parked checks only while at least as
    /// many of its checks for the target are ready as the target has capacity for.
    fn make_target_checks_ready(&mut self, key: TargetKey) {
        let Some(target) = self.targets.get_mut(&key) else { return };
        let capacity = self.limits.max_per_target.saturating_sub(target.running);
        let mut ready = Vec::new();
        if capacity > 0 {
            target.parked.retain(|&(account, class), list| {
                for _ in 0..capacity {
                    let Some((sequence, ticket)) = list.pop_first() else { break };
                    ready.push((account, class, sequence, ticket));
                }
                !list.is_empty()
            });
        }
        if target.is_idle() {
            self.targets.remove(&key);
        }
        for (account, class, sequence, ticket) in ready {
            self.update_account(account, class, |queue| {
                queue.ready_by_class[class as usize].insert(sequence, ticket);
            });
        }
    }
}

impl TargetQueue {
    fn unpark(&mut self, account: CustomerId, class: ConcurrencyClass, sequence: u64) {
        let Some(list) = self.parked.get_mut(&(account, class)) else { return };
        list.remove(&sequence);
        if list.is_empty() {
            self.parked.remove(&(account, class));
        }
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
