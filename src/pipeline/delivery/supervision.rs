//! The delivery worker under its supervisor: it starts over after a panic, and gives up a message at which it panics
//! again.

use std::time::Duration;

use tokio::time::Instant;

use super::recipient_delivery_states::RecipientDeliveryStates;
use super::worker::DeliveryWorker;
use crate::domain::{Notification, Timestamp};
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat};

/// Panics at the same message after which it is given up.
const MAX_PANICS: u32 = 2;
/// How long attempts in progress may take when the worker starts again after a panic; the others are repeated.
const RESTART_DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

impl DeliveryWorker {
    /// Starts over after a panic: the queues of recipients may be half changed.
    pub(super) async fn recover(&mut self) {
        if let Some(notification_id) = self.dispatching_id.take() {
            *self.panics_by_message.entry(notification_id).or_default() += 1;
        }
        let deadline = Instant::now() + RESTART_DRAIN_TIMEOUT;
        while let Ok(Some(finished)) = tokio::time::timeout_at(deadline, self.in_flight.join_next()).await {
            self.on_send_finished(finished.ok()).await;
        }
        self.in_flight.shutdown().await;
        self.delivery_states = RecipientDeliveryStates::default();
        self.recipients_to_unblock.clear();
    }

    /// Whether the delivery panicked twice at this message.
    pub(super) fn must_be_quarantined(&self, notification_id: i64) -> bool {
        self.panics_by_message.get(&notification_id).is_some_and(|panics| *panics >= MAX_PANICS)
    }

    /// Gives up a message at which the delivery panicked twice.
    pub(super) async fn quarantine(&mut self, notification: &Notification, now: Timestamp) {
        self.panics_by_message.remove(&notification.id);
        self.dependencies.metrics.record_quarantine("notification");
        let error = "Vigie panicked at this message twice; see its log".to_owned();
        self.give_up(notification, None, error, now).await;
    }
}

impl SupervisedTask for DeliveryWorker {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(async move {
            let abort = self.abort.clone();
            tokio::select! {
                () = self.run_loop() => {}
                () = abort.cancelled() => {}
            }
            self.heartbeat.mark_idle();
            self.ended.cancel();
        })
    }
}
