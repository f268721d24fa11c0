//! The first checks that wait for their turn, so many a second for each account.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::domain::{CustomerId, LocationId, MonitorId, Timestamp};

/// Time between two first checks of one account: 20 a second.
pub const FIRST_CHECK_SPACING: Duration = Duration::from_millis(50);

/// A first check at one location, whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstCheck {
    /// Account that owns the monitor.
    pub customer_id: CustomerId,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Time of the change that caused it.
    pub planned_at: Timestamp,
}

/// What a call of [`FirstCheckQueue::take_next`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextFirstCheck {
    /// A check to start; then call [`FirstCheckQueue::end_turn`].
    Due(FirstCheck),
    /// None is due before this time.
    DueAt(Timestamp),
    /// None waits.
    None,
}

/// Monitors that wait for their first checks: each once, and each account in turn, so that it takes no more memory than
/// the monitors themselves and no account delays another.
#[derive(Debug, Default)]
pub struct FirstCheckQueue {
    waiting: HashMap<MonitorId, WaitingMonitor>,
    /// Accounts with waiting monitors, and those whose last turn was too recent to forget.
    accounts: HashMap<CustomerId, AccountChecks>,
    /// When the next check of each account in `accounts` may start.
    turns: BTreeSet<(Timestamp, CustomerId)>,
}

#[derive(Debug)]
struct WaitingMonitor {
    planned_at: Timestamp,
    /// The locations to check it at.
    locations: Arc<[LocationId]>,
    /// How many of them had their turn.
    started: usize,
}

#[derive(Debug)]
struct AccountChecks {
    /// Its waiting monitors, oldest first.
    monitors: VecDeque<MonitorId>,
    /// When its next check may start, as in `turns`.
    next_at: Timestamp,
}

impl FirstCheckQueue {
    /// Adds the first checks of `monitor_id` at `locations`, for a change at `planned_at`. Those of an earlier change
    /// that wait are replaced.
    pub fn push(
        &mut self,
        customer_id: CustomerId,
        monitor_id: MonitorId,
        locations: Arc<[LocationId]>,
        planned_at: Timestamp,
        now: Timestamp,
    ) {
        if locations.is_empty() {
            return;
        }
        let monitor = WaitingMonitor { planned_at, locations, started: 0 };
        if self.waiting.insert(monitor_id, monitor).is_some() {
            return;
        }
        let turns = &mut self.turns;
        let account = self.accounts.entry(customer_id).or_insert_with(|| {
            turns.insert((now, customer_id));
            AccountChecks { monitors: VecDeque::new(), next_at: now }
        });
        account.monitors.push_back(monitor_id);
    }

    /// Takes the next check that is due at `now`.
    pub fn take_next(&mut self, now: Timestamp) -> NextFirstCheck {
        self.adapt_to_clock(now);
        while let Some(&(next_at, customer_id)) = self.turns.first() {
            if next_at > now {
                return if self.waiting.is_empty() {
                    NextFirstCheck::None
                } else {
                    NextFirstCheck::DueAt(next_at)
                };
            }
            if let Some(check) = self.take_check_of_account(customer_id) {
                return NextFirstCheck::Due(check);
            }
            self.turns.pop_first();
            self.accounts.remove(&customer_id);
        }
        NextFirstCheck::None
    }

    /// Ends the turn in which a check was taken. After one that did not start, the account has its next turn after the
    /// others.
    pub fn end_turn(&mut self, customer_id: CustomerId, has_started: bool, now: Timestamp) {
        let delay = if has_started { FIRST_CHECK_SPACING } else { Duration::ZERO };
        self.set_turn(customer_id, now + delay);
    }

    fn take_check_of_account(&mut self, customer_id: CustomerId) -> Option<FirstCheck> {
        let account = self.accounts.get_mut(&customer_id)?;
        let monitor_id = *account.monitors.front()?;
        let monitor = self.waiting.get_mut(&monitor_id)?;
        let (location_id, planned_at) = (*monitor.locations.get(monitor.started)?, monitor.planned_at);
        monitor.started += 1;
        if monitor.started == monitor.locations.len() {
            self.waiting.remove(&monitor_id);
            account.monitors.pop_front();
        }
        Some(FirstCheck { customer_id, monitor_id, location_id, planned_at })
    }

    fn set_turn(&mut self, customer_id: CustomerId, next_at: Timestamp) {
        let Some(account) = self.accounts.get_mut(&customer_id) else { return };
        self.turns.remove(&(account.next_at, customer_id));
        account.next_at = next_at;
        self.turns.insert((next_at, customer_id));
    }

    /// Gives every account its turn now when the clock was set back.
    fn adapt_to_clock(&mut self, now: Timestamp) {
        let Some(&(next_at, _)) = self.turns.last() else { return };
        if next_at > now + FIRST_CHECK_SPACING {
            self.turns = self.accounts.keys().map(|&customer_id| (now, customer_id)).collect();
            self.accounts.values_mut().for_each(|account| account.next_at = now);
        }
    }
}

#[cfg(test)]
#[path = "first_check_queue_tests.rs"]
mod tests;
