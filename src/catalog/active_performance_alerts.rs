//! The active performance alerts, published by the evaluator and shown with the monitors.

use crate::sync::RwLock;
use std::collections::HashSet;

/// Ids of the performance alerts that are active at one location at least.
#[derive(Debug, Default)]
pub struct ActivePerformanceAlerts(RwLock<HashSet<i64>>);

impl ActivePerformanceAlerts {
    /// Sets whether the alert with this id is active.
    pub fn set_active(&self, alert_id: i64, is_active: bool) {
        let mut active_ids = self.0.write();
        if is_active {
            active_ids.insert(alert_id);
        } else {
            active_ids.remove(&alert_id);
        }
    }

    /// Whether the alert is active.
    #[must_use]
    pub fn is_active(&self, alert_id: i64) -> bool {
        self.0.read().contains(&alert_id)
    }
}
