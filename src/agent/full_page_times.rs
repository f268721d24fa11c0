//! When the objects of each page were loaded last.

use std::collections::HashMap;

use crate::domain::{MonitorId, Timestamp};
use crate::sync::{Mutex, MutexGuard};

/// When the objects of each page were loaded last. Remembers only what happened since the start of this process;
/// what was before stands in the assignments.
#[derive(Debug, Default)]
pub struct FullPageTimes(Mutex<HashMap<MonitorId, Timestamp>>);

impl FullPageTimes {
    /// Start of the last check of `monitor` that loaded them.
    #[must_use]
    pub fn last_loaded_at(&self, monitor: MonitorId) -> Option<Timestamp> {
        self.lock().get(&monitor).copied()
    }

    /// Notes that the check of `monitor` that began at `started_at` did.
    pub fn record(&self, monitor: MonitorId, started_at: Timestamp) {
        self.lock().insert(monitor, started_at);
    }

    /// Forgets a monitor that is gone.
    pub fn remove(&self, monitor: MonitorId) {
        self.lock().remove(&monitor);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MonitorId, Timestamp>> {
        self.0.lock()
    }
}
