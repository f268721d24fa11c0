//! Wakes the delivery of notifications.

use std::sync::Arc;

use tokio::sync::Notify;

/// Wakes the delivery when the outbox may have new notifications. Cheap to clone; extra wakeups do no harm.
#[derive(Clone, Debug, Default)]
pub struct DeliveryWakeup(Arc<Notify>);

impl DeliveryWakeup {
    /// Wakes the delivery.
    pub fn wake(&self) {
        self.0.notify_one();
    }

    /// Waits for a wakeup since the last wait.
    pub(super) async fn wait(&self) {
        self.0.notified().await;
    }
}
