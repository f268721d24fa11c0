//! The monitors of all accounts in memory, from files and from the APIs, secrets included.

use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use tokio::sync::{RwLockReadGuard as SharedEditGuard, RwLockWriteGuard as ExclusiveEditGuard};

use crate::domain::{CustomerId, LocationId, MonitorId};
use crate::schema::Monitor;
use crate::store::{MonitorChangeLog, MonitorChanges};

/// All monitors, by id. A monitor is cheap to clone.
#[derive(Debug, Default)]
pub struct MonitorCache {
    index: RwLock<MonitorIndex>,
    edit_lock: tokio::sync::RwLock<()>,
    changes: MonitorChangeLog,
}

#[derive(Debug, Default)]
struct MonitorIndex {
    monitors: BTreeMap<MonitorId, Monitor>,
    /// Number of monitors of each account under each plan.
    billing_plan_counts: HashMap<CustomerId, HashMap<Box<str>, usize>>,
    /// The monitors that name each location.
    by_location: HashMap<LocationId, BTreeSet<MonitorId>>,
    /// The monitors of each account that name no location.
    without_locations: HashMap<CustomerId, BTreeSet<MonitorId>>,
}

impl MonitorIndex {
    fn insert(&mut self, monitor: Monitor) {
        let plans = self.billing_plan_counts.entry(monitor.customer).or_default();
        match plans.get_mut(plan_code(&monitor)) {
            Some(count) => *count += 1,
            None => drop(plans.insert(plan_code(&monitor).into(), 1)),
        }
        let old = self.monitors.insert(monitor.id, monitor.clone());
        if let Some(old) = &old {
            self.decrement_plan_count(old);
            self.remove_from_locations(old);
        }
        self.add_to_locations(&monitor);
    }

    fn remove(&mut self, id: MonitorId) {
        if let Some(old) = self.monitors.remove(&id) {
            self.decrement_plan_count(&old);
            self.remove_from_locations(&old);
        }
    }

    fn add_to_locations(&mut self, monitor: &Monitor) {
        let locations = monitor.document.location_ids();
        if locations.is_empty() {
            self.without_locations.entry(monitor.customer).or_default().insert(monitor.id);
        }
        for location in locations {
            self.by_location.entry(location).or_default().insert(monitor.id);
        }
    }

    fn remove_from_locations(&mut self, monitor: &Monitor) {
        let locations = monitor.document.location_ids();
        if locations.is_empty() {
            remove_from_set(&mut self.without_locations, monitor.customer, monitor.id);
        }
        for location in locations {
            remove_from_set(&mut self.by_location, location, monitor.id);
        }
    }

    fn decrement_plan_count(&mut self, removed: &Monitor) {
        let Some(plans) = self.billing_plan_counts.get_mut(&removed.customer) else { return };
        if let Some(count) = plans.get_mut(plan_code(removed)) {
            *count -= 1;
            if *count == 0 {
                plans.remove(plan_code(removed));
            }
        }
    }
}

/// Removes `id` from the set of `key`, and the set with its last element.
fn remove_from_set<K: Eq + std::hash::Hash>(
    sets: &mut HashMap<K, BTreeSet<MonitorId>>,
    key: K,
    id: MonitorId,
) {
    if let Some(set) = sets.get_mut(&key) {
        set.remove(&id);
        if set.is_empty() {
            sets.remove(&key);
        }
    }
}

fn plan_code(monitor: &Monitor) -> &str {
    monitor.document.billing_plancode()
}

impl MonitorCache {
    /// Locks while an object is validated against others and then stored: a new monitor against its locations, a
    /// blackout against its monitor. Shared with others that do the same.
    pub async fn lock_shared(&self) -> SharedEditGuard<'_, ()> {
        self.edit_lock.read().await
    }

    /// Locks from reading objects until their change or removal is stored: no monitor is created, changed or removed
    /// meanwhile. Holders must not request another lock.
    pub async fn lock_exclusive(&self) -> ExclusiveEditGuard<'_, ()> {
        self.edit_lock.write().await
    }

    /// Returns a monitor.
    #[must_use]
    pub fn get(&self, id: MonitorId) -> Option<Monitor> {
        self.read().monitors.get(&id).cloned()
    }

    /// Returns a monitor of `customer`.
    #[must_use]
    pub fn get_for_customer(&self, customer: CustomerId, id: MonitorId) -> Option<Monitor> {
        self.get(id).filter(|monitor| monitor.customer == customer)
    }

    /// Returns the number of monitors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().monitors.len()
    }

    /// Whether there are no monitors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many monitors match, and the id of the match after `offset` others, if there is one.
    pub fn count_and_nth_match(
        &self,
        offset: u64,
        matches: impl Fn(&Monitor) -> bool,
    ) -> (u64, Option<MonitorId>) {
        let (mut count, mut match_at_offset) = (0_u64, None);
        for monitor in self.read().monitors.values().filter(|monitor| matches(monitor)) {
            if count == offset {
                match_at_offset = Some(monitor.id);
            }
            count += 1;
        }
        (count, match_at_offset)
    }

    /// Returns the next `max` matching monitors, from `id` on.
    pub fn list_from(&self, id: MonitorId, max: usize, matches: impl Fn(&Monitor) -> bool) -> Vec<Monitor> {
        let index = self.read();
        index
            .monitors
            .range(id..)
            .map(|(_, monitor)| monitor)
            .filter(|monitor| matches(monitor))
            .take(max)
            .cloned()
            .collect()
    }

    /// Returns all monitors.
    #[must_use]
    pub fn all(&self) -> Vec<Monitor> {
        self.read().monitors.values().cloned().collect()
    }

    /// Returns the monitors that may run at `location`: those that name it, and those that name no location of accounts
    /// for which `uses_by_default` holds.
    pub fn list_for_location(
        &self,
        location: LocationId,
        uses_by_default: impl Fn(CustomerId) -> bool,
    ) -> Vec<Monitor> {
        let index = self.read();
        let naming = index.by_location.get(&location).into_iter().flatten();
        let by_default = index.without_locations.iter().filter(|(customer, _)| uses_by_default(**customer));
        let ids = naming.chain(by_default.flat_map(|(_, ids)| ids));
        ids.filter_map(|id| index.monitors.get(id)).cloned().collect()
    }

    /// Inserts or replaces `upserts` and removes `removed`.
    pub fn apply(&self, upserts: Vec<Monitor>, removed: &[MonitorId]) {
        let mut index = self.write();
        self.changes.record(removed.iter().copied().chain(upserts.iter().map(|monitor| monitor.id)));
        for id in removed {
            index.remove(*id);
        }
        for monitor in upserts {
            index.insert(monitor);
        }
    }

    /// Returns how many monitors `customer` has under the billing plan `code`.
    #[must_use]
    pub fn count_under_plan(&self, customer: CustomerId, code: &str) -> usize {
        self.read()
            .billing_plan_counts
            .get(&customer)
            .and_then(|plans| plans.get(code))
            .copied()
            .unwrap_or_default()
    }

    /// Replaces all monitors by `all`.
    pub fn replace_all(&self, all: Vec<Monitor>) {
        let mut new_index = MonitorIndex::default();
        for monitor in all {
            new_index.insert(monitor);
        }
        let mut index = self.write();
        *index = new_index;
        self.changes.record_all();
    }

    /// Returns the monitors that changed after `position`.
    #[must_use]
    pub fn changes(&self, position: Option<u64>) -> MonitorChanges {
        self.changes.since(position)
    }

    fn read(&self) -> RwLockReadGuard<'_, MonitorIndex> {
        self.index.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, MonitorIndex> {
        self.index.write()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::domain::{MonitorType, Revision, Timestamp};
    use crate::schema::{MonitorDocument, Origin};

    fn monitor(id: i64, customer: i64, locations: &[i64]) -> Monitor {
        let locations: Vec<_> = locations.iter().map(|id| json!({ "id": id })).collect();
        let fields = json!({"hostname": "192.0.2.1", "port": 9, "locations": locations});
        let Value::Object(fields) = fields else { unreachable!() };
        Monitor {
            id: MonitorId(id),
            customer: CustomerId(customer),
            origin: Origin::Api,
            revision: Revision(1),
            modified_at: Timestamp::from_seconds(1_800_000_000),
            document: Arc::new(MonitorDocument::new(MonitorType::Tcp, fields).unwrap()),
            metadata: Arc::default(),
        }
    }

    #[test]
    fn a_location_has_the_monitors_that_name_it_and_those_of_its_accounts_that_name_none() {
        let cache = MonitorCache::default();
        let all = [monitor(1, 1, &[5]), monitor(2, 1, &[5, 6]), monitor(3, 1, &[]), monitor(4, 2, &[])];
        cache.apply(all.to_vec(), &[]);
        let at = |location, customer| {
            let by_default = |other| other == CustomerId(customer);
            let mut ids: Vec<_> = cache
                .list_for_location(LocationId(location), by_default)
                .into_iter()
                .map(|monitor| monitor.id.0)
                .collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!((at(5, 0), at(6, 0), at(7, 0)), (vec![1, 2], vec![2], vec![]));
        assert_eq!((at(5, 1), at(7, 2)), (vec![1, 2, 3], vec![4]));
        // They move and go.
        cache.apply(vec![monitor(1, 1, &[]), monitor(3, 1, &[7])], &[MonitorId(2), MonitorId(4)]);
        assert_eq!((at(5, 0), at(6, 0), at(7, 2), at(5, 1)), (vec![], vec![], vec![3], vec![1]));
        cache.replace_all(vec![monitor(9, 1, &[5])]);
        assert_eq!((at(5, 1), at(7, 1)), (vec![9], vec![]));
    }
}
