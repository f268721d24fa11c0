//! The handle with which the rest of the process controls a runner.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use super::assignment::Assignment;
use super::on_demand_run::{OnDemandResultSender, OnDemandRunError};
use crate::bus::contract::AgentLoad;
use crate::domain::{CheckResult, MonitorId, Timestamp};
use crate::sync::Mutex;

/// A change of the planned monitors.
#[derive(Clone)]
pub enum AssignmentChange {
    /// Plans a monitor, or updates it to a new revision. A running check of the old revision is not interrupted.
    Upsert(Arc<Assignment>),
    /// Removes a monitor from the plan.
    Remove {
        /// Id of the monitor.
        monitor_id: MonitorId,
        /// Whether its running check is cancelled too; its result is delivered in any case.
        cancel_running: bool,
    },
}

/// The runner has shut down or is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the runner is shutting down")]
pub struct RunnerStopped;

pub(super) enum RunnerCommand {
    ApplyChanges { changes: Vec<AssignmentChange>, done: oneshot::Sender<()> },
    RunNow { monitor_id: MonitorId, reply: OnDemandResultSender },
    RequestFirstCheck { monitor_id: MonitorId, planned_at: Timestamp, reply: oneshot::Sender<bool> },
    RunAssignmentNow { assignment: Arc<Assignment>, reply: OnDemandResultSender },
    GetLoad(oneshot::Sender<AgentLoad>),
    GetPlannedMonitors(oneshot::Sender<Vec<MonitorId>>),
    Shutdown { timeout: Duration, done: oneshot::Sender<()> },
}

/// Controls a runner. When the last handle is dropped, the runner cancels its checks, delivers their results and ends.
#[derive(Clone, Debug)]
pub struct RunnerHandle {
    pub(super) command_sender: mpsc::Sender<RunnerCommand>,
    /// The running checks, which outlive a runner that panicked.
    pub(super) check_tasks: TaskTracker,
    /// Set by the runner now and then.
    pub(super) load: Arc<Mutex<AgentLoad>>,
}

impl RunnerHandle {
    /// Changes the planned monitors, in the given order; returns once all changes are in effect.
    pub async fn apply_changes(&self, changes: Vec<AssignmentChange>) -> Result<(), RunnerStopped> {
        self.send_command(|done| RunnerCommand::ApplyChanges { changes, done }).await
    }

    /// Runs a planned monitor now, outside its schedule, after its running check if there is one. The result is only
    /// returned here, not delivered to the sink.
    pub async fn run_now(&self, monitor_id: MonitorId) -> Result<CheckResult, OnDemandRunError> {
        self.send_command(|reply| RunnerCommand::RunNow { monitor_id, reply })
            .await
            .unwrap_or(Err(OnDemandRunError::Stopped))
    }

    /// Like [`RunnerHandle::run_now`], but the monitor need not be planned; if it is, it runs with its planned
    /// revision.
    pub async fn run_assignment_now(
        &self,
        assignment: Arc<Assignment>,
    ) -> Result<CheckResult, OnDemandRunError> {
        self.send_command(|reply| RunnerCommand::RunAssignmentNow { assignment, reply })
            .await
            .unwrap_or(Err(OnDemandRunError::Stopped))
    }

    /// Requests the first check of a planned monitor, for a change at `planned_at`, which is the time of none of its
    /// planned runs. It runs once the planned runs that are due leave room, and its result goes to the sink. Returns
    /// whether it waits or runs: not when the monitor is not planned here or permits planned runs only.
    pub async fn request_first_check(
        &self,
        monitor_id: MonitorId,
        planned_at: Timestamp,
    ) -> Result<bool, RunnerStopped> {
        self.send_command(|reply| RunnerCommand::RequestFirstCheck { monitor_id, planned_at, reply }).await
    }

    /// Returns the current load of the runner.
    pub async fn current_stats(&self) -> Result<AgentLoad, RunnerStopped> {
        self.send_command(RunnerCommand::GetLoad).await
    }

    /// Returns the load that the runner published last, at most a second ago unless it is stuck.
    pub(super) fn last_load(&self) -> AgentLoad {
        *self.load.lock()
    }

    /// Returns the ids of the planned monitors.
    pub(super) async fn planned_monitors(&self) -> Result<Vec<MonitorId>, RunnerStopped> {
        self.send_command(RunnerCommand::GetPlannedMonitors).await
    }

    /// Whether the runner has not ended.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.command_sender.is_closed()
    }

    /// Starts no more checks, waits up to `timeout` for running ones, and cancels the rest. Returns once the sink has
    /// accepted every result, including those of cancelled checks as unknown, and all missed runs.
    pub async fn shutdown(&self, timeout: Duration) {
        if self.send_command(|done| RunnerCommand::Shutdown { timeout, done }).await.is_err() {
            // It has shut down already, or panicked: then its checks still deliver their results.
            self.check_tasks.close();
            let _ = tokio::time::timeout(timeout, self.check_tasks.wait()).await;
        }
    }

    async fn send_command<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> RunnerCommand,
    ) -> Result<T, RunnerStopped> {
        let (reply, response) = oneshot::channel();
        self.command_sender.send(command(reply)).await.map_err(|_| RunnerStopped)?;
        response.await.map_err(|_| RunnerStopped)
    }
}
