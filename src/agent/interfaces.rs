//! Interfaces that the agent needs from the rest of the process.

use std::sync::Arc;

use super::assignment::Assignment;
use crate::domain::Timestamp;
use crate::probe::{ConcurrencyClass, Probe};
use crate::schema::Monitor;

/// Looks up blackouts of monitors (behaviour.md 6). Called before every planned check, so it must respond from memory.
pub trait BlackoutLookup: Send + Sync + 'static {
    /// Returns the reason of the blackout of the monitor at `at`; `None` without a blackout.
    fn blackout_at(&self, assignment: &Assignment, at: Timestamp) -> Option<String>;
}

/// Builds the probes of monitors with what this host knows: its settings, keys and browsers.
pub trait ProbeBuilder: Send + Sync + 'static {
    /// Builds the probe of `monitor`, and returns it with its class. `certificate_warning_days` is that of the account;
    /// without it, that of the settings applies.
    fn build(
        &self,
        monitor: &Monitor,
        certificate_warning_days: Option<u32>,
    ) -> (Arc<dyn Probe>, ConcurrencyClass);
}
