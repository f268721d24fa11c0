//! The monitors of all accounts in memory, those from files and those from the APIs, secrets included.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::model::{CustomerId, Monitor, MonitorId};

/// Every monitor there is, by id. A monitor is cheap to clone.
#[derive(Debug, Default)]
pub struct Roster {
    monitors: RwLock<BTreeMap<MonitorId, Monitor>>,
}

impl Roster {
    /// One of them.
    #[must_use]
    pub fn get(&self, id: MonitorId) -> Option<Monitor> {
        self.read().get(&id).cloned()
    }

    /// One of `customer`'s.
    #[must_use]
    pub fn of(&self, customer: CustomerId, id: MonitorId) -> Option<Monitor> {
        self.get(id).filter(|monitor| monitor.customer == customer)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many fit, and the id of the one after `offset` of them; `None` when there are not so many.
    pub fn count(&self, offset: u64, fits: impl Fn(&Monitor) -> bool) -> (u64, Option<MonitorId>) {
        let (mut count, mut first) = (0_u64, None);
        for monitor in self.read().values().filter(|monitor| fits(monitor)) {
            if count == offset {
                first = Some(monitor.id);
            }
            count += 1;
        }
        (count, first)
    }

    /// The next `most` that fit, from `id` on.
    pub fn from(&self, id: MonitorId, most: usize, fits: impl Fn(&Monitor) -> bool) -> Vec<Monitor> {
        let monitors = self.read();
        monitors
            .range(id..)
            .map(|(_, monitor)| monitor)
            .filter(|monitor| fits(monitor))
            .take(most)
            .cloned()
            .collect()
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Monitor> {
        self.read().values().cloned().collect()
    }

    /// Takes new versions and lets others go.
    pub fn change(&self, puts: Vec<Monitor>, removed: &[MonitorId]) {
        let mut monitors = self.write();
        for id in removed {
            monitors.remove(id);
        }
        for monitor in puts {
            monitors.insert(monitor.id, monitor);
        }
    }

    /// Takes `all` instead of what there was.
    pub fn replace(&self, all: Vec<Monitor>) {
        *self.write() = all.into_iter().map(|monitor| (monitor.id, monitor)).collect();
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<MonitorId, Monitor>> {
        self.monitors.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<MonitorId, Monitor>> {
        self.monitors.write().unwrap_or_else(PoisonError::into_inner)
    }
}
