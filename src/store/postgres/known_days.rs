//! Which partitions are known to exist.

use std::collections::BTreeSet;

use crate::sync::Mutex;

/// The days whose partitions are known to exist, by the name of their table.
#[derive(Default)]
pub(super) struct KnownDays(Mutex<BTreeSet<(&'static str, i64)>>);

impl KnownDays {
    pub(super) fn contains(&self, table: &'static str, day: i64) -> bool {
        self.0.lock().contains(&(table, day))
    }

    pub(super) fn insert(&self, table: &'static str, day: i64) {
        self.0.lock().insert((table, day));
    }

    /// Forgets all days, since a partition may have been removed.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}
