//! Wakes the delivery of messages.

use std::sync::Arc;

use tokio::sync::Notify;

/// Wakes the delivery: there may be something new in the outbox. Cheap to clone, and to ring too often.
#[derive(Clone, Debug, Default)]
pub struct Wakeup(Arc<Notify>);

impl Wakeup {
    /// Rings.
    pub fn wake(&self) {
        self.0.notify_one();
    }

    /// Waits until it was rung since the last wait.
    pub(super) async fn wait(&self) {
        self.0.notified().await;
    }
}
