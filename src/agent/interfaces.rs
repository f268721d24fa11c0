//! Interfaces that the agent needs from the rest of the process.

use std::pin::Pin;

use super::assignment::Assignment;
use crate::domain::{CheckResult, Timestamp};

/// Looks up blackouts of monitors (behaviour.md 6). Called before every planned check, so it must respond from memory.
pub trait BlackoutLookup: Send + Sync + 'static {
    /// Returns the reason of the blackout of the monitor at `at`; `None` without a blackout.
    fn blackout_at(&self, assignment: &Assignment, at: Timestamp) -> Option<String>;
}

/// Receives results. `deliver` waits while the receiver is full; afterwards the receiver is responsible for the result.
pub trait ResultSink: Send + Sync + 'static {
    /// Delivers one result.
    fn deliver(&self, result: CheckResult) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
