//! How the rest of the process talks to a runner.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::assignment::Assignment;
use super::run_order::{ResultReply, RunOrderError};
use crate::domain::{CheckResult, MonitorId};

/// A change of what is planned.
#[derive(Clone)]
pub enum AssignmentChange {
    /// Plans a monitor, or takes its new version; a running check of the old one ends first.
    Put(Arc<Assignment>),
    /// Ends the planning of a monitor.
    Remove {
        /// The monitor.
        monitor_id: MonitorId,
        /// Whether its running check is cancelled too; its result is delivered in any case.
        cancel: bool,
    },
}

/// The runner has shut down or is about to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the runner is shutting down")]
pub struct RunnerStopped;

/// What a runner has to do at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunnerStats {
    /// Monitors that are planned.
    pub planned: usize,
    /// Checks that run or whose result waits to be taken.
    pub in_flight: usize,
    /// Checks that wait for a place.
    pub queued: usize,
}

pub(super) enum RunnerCommand {
    Apply { changes: Vec<AssignmentChange>, done: oneshot::Sender<()> },
    RunNow { monitor_id: MonitorId, reply: ResultReply },
    RunOnce { assignment: Arc<Assignment>, reply: ResultReply },
    Snapshot(oneshot::Sender<RunnerStats>),
    Shutdown { limit: Duration, done: oneshot::Sender<()> },
}

/// Steers a runner. When the last handle is dropped, the runner cancels its checks, hands over their results
/// and ends.
#[derive(Clone, Debug)]
pub struct RunnerHandle {
    pub(super) commands: mpsc::Sender<RunnerCommand>,
}

impl RunnerHandle {
    /// Changes what is planned, in the order given; returns once all of it is in force.
    pub async fn apply(&self, changes: Vec<AssignmentChange>) -> Result<(), RunnerStopped> {
        self.request(|done| RunnerCommand::Apply { changes, done }).await
    }

    /// Runs a planned monitor now, out of its schedule, and after its running check if there is one. The
    /// result comes back here alone: it is not delivered to the sink.
    pub async fn run_now(&self, monitor_id: MonitorId) -> Result<CheckResult, RunOrderError> {
        self.request(|reply| RunnerCommand::RunNow { monitor_id, reply })
            .await
            .unwrap_or(Err(RunOrderError::Stopped))
    }

    /// Like [`RunnerHandle::run_now`], for a monitor that need not be planned; one that is runs in its
    /// planned version.
    pub async fn run_once(&self, assignment: Arc<Assignment>) -> Result<CheckResult, RunOrderError> {
        self.request(|reply| RunnerCommand::RunOnce { assignment, reply })
            .await
            .unwrap_or(Err(RunOrderError::Stopped))
    }

    /// What the runner has to do now.
    pub async fn stats(&self) -> Result<RunnerStats, RunnerStopped> {
        self.request(RunnerCommand::Snapshot).await
    }

    /// Whether the runner has not ended.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.commands.is_closed()
    }

    /// Starts nothing any more, lets running checks end within `limit`, cancels the rest, and returns once
    /// the sink took every result: those of cancelled checks as unknown, and all missed runs.
    pub async fn shutdown(&self, limit: Duration) {
        // An error means that it has shut down already.
        let _ = self.request(|done| RunnerCommand::Shutdown { limit, done }).await;
    }

    async fn request<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> RunnerCommand,
    ) -> Result<T, RunnerStopped> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| RunnerStopped)?;
        answer.await.map_err(|_| RunnerStopped)
    }
}
