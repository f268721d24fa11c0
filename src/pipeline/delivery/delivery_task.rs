//! The task that delivers notifications.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::settings::{DeliveryDependencies, DeliverySettings};
use super::worker::DeliveryWorker;
use crate::pipeline::wakeup::DeliveryWakeup;

/// Handle of the running delivery task.
pub struct DeliveryTask {
    drain_timeout_sender: tokio::sync::watch::Sender<Option<Duration>>,
    task: JoinHandle<()>,
}

impl DeliveryTask {
    /// Starts the delivery. `wakeup` is woken by every writer to the outbox.
    #[must_use]
    pub fn start(
        dependencies: DeliveryDependencies,
        settings: DeliverySettings,
        wakeup: DeliveryWakeup,
    ) -> Self {
        let (shutdown_sender, shutdown_receiver) = tokio::sync::watch::channel(None);
        let task = tokio::spawn(DeliveryWorker::new(dependencies, settings, wakeup).run(shutdown_receiver));
        Self { drain_timeout_sender: shutdown_sender, task }
    }

    /// Delivers what is due, for at most `timeout`, and stops. Everything else stays in the outbox for the next start.
    pub async fn drain(self, timeout: Duration) {
        self.drain_timeout_sender.send_replace(Some(timeout));
        let abort_handle = self.task.abort_handle();
        // The worker aborts attempts that hang; this timeout covers a store that does not respond.
        if tokio::time::timeout(timeout * 2 + Duration::from_secs(5), self.task).await.is_err() {
            tracing::warn!("delivery did not stop in time; it continues at the next start");
            abort_handle.abort();
        }
    }
}
