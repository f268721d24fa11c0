//! Health of the long-running tasks: a heartbeat while there is work, panics, and tasks that have ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::metrics::Metrics;
use super::task_name::TaskName;
use crate::sync::Mutex;

/// Time without a heartbeat after which a task with work counts as stuck. With the two seconds between two probes of
/// the health, nothing stays green for 30 seconds.
pub const STUCK_AFTER: Duration = Duration::from_secs(20);

/// Due time of a task that waits for work without limit.
const NEVER: u64 = u64::MAX;

/// The long-running tasks of the process, for its health.
#[derive(Debug)]
pub struct TaskRegistry {
    metrics: Arc<Metrics>,
    started_at: Instant,
    tasks: Mutex<Vec<Arc<TaskState>>>,
}

impl TaskRegistry {
    /// Creates a registry without tasks, which counts panics in `metrics`.
    #[must_use]
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics, started_at: Instant::now(), tasks: Mutex::default() }
    }

    /// Adds a task, which waits for work until its first heartbeat.
    #[must_use]
    pub fn register(&self, name: TaskName) -> TaskHeartbeat {
        let state = Arc::new(TaskState::new(name, self.started_at));
        self.tasks.lock().push(Arc::clone(&state));
        TaskHeartbeat { state, metrics: Some(Arc::clone(&self.metrics)) }
    }

    /// Returns what is wrong with the tasks; empty when all of them work or wait for work.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let now = Instant::now();
        self.tasks.lock().iter().filter_map(|task| task.problem(now)).collect()
    }
}

/// Whether a task makes progress, written by the task itself. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TaskHeartbeat {
    state: Arc<TaskState>,
    metrics: Option<Arc<Metrics>>,
}

#[derive(Debug)]
struct TaskState {
    name: TaskName,
    /// Start of the registry, or of a task without one; times of the task are measured from here.
    reference_instant: Instant,
    /// When the task counts as stuck unless it beats before, in milliseconds since `reference_instant`.
    overdue_at: AtomicU64,
    /// Why the task does not run at present.
    down_reason: Mutex<Option<String>>,
}

impl TaskState {
    fn new(name: TaskName, reference_instant: Instant) -> Self {
        Self { name, reference_instant, overdue_at: AtomicU64::new(NEVER), down_reason: Mutex::default() }
    }

    /// Returns what is wrong with the task at `now`; `None` when it works or waits for work.
    fn problem(&self, now: Instant) -> Option<String> {
        if let Some(reason) = &*self.down_reason.lock() {
            return Some(format!("{}: {reason}", self.name.label()));
        }
        let overdue_at = self.overdue_at.load(Ordering::Relaxed);
        let overdue_ms = self.millis_since_reference(now).checked_sub(overdue_at)?;
        let seconds = STUCK_AFTER.as_secs() + overdue_ms / 1000;
        Some(format!("{}: no progress for {seconds} s", self.name.label()))
    }

    fn millis_since_reference(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.reference_instant).as_millis()).unwrap_or(NEVER - 1)
    }
}

impl TaskHeartbeat {
    /// Creates a heartbeat that nobody watches, for a task outside of the server.
    #[must_use]
    pub fn unwatched(name: TaskName) -> Self {
        Self { state: Arc::new(TaskState::new(name, Instant::now())), metrics: None }
    }

    /// Returns the name of the task.
    #[must_use]
    pub fn name(&self) -> TaskName {
        self.state.name
    }

    /// Records that the task works; the next call must follow within [`STUCK_AFTER`].
    pub fn beat(&self) {
        self.mark_idle_for(Duration::ZERO);
    }

    /// Records that the task waits for work, however long that takes.
    pub fn mark_idle(&self) {
        self.state.overdue_at.store(NEVER, Ordering::Relaxed);
    }

    /// Records that the task waits for work, at most for `longest`.
    pub fn mark_idle_for(&self, longest: Duration) {
        let overdue_at = self.state.millis_since_reference(Instant::now() + longest + STUCK_AFTER);
        self.state.overdue_at.store(overdue_at, Ordering::Relaxed);
    }

    /// Runs `work`. Each step that it makes counts as a heartbeat, so that it may take long, but not hang.
    pub async fn watch<F: Future>(&self, work: F) -> F::Output {
        let mut work = std::pin::pin!(work);
        let output = std::future::poll_fn(|context| {
            self.beat();
            work.as_mut().poll(context)
        })
        .await;
        self.mark_idle();
        output
    }

    /// Counts a panic of the task. The panic hook has logged its message and place.
    pub fn record_panic(&self) {
        if let Some(metrics) = &self.metrics {
            metrics.record_task_panic(self.state.name);
        }
    }

    /// Records that the task does not run at present because of `reason`, until [`Self::set_running`].
    pub fn set_down(&self, reason: impl Into<String>) {
        *self.state.down_reason.lock() = Some(reason.into());
    }

    /// Records that the task runs again.
    pub fn set_running(&self) {
        *self.state.down_reason.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_is_stuck_only_while_it_has_work() {
        let registry = TaskRegistry::new(Arc::new(Metrics::new()));
        let heartbeat = registry.register(TaskName::Delivery);
        tokio::time::advance(Duration::from_hours(1)).await;
        assert_eq!(registry.problems(), [""; 0], "it waits for its first work");
        heartbeat.beat();
        tokio::time::advance(STUCK_AFTER.saturating_sub(Duration::from_millis(1))).await;
        assert_eq!(registry.problems(), [""; 0]);
        tokio::time::advance(Duration::from_millis(1001)).await;
        assert_eq!(registry.problems(), ["delivery: no progress for 21 s"]);
        heartbeat.mark_idle_for(Duration::from_mins(1));
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(registry.problems(), [""; 0]);
        tokio::time::advance(STUCK_AFTER).await;
        assert_eq!(registry.problems().len(), 1, "a wait with an end that has passed");
        heartbeat.mark_idle();
        assert_eq!(registry.problems(), [""; 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn watched_work_may_take_long_but_not_hang() {
        let registry = Arc::new(TaskRegistry::new(Arc::new(Metrics::new())));
        let heartbeat = registry.register(TaskName::Housekeeping);
        heartbeat
            .watch(async {
                for _ in 0..60 {
                    tokio::time::sleep(STUCK_AFTER / 2).await;
                    assert_eq!(registry.problems(), [""; 0]);
                }
            })
            .await;
        tokio::time::advance(STUCK_AFTER * 2).await;
        assert_eq!(registry.problems(), [""; 0], "it has ended");
        let hanging = tokio::spawn(async move { heartbeat.watch(std::future::pending::<()>()).await });
        tokio::time::sleep(STUCK_AFTER * 2).await;
        assert_eq!(registry.problems(), ["housekeeping: no progress for 40 s"]);
        hanging.abort();
    }

    #[tokio::test]
    async fn a_task_that_is_down_says_why() {
        let metrics = Arc::new(Metrics::new());
        let registry = TaskRegistry::new(Arc::clone(&metrics));
        let heartbeat = registry.register(TaskName::Planner);
        heartbeat.record_panic();
        heartbeat.set_down("it panicked and starts again in 1 s");
        assert_eq!(registry.problems(), ["planner: it panicked and starts again in 1 s"]);
        heartbeat.set_running();
        assert_eq!(registry.problems(), [""; 0]);
        let text = metrics.encode();
        assert!(text.contains("vigie_task_panics_total{task=\"planner\"} 1\n"), "{text}");
        assert!(text.contains("vigie_task_panics_total{task=\"ingest\"} 0\n"), "{text}");
    }
}
