//! How the rest of the process talks to a runner.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::assignment::Assignment;
use super::order::{OrderError, Reply};
use crate::domain::{CheckResult, MonitorId};

/// A change of what is planned.
#[derive(Clone)]
pub enum Change {
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
pub struct Stopped;

/// What a runner has to do at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Monitors that are planned.
    pub planned: usize,
    /// Checks that run or whose result waits to be taken.
    pub in_flight: usize,
    /// Checks that wait for a place.
    pub queued: usize,
}

pub(super) enum Command {
    Apply { changes: Vec<Change>, done: oneshot::Sender<()> },
    Order { monitor_id: MonitorId, reply: Reply },
    OrderOnce { assignment: Arc<Assignment>, reply: Reply },
    Snapshot(oneshot::Sender<Snapshot>),
    Shutdown { limit: Duration, done: oneshot::Sender<()> },
}

/// Steers a runner. When the last handle is dropped, the runner cancels its checks, hands over their results
/// and ends.
#[derive(Clone, Debug)]
pub struct RunnerHandle {
    pub(super) commands: mpsc::Sender<Command>,
}

impl RunnerHandle {
    /// Changes what is planned, in the order given; returns once all of it is in force.
    pub async fn apply(&self, changes: Vec<Change>) -> Result<(), Stopped> {
        self.ask(|done| Command::Apply { changes, done }).await
    }

    /// Runs a planned monitor now, out of its schedule, and after its running check if there is one. The
    /// result comes back here alone: it is not delivered to the sink.
    pub async fn run_now(&self, monitor_id: MonitorId) -> Result<CheckResult, OrderError> {
        self.ask(|reply| Command::Order { monitor_id, reply }).await.unwrap_or(Err(OrderError::Stopped))
    }

    /// Like [`RunnerHandle::run_now`], for a monitor that need not be planned; one that is runs in its
    /// planned version.
    pub async fn run_once(&self, assignment: Arc<Assignment>) -> Result<CheckResult, OrderError> {
        self.ask(|reply| Command::OrderOnce { assignment, reply }).await.unwrap_or(Err(OrderError::Stopped))
    }

    /// What the runner has to do now.
    pub async fn snapshot(&self) -> Result<Snapshot, Stopped> {
        self.ask(Command::Snapshot).await
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
        let _ = self.ask(|done| Command::Shutdown { limit, done }).await;
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }
}
