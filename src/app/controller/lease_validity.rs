//! Whether the lease of this controller is valid, as far as it can know without the database.

use std::sync::Arc;

use tokio::time::Instant;

use crate::store::LEASE_DURATION;
use crate::sync::Mutex;

/// Until when the lease of this controller lasts, by its own clock. What leaves this process without a transaction asks
/// for it first: a process that was stopped for a while does nothing when it goes on.
#[derive(Clone, Debug, Default)]
pub(in crate::app) struct LeaseValidity(Arc<Mutex<Option<Instant>>>);

impl LeaseValidity {
    /// Records a renewal that was requested at `requested_at`.
    pub(super) fn extend(&self, requested_at: Instant) {
        *self.0.lock() = Some(requested_at + LEASE_DURATION);
    }

    /// Whether the lease is valid.
    pub(in crate::app) fn is_valid(&self) -> bool {
        self.0.lock().is_some_and(|until| Instant::now() < until)
    }
}
