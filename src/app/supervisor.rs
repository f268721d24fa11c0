//! Owns the long-running tasks: a task that panics starts again from what is stored, or shuts the process down cleanly,
//! with a status on which systemd starts it again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::telemetry::{
    Metrics, SupervisedTask, TaskFuture, TaskHeartbeat, TaskName, TaskRegistry, panic_message,
};

/// Delay before the first restart of a task; it doubles with each further one.
const INITIAL_RESTART_DELAY: Duration = Duration::from_millis(100);
/// Longest delay before a restart.
const MAX_RESTART_DELAY: Duration = Duration::from_secs(10);
/// A task that ran for this long starts with the initial delay again.
const STABLE_AFTER: Duration = Duration::from_mins(1);
/// Restarts in a row after which the process ends.
const MAX_RESTARTS: u32 = 10;

/// The process ends since a task cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task `{}` panicked and cannot go on; see the log for the panic", .0.label())]
pub struct TaskFailure(pub TaskName);

impl TaskFailure {
    /// Exit code: an internal error of the software, on which systemd starts the process again.
    pub const EXIT_CODE: u8 = 70;
}

/// Runs the long-running tasks of the process.
pub(super) struct Supervisor {
    registry: Arc<TaskRegistry>,
    failure: watch::Sender<Option<TaskFailure>>,
}

impl Supervisor {
    pub(super) fn new(metrics: Arc<Metrics>) -> Self {
        Self { registry: Arc::new(TaskRegistry::new(metrics)), failure: watch::Sender::new(None) }
    }

    /// Returns the health of the tasks.
    pub(super) fn registry(&self) -> &Arc<TaskRegistry> {
        &self.registry
    }

    /// Adds a task to those whose health is watched, and returns its heartbeat.
    pub(super) fn heartbeat(&self, name: TaskName) -> TaskHeartbeat {
        self.registry.register(name)
    }

    /// Runs `task`, again after each panic.
    pub(super) fn spawn(&self, mut task: impl SupervisedTask) -> JoinHandle<()> {
        let failure = self.failure.clone();
        let heartbeat = task.heartbeat().clone();
        tokio::spawn(async move {
            let (mut delay, mut restarts) = (INITIAL_RESTART_DELAY, 0);
            loop {
                let started = Instant::now();
                let Err(payload) = AssertUnwindSafe(task.run()).catch_unwind().await else { break };
                heartbeat.record_panic();
                if started.elapsed() >= STABLE_AFTER {
                    (delay, restarts) = (INITIAL_RESTART_DELAY, 0);
                }
                restarts += 1;
                let (name, panic) = (heartbeat.name().label(), panic_message(payload.as_ref()));
                if restarts > MAX_RESTARTS {
                    heartbeat.set_down("it panics at every start");
                    report_failure(&failure, heartbeat.name());
                    return;
                }
                heartbeat.set_down("it panicked and starts again");
                tracing::error!(task = name, panic, "task panicked; starting it again");
                tokio::time::sleep(delay).await;
                delay = (delay * 2).min(MAX_RESTART_DELAY);
                heartbeat.set_running();
            }
            heartbeat.mark_idle();
        })
    }

    /// Runs `work`. A panic would lose its state, so it ends the process.
    pub(super) fn spawn_essential(
        &self,
        heartbeat: TaskHeartbeat,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> JoinHandle<()> {
        let failure = self.failure.clone();
        tokio::spawn(async move {
            if AssertUnwindSafe(work).catch_unwind().await.is_err() {
                heartbeat.record_panic();
                heartbeat.set_down("it panicked; the process ends");
                report_failure(&failure, heartbeat.name());
            } else {
                heartbeat.mark_idle();
            }
        })
    }

    /// Waits until a task cannot go on.
    pub(super) async fn wait_for_failure(&self) -> TaskFailure {
        let mut receiver = self.failure.subscribe();
        // The sender lives as long as `self`.
        match receiver.wait_for(Option::is_some).await.map(|failure| *failure) {
            Ok(Some(failure)) => failure,
            _ => std::future::pending().await,
        }
    }
}

fn report_failure(failure: &watch::Sender<Option<TaskFailure>>, name: TaskName) {
    tracing::error!(task = name.label(), "task panicked and cannot go on; the process ends");
    failure.send_if_modified(|current| current.is_none() && current.replace(TaskFailure(name)).is_none());
}

/// A task that starts over with a new future from `start`, without state to keep.
pub(super) struct StatelessTask<F> {
    heartbeat: TaskHeartbeat,
    start: F,
}

impl<F, T> StatelessTask<F>
where
    F: FnMut(TaskHeartbeat) -> T + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    pub(super) fn new(heartbeat: TaskHeartbeat, start: F) -> Self {
        Self { heartbeat, start }
    }
}

impl<F, T> SupervisedTask for StatelessTask<F>
where
    F: FnMut(TaskHeartbeat) -> T + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin((self.start)(self.heartbeat.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_starts_again_and_is_not_healthy_meanwhile() {
        let metrics = Arc::new(Metrics::new());
        let supervisor = Supervisor::new(Arc::clone(&metrics));
        let mut starts = 0;
        let task = StatelessTask::new(supervisor.heartbeat(TaskName::Planner), move |_| {
            starts += 1;
            async move { assert!(starts > 3, "start {starts}") }
        });
        let running = supervisor.spawn(task);
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        assert_eq!(supervisor.registry().problems(), ["planner: it panicked and starts again"]);
        let started = Instant::now();
        running.await.unwrap();
        assert_eq!(supervisor.registry().problems(), [""; 0]);
        assert!(started.elapsed() >= Duration::from_millis(600), "100, 200 and 400 ms less what had passed");
        assert!(metrics.encode().contains("vigie_task_panics_total{task=\"planner\"} 3\n"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_always_panics_and_an_essential_one_end_the_process() {
        let supervisor = Supervisor::new(Arc::new(Metrics::new()));
        let heartbeat = supervisor.heartbeat(TaskName::Planner);
        let task = StatelessTask::new(heartbeat, |_| async { panic!("always") });
        drop(supervisor.spawn(task));
        assert_eq!(supervisor.wait_for_failure().await, TaskFailure(TaskName::Planner));

        let supervisor = Supervisor::new(Arc::new(Metrics::new()));
        let heartbeat = supervisor.heartbeat(TaskName::Runner);
        drop(supervisor.spawn_essential(heartbeat, async { panic!("once") }));
        let failure = supervisor.wait_for_failure().await;
        assert_eq!(
            failure.to_string(),
            "the task `runner` panicked and cannot go on; see the log for the panic"
        );
        assert_eq!(supervisor.registry().problems(), ["runner: it panicked; the process ends"]);
    }
}
