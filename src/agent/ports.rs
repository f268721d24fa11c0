//! What an agent asks of its process, and what it reports to.

use std::pin::Pin;

use super::assignment::Assignment;
use crate::domain::{CheckResult, Timestamp};

/// Knows the Monitor blackouts (behaviour.md 6). Asked before every planned check, so it answers from memory.
pub trait BlackoutLookup: Send + Sync + 'static {
    /// Why no check of the monitor is made at `at`; `None` when one is.
    fn blackout_at(&self, assignment: &Assignment, at: Timestamp) -> Option<String>;
}

/// Where results go. `deliver` waits while the receiver is full; what it took is the receiver's to keep.
pub trait ResultSink: Send + Sync + 'static {
    /// Hands over one result.
    fn deliver(&self, result: CheckResult) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
