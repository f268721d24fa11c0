//! The parts that an outbox and its tasks share.

use std::sync::Arc;

use tokio::sync::Notify;

use super::delivery_states::DeliveryStates;
use super::spooled::Spooled;
use crate::bus::contract::ResultTransport;
use crate::clock::Clock;
use crate::sync::Mutex;

/// The parts that the outbox and its tasks share.
pub(super) struct OutboxParts {
    pub(super) spooled: Spooled,
    pub(super) states: Mutex<DeliveryStates>,
    pub(super) transport: Arc<dyn ResultTransport>,
    pub(super) clock: Arc<dyn Clock>,
    /// Wakes the task that sends what waited.
    pub(super) wake_backlog: Notify,
    /// Wakes the task that sends captures.
    pub(super) wake_captures: Notify,
}
