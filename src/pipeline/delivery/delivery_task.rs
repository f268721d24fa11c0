//! The task that delivers notifications.

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::settings::{DeliveryDependencies, DeliverySettings};
use super::worker::DeliveryWorker;
use crate::pipeline::wakeup::DeliveryWakeup;
use crate::telemetry::{SupervisedTask, TaskHeartbeat, TaskName};

/// Handle of the running delivery task.
pub struct DeliveryHandle {
    drain_timeout_sender: watch::Sender<Option<Duration>>,
    settings_sender: watch::Sender<DeliverySettings>,
    /// Ends the task at once.
    abort: CancellationToken,
    /// Cancelled once the task has ended.
    ended: CancellationToken,
}

impl DeliveryHandle {
    /// Starts the delivery without a supervisor. `wakeup` is woken by every writer to the outbox.
    #[must_use]
    pub fn start(
        dependencies: DeliveryDependencies,
        settings: DeliverySettings,
        wakeup: DeliveryWakeup,
    ) -> Self {
        let heartbeat = TaskHeartbeat::unwatched(TaskName::Delivery);
        let (handle, mut worker) = Self::new(dependencies, settings, wakeup, heartbeat);
        tokio::spawn(async move { worker.run().await });
        handle
    }

    /// Creates the delivery and its worker, to be run.
    #[must_use]
    pub fn new(
        dependencies: DeliveryDependencies,
        settings: DeliverySettings,
        wakeup: DeliveryWakeup,
        heartbeat: TaskHeartbeat,
    ) -> (Self, DeliveryWorker) {
        let (drain_timeout_sender, drain_timeout_receiver) = watch::channel(None);
        let (abort, ended) = (CancellationToken::new(), CancellationToken::new());
        let cancellation_tokens = (abort.clone(), ended.clone());
        let (settings_sender, settings_receiver) = watch::channel(settings);
        let worker = DeliveryWorker::new(
            dependencies,
            settings_receiver,
            wakeup,
            drain_timeout_receiver,
            heartbeat,
            cancellation_tokens,
        );
        (Self { drain_timeout_sender, settings_sender, abort, ended }, worker)
    }

    /// Returns the sender of new settings, which apply to the next messages.
    #[must_use]
    pub fn settings_sender(&self) -> watch::Sender<DeliverySettings> {
        self.settings_sender.clone()
    }

    /// Delivers what is due, for at most `timeout`, and stops. Everything else stays in the outbox for the next start.
    pub async fn drain(self, timeout: Duration) {
        self.drain_timeout_sender.send_replace(Some(timeout));
        // The worker aborts attempts that hang; this timeout covers a store that does not respond.
        let grace_period = timeout * 2 + Duration::from_secs(5);
        if tokio::time::timeout(grace_period, self.ended.cancelled()).await.is_err() {
            tracing::warn!("delivery did not stop in time; it continues at the next start");
            self.abort.cancel();
        }
    }
}
