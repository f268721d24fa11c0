//! Which performance alerts are raised now: told by who watches them, shown with the monitors.

use crate::sync::RwLock;
use std::collections::HashSet;

/// Numbers of the performance alerts that are raised, at any location.
#[derive(Debug, Default)]
pub struct ActivePerformanceAlerts(RwLock<HashSet<i64>>);

impl ActivePerformanceAlerts {
    /// Notes that the alert with this number is raised, or is not any more.
    pub fn set_active(&self, alert: i64, raised: bool) {
        let mut known = self.0.write();
        if raised {
            known.insert(alert);
        } else {
            known.remove(&alert);
        }
    }

    /// Whether it is raised.
    #[must_use]
    pub fn is_active(&self, alert: i64) -> bool {
        self.0.read().contains(&alert)
    }
}
