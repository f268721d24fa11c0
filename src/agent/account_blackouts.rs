//! The blackouts of the accounts whose monitors are checked here, as the control plane sent them last.

use std::collections::HashMap;
use std::sync::Arc;

use super::assignment::Assignment;
use super::interfaces::BlackoutLookup;
use crate::bus::contract::AssignedAccount;
use crate::domain::{CustomerId, Timestamp};
use crate::schedule::{BlackoutCalendar, BlackoutTarget};
use crate::sync::RwLock;

/// Serves lookups from memory, so that no check waits for the control plane.
#[derive(Default)]
pub struct AccountBlackouts(RwLock<HashMap<CustomerId, Arc<BlackoutCalendar>>>);

impl AccountBlackouts {
    /// Sets the current blackouts of an account.
    pub fn set(&self, account: AssignedAccount) {
        let AssignedAccount { customer_id, blackout_calendar } = account;
        let is_current = |calendar: &Arc<_>| Arc::ptr_eq(calendar, &blackout_calendar);
        if !self.0.read().get(&customer_id).is_some_and(is_current) {
            self.0.write().insert(customer_id, blackout_calendar);
        }
    }
}

impl BlackoutLookup for AccountBlackouts {
    fn blackout_at(&self, assignment: &Assignment, at: Timestamp) -> Option<String> {
        let calendars = self.0.read();
        let calendar = calendars.get(&assignment.customer_id)?;
        let window = calendar.active_window(BlackoutTarget::Monitor(assignment.monitor_id), at)?;
        Some(format!("blackout {} of the monitor", window.id))
    }
}
