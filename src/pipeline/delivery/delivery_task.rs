//! The task that delivers messages, from its start to its end.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::settings::{DeliveryDependencies, DeliverySettings};
use super::worker::DeliveryWorker;
use crate::pipeline::wakeup::Wakeup;

/// Delivery under way.
pub struct DeliveryTask {
    end: tokio::sync::watch::Sender<Option<Duration>>,
    task: JoinHandle<()>,
}

impl DeliveryTask {
    /// Begins to deliver. `bell` is rung by whoever puts something into the outbox.
    #[must_use]
    pub fn start(dependencies: DeliveryDependencies, settings: DeliverySettings, wakeup: Wakeup) -> Self {
        let (end, ended) = tokio::sync::watch::channel(None);
        let task = tokio::spawn(DeliveryWorker::new(dependencies, settings, wakeup).run(ended));
        Self { end, task }
    }

    /// Delivers what can be delivered at once, at most for `within`, and ends. Everything else stays in the
    /// outbox for the next start.
    pub async fn drain(self, within: Duration) {
        self.end.send_replace(Some(within));
        let aborting = self.task.abort_handle();
        // Tries that hang are cut off by the worker; this holds a store that does not answer.
        if tokio::time::timeout(within * 2 + Duration::from_secs(5), self.task).await.is_err() {
            tracing::warn!("delivery did not stop in time; it continues at the next start");
            aborting.abort();
        }
    }
}
