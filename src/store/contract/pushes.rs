//! Storage of pushes.

use crate::domain::{CustomerId, MonitorId, Push, PushMonitor, PushState, Timestamp};

use super::future::StoreFuture;

/// A new push token of a monitor.
#[derive(Clone, Debug)]
pub struct NewPushToken {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Its account.
    pub customer_id: CustomerId,
    /// SHA-256 of the token; `None` takes the token away.
    pub hash: Option<[u8; 32]>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Stores what is pushed.
pub trait PushStore: Send + Sync + 'static {
    /// Sets the push token of a monitor, in place of its last one.
    fn set_push_token(&self, token: NewPushToken) -> StoreFuture<'_, ()>;

    /// Returns the monitor of a push token.
    fn push_monitor(&self, token_hash: [u8; 32]) -> StoreFuture<'_, Option<PushMonitor>>;

    /// Stores a push. [`PushStatus::Started`](crate::domain::PushStatus::Started) leaves the last one as it is.
    fn record_push(&self, monitor_id: MonitorId, push: Push) -> StoreFuture<'_, ()>;

    /// Returns the pushes of a monitor; `None` when it never had a token.
    fn push_state(&self, monitor_id: MonitorId) -> StoreFuture<'_, Option<PushState>>;
}
