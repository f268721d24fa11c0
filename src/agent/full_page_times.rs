//! When each monitor last loaded the objects of its page.

use std::collections::HashMap;

use crate::domain::{MonitorId, Timestamp};
use crate::sync::{Mutex, MutexGuard};

/// When each monitor last loaded the objects of its page, since the start of this process; earlier loads are
/// in the assignments.
#[derive(Debug, Default)]
pub struct FullPageTimes(Mutex<HashMap<MonitorId, Timestamp>>);

impl FullPageTimes {
    /// Returns the start of the last check of `monitor_id` that loaded the objects.
    #[must_use]
    pub fn last_loaded_at(&self, monitor_id: MonitorId) -> Option<Timestamp> {
        self.lock().get(&monitor_id).copied()
    }

    /// Records that the check of `monitor_id` that started at `started_at` loaded the objects.
    pub fn record_load(&self, monitor_id: MonitorId, started_at: Timestamp) {
        self.lock().insert(monitor_id, started_at);
    }

    /// Forgets a removed monitor.
    pub fn remove(&self, monitor_id: MonitorId) {
        self.lock().remove(&monitor_id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MonitorId, Timestamp>> {
        self.0.lock()
    }
}
