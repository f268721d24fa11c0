//! Tracks whether the parts of the process make progress, for the watchdog and the health endpoints.

use crate::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::location_agents::LocationAgents;
use super::systemd;
use crate::domain::{Location, LocationId, MonitorId, Timestamp};
use crate::pipeline::Ingestor;
use crate::store::{Ingest, IngestBatch, ResultStore, RollupSpan, StoreFuture};
use crate::telemetry::{HealthCondition, HealthSource, TaskHeartbeat, TaskRegistry};

/// Time between two polls of the parts.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How long a part may take to respond.
const POLL_TIMEOUT: Duration = Duration::from_secs(10);
/// Time without a response after which the runner counts as stuck.
const RUNNER_STUCK_AFTER: Duration = Duration::from_secs(30);
/// Duration after which a commit counts as stuck. A full disk or a locked file fails sooner and is retried: a restart
/// would only lose the results queued in memory.
const COMMIT_STUCK_AFTER: Duration = Duration::from_mins(2);

/// Liveness of the process.
pub(super) struct Liveness {
    ingestor: Arc<Ingestor>,
    timed_ingest: Arc<TimedIngest>,
    tasks: Arc<TaskRegistry>,
    /// Id and name of each location, with the time of the last response of its runner.
    last_runner_responses: Mutex<Vec<(LocationId, String, Instant)>>,
    store_error: Mutex<Option<String>>,
    /// `None` once monitors are loaded.
    not_loaded_reason: Mutex<Option<String>>,
    is_draining: AtomicBool,
}

impl Liveness {
    pub(super) fn new(
        ingestor: Arc<Ingestor>,
        timed_ingest: Arc<TimedIngest>,
        tasks: Arc<TaskRegistry>,
        locations: &[Location],
    ) -> Self {
        let last_responses =
            locations.iter().map(|location| (location.id, location.name.clone(), Instant::now())).collect();
        Self {
            ingestor,
            timed_ingest,
            tasks,
            last_runner_responses: Mutex::new(last_responses),
            store_error: Mutex::new(None),
            not_loaded_reason: Mutex::new(Some("the monitors are not loaded yet".to_owned())),
            is_draining: AtomicBool::new(false),
        }
    }

    /// Records that the monitors are loaded and planned.
    pub(super) fn set_loaded(&self) {
        *self.not_loaded_reason.lock() = None;
    }

    /// Whether monitors are planned.
    pub(super) fn is_loaded(&self) -> bool {
        self.not_loaded_reason.lock().is_none()
    }

    /// Records which of the current runners responded; forgets those of locations that are gone.
    fn record_runner_responses<'a>(&self, responses: impl Iterator<Item = (&'a Location, bool)>) {
        let mut last_responses = self.last_runner_responses.lock();
        let earlier = std::mem::take(&mut *last_responses);
        *last_responses = responses
            .map(|(location, has_responded)| {
                let last = earlier.iter().find(|(id, ..)| *id == location.id).filter(|_| !has_responded);
                (location.id, location.name.clone(), last.map_or_else(Instant::now, |(.., at)| *at))
            })
            .collect();
    }

    /// Records that the process shuts down.
    pub(super) fn begin_drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Polls the runners, one for each location, and the store until `stop`, and notifies the watchdog while both make
    /// progress.
    pub(super) async fn run(
        &self,
        agents: Arc<LocationAgents>,
        results: Arc<dyn ResultStore>,
        stop: CancellationToken,
        heartbeat: TaskHeartbeat,
    ) {
        let poll_interval = systemd::watchdog_timeout()
            .map_or(POLL_INTERVAL, |watchdog_timeout| (watchdog_timeout / 3).min(POLL_INTERVAL));
        while !stop.is_cancelled() {
            // A poll of the runners and one of the store.
            heartbeat.mark_idle_for(POLL_TIMEOUT * 2 + poll_interval);
            let current_agents = agents.current();
            let polls =
                current_agents.iter().map(|one| timeout(POLL_TIMEOUT, one.agent.runner().current_stats()));
            let responses = futures::future::join_all(polls).await;
            self.record_runner_responses(
                current_agents
                    .iter()
                    .zip(responses)
                    .map(|(hosted, response)| (hosted.agent.location(), matches!(response, Ok(Ok(_))))),
            );
            // A cheap query: no monitor has id 0.
            let (nonexistent_monitor, from, until) =
                (MonitorId(0), Timestamp::from_micros(0), Timestamp::from_micros(1));
            let query = results.rollups(nonexistent_monitor, RollupSpan::Day, from, until);
            *self.store_error.lock() = match timeout(POLL_TIMEOUT, query).await {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some(format!("the store did not respond within {} s", POLL_TIMEOUT.as_secs())),
            };
            if self.liveness().iter().all(|condition| condition.unmet_reason.is_none()) {
                systemd::notify_watchdog();
            }
            tokio::select! {
                () = tokio::time::sleep(poll_interval) => {}
                () = stop.cancelled() => {}
            }
        }
    }
}

impl HealthSource for Liveness {
    fn liveness(&self) -> Vec<HealthCondition> {
        let last_responses = self.last_runner_responses.lock();
        let stuck_runner = last_responses.iter().find(|(.., at)| at.elapsed() >= RUNNER_STUCK_AFTER);
        let stuck_runner = stuck_runner.map(|(_, name, at)| (name.clone(), at.elapsed().as_secs()));
        drop(last_responses);
        let is_draining = self.is_draining.load(Ordering::Relaxed);
        let runner_condition = match stuck_runner.filter(|_| !is_draining) {
            None => HealthCondition::met("runner"),
            Some((name, seconds)) => {
                let error = format!("the runner of location `{name}` has not responded for {seconds} s");
                HealthCondition::unmet("runner", error)
            }
        };
        let commit_condition = match self.timed_ingest.current_commit_duration() {
            Some(running) if running >= COMMIT_STUCK_AFTER => HealthCondition::unmet(
                "commits",
                format!("a commit has not ended for {} s", running.as_secs()),
            ),
            _ => HealthCondition::met("commits"),
        };
        let task_faults = self.tasks.problems();
        let task_condition = HealthCondition {
            name: "tasks",
            unmet_reason: (!task_faults.is_empty()).then(|| task_faults.join("; ")),
        };
        vec![runner_condition, commit_condition, task_condition]
    }

    fn readiness(&self) -> Vec<HealthCondition> {
        let is_draining = self.is_draining.load(Ordering::Relaxed);
        let shutdown_reason = is_draining.then(|| "the process is shutting down".to_owned());
        vec![
            HealthCondition { name: "store", unmet_reason: self.store_error.lock().clone() },
            self.ingestor.health_condition(),
            HealthCondition { name: "monitors", unmet_reason: self.not_loaded_reason.lock().clone() },
            HealthCondition { name: "serving", unmet_reason: shutdown_reason },
        ]
    }
}

/// Measures the duration of commits to the store.
pub(super) struct TimedIngest {
    inner: Arc<dyn Ingest>,
    commit_started_at: Mutex<Option<Instant>>,
}

impl TimedIngest {
    pub(super) fn new(inner: Arc<dyn Ingest>) -> Self {
        Self { inner, commit_started_at: Mutex::new(None) }
    }

    /// Returns how long the current commit has been in progress; `None` without one.
    fn current_commit_duration(&self) -> Option<Duration> {
        self.commit_started_at.lock().map(|started| started.elapsed())
    }
}

impl Ingest for TimedIngest {
    fn commit_shared(&self, batch: Arc<IngestBatch>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            *self.commit_started_at.lock() = Some(Instant::now());
            let outcome = self.inner.commit_shared(batch).await;
            *self.commit_started_at.lock() = None;
            outcome
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LocationId;
    use crate::pipeline::IngestSettings;
    use crate::store::{SqliteSettings, SqliteStore};
    use crate::telemetry::{Metrics, TaskName};

    /// Commits never end while `gate` has no permit.
    struct GatedIngest(tokio::sync::Semaphore);

    impl Ingest for GatedIngest {
        fn commit_shared(&self, _: Arc<IngestBatch>) -> StoreFuture<'_, ()> {
            Box::pin(async {
                self.0.acquire().await.expect("the gate stays").forget();
                Ok(())
            })
        }
    }

    struct Fixture {
        gate: Arc<GatedIngest>,
        commits: Arc<TimedIngest>,
        liveness: Arc<Liveness>,
    }

    fn fixture() -> Fixture {
        let gate = Arc::new(GatedIngest(tokio::sync::Semaphore::new(0)));
        let commits = Arc::new(TimedIngest::new(gate.clone()));
        let metrics = Arc::new(Metrics::new());
        let ingestor = Arc::new(Ingestor::start(
            commits.clone(),
            metrics.clone(),
            Vec::new(),
            IngestSettings::default(),
        ));
        let paris = Location { id: LocationId(1), name: "paris".to_owned(), region_code: 0 };
        let liveness = Arc::new(Liveness::new(
            ingestor,
            commits.clone(),
            Arc::new(TaskRegistry::new(metrics)),
            &[paris],
        ));
        Fixture { gate, commits, liveness }
    }

    /// The reasons of unmet conditions.
    fn unmet(conditions: Vec<HealthCondition>) -> Vec<String> {
        conditions
            .into_iter()
            .filter_map(|condition| Some(format!("{}: {}", condition.name, condition.unmet_reason?)))
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_runner_without_an_answer_is_stuck_after_thirty_seconds() {
        let Fixture { liveness, .. } = fixture();
        tokio::time::advance(Duration::from_millis(29_999)).await;
        assert_eq!(unmet(liveness.liveness()), [""; 0]);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(
            unmet(liveness.liveness()),
            ["runner: the runner of location `paris` has not responded for 30 s"]
        );
        // Runners end in a shutdown.
        liveness.begin_drain();
        assert_eq!(unmet(liveness.liveness()), [""; 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_that_does_not_end_is_stuck_after_two_minutes() {
        let Fixture { gate, commits, liveness } = fixture();
        let commit = tokio::spawn(async move { commits.commit(IngestBatch::default()).await });
        // Lets the commit start.
        tokio::time::sleep(Duration::from_millis(1)).await;
        liveness.last_runner_responses.lock().clear();
        tokio::time::advance(COMMIT_STUCK_AFTER).await;
        assert_eq!(unmet(liveness.liveness()), ["commits: a commit has not ended for 120 s"]);
        gate.0.add_permits(1);
        commit.await.expect("no panic").expect("it ends");
        assert_eq!(unmet(liveness.liveness()), [""; 0]);
    }

    #[tokio::test]
    async fn readiness_follows_loading_and_shutdown() {
        let Fixture { liveness, .. } = fixture();
        assert_eq!(unmet(liveness.readiness()), ["monitors: the monitors are not loaded yet"]);
        assert!(!liveness.is_loaded());
        liveness.set_loaded();
        assert!(liveness.is_loaded());
        assert_eq!(unmet(liveness.readiness()), [""; 0]);
        liveness.begin_drain();
        assert_eq!(unmet(liveness.readiness()), ["serving: the process is shutting down"]);
    }

    #[tokio::test]
    async fn readiness_names_the_error_of_the_store() {
        let Fixture { liveness, .. } = fixture();
        liveness.set_loaded();
        let folder = tempfile::tempdir().expect("a folder");
        let store = SqliteStore::open(&folder.path().join("vigie.db"), &SqliteSettings::default());
        let store = Arc::new(store.expect("it opens"));
        store.close().await;
        let (stop, polled_liveness) = (CancellationToken::new(), Arc::clone(&liveness));
        let running = tokio::spawn({
            let stop = stop.clone();
            async move {
                polled_liveness
                    .run(Arc::default(), store, stop, TaskHeartbeat::unwatched(TaskName::Liveness))
                    .await;
            }
        });
        while unmet(liveness.readiness()).is_empty() {
            tokio::task::yield_now().await;
        }
        let unmet = unmet(liveness.readiness());
        assert!(unmet[0].starts_with("store: "), "{unmet:?}");
        stop.cancel();
        running.await.expect("it ends once it is stopped");
    }
}
