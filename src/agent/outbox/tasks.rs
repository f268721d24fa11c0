//! The tasks of an outbox.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::outbox_parts::OutboxParts;
use super::{send_backlog, write_results};
use crate::domain::CheckResult;
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat};

/// Keeps and sends what an outbox takes, until it drains.
pub struct OutboxTasks {
    parts: Arc<OutboxParts>,
    receiver: mpsc::Receiver<CheckResult>,
    /// Results that were taken from the queue; still there after a panic.
    taken: Vec<CheckResult>,
    drained: CancellationToken,
    heartbeat: TaskHeartbeat,
}

impl OutboxTasks {
    pub(super) fn new(
        parts: Arc<OutboxParts>,
        receiver: mpsc::Receiver<CheckResult>,
        drained: CancellationToken,
        heartbeat: TaskHeartbeat,
    ) -> Self {
        Self { parts, receiver, taken: Vec::new(), drained, heartbeat }
    }
}

impl SupervisedTask for OutboxTasks {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(async move {
            let parts = &self.parts;
            tokio::select! {
                () = write_results::run(parts, &mut self.receiver, &mut self.taken) => {}
                () = send_backlog::send_results(parts) => {}
                () = send_backlog::send_captures(parts) => {}
                () = send_backlog::sweep(parts) => {}
            }
            self.drained.cancel();
        })
    }
}
