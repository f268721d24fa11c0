//! Tracks whether the parts of the process make progress, for the watchdog and the health endpoints.

use crate::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::systemd;
use crate::agent::RunnerHandle;
use crate::domain::{Location, MonitorId, Timestamp};
use crate::pipeline::Ingestor;
use crate::store::{Commit, Ingest, ResultStore, RollupSpan, StoreFuture};
use crate::telemetry::{Condition, HealthSource};

/// Time between two probes of the parts.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// How long a part may take to respond.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time without a response after which the runner counts as stuck.
const RUNNER_STUCK_AFTER: Duration = Duration::from_secs(30);
/// Duration after which a commit counts as stuck. A full disk or a locked file fails sooner and is retried: a restart
/// would only lose the results queued in memory.
const COMMIT_STUCK_AFTER: Duration = Duration::from_mins(2);

/// Liveness of the process.
pub(super) struct Liveness {
    ingestor: Arc<Ingestor>,
    commits: Arc<TimedIngest>,
    /// The locations, with the last response of their runner.
    last_answers: Mutex<Vec<(String, Instant)>>,
    store: Mutex<Option<String>>,
    /// `None` once monitors are loaded.
    not_loaded_reason: Mutex<Option<String>>,
    draining: AtomicBool,
}

impl Liveness {
    pub(super) fn new(ingestor: Arc<Ingestor>, commits: Arc<TimedIngest>, locations: &[Location]) -> Self {
        let last_responses =
            locations.iter().map(|location| (location.name.clone(), Instant::now())).collect();
        Self {
            ingestor,
            commits,
            last_answers: Mutex::new(last_responses),
            store: Mutex::new(None),
            not_loaded_reason: Mutex::new(Some("the monitors are not loaded yet".to_owned())),
            draining: AtomicBool::new(false),
        }
    }

    /// Records that monitors are planned.
    pub(super) fn set_loaded(&self) {
        *self.not_loaded_reason.lock() = None;
    }

    /// Whether monitors are planned.
    pub(super) fn is_loaded(&self) -> bool {
        self.not_loaded_reason.lock().is_none()
    }

    /// Records that the process shuts down.
    pub(super) fn begin_drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Probes the runners, one for each location, and the store until `stop`, and notifies the watchdog while both make
    /// progress.
    pub(super) async fn run(
        &self,
        runners: Vec<RunnerHandle>,
        results: Arc<dyn ResultStore>,
        stop: CancellationToken,
    ) {
        let probe_interval =
            systemd::watchdog_interval().map_or(PROBE_INTERVAL, |limit| (limit / 3).min(PROBE_INTERVAL));
        while !stop.is_cancelled() {
            let probes = runners.iter().map(|runner| timeout(PROBE_TIMEOUT, runner.stats()));
            for (index, response) in futures::future::join_all(probes).await.into_iter().enumerate() {
                if let (Ok(Ok(_)), Some(last_response)) = (response, self.last_answers.lock().get_mut(index))
                {
                    last_response.1 = Instant::now();
                }
            }
            // A cheap query: no monitor has id 0.
            let (no_monitor, from, thru) =
                (MonitorId(0), Timestamp::from_micros(0), Timestamp::from_micros(1));
            let query = results.rollups(no_monitor, RollupSpan::Day, from, thru);
            *self.store.lock() = match timeout(PROBE_TIMEOUT, query).await {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some(format!("the store did not answer within {} s", PROBE_TIMEOUT.as_secs())),
            };
            if self.liveness().iter().all(|condition| condition.reason.is_none()) {
                systemd::notify_watchdog();
            }
            tokio::select! {
                () = tokio::time::sleep(probe_interval) => {}
                () = stop.cancelled() => {}
            }
        }
    }
}

impl HealthSource for Liveness {
    fn liveness(&self) -> Vec<Condition> {
        let last_responses = self.last_answers.lock();
        let stuck = last_responses.iter().find(|(_, at)| at.elapsed() >= RUNNER_STUCK_AFTER);
        let stuck = stuck.map(|(name, at)| (name.clone(), at.elapsed().as_secs()));
        drop(last_responses);
        let draining = self.draining.load(Ordering::Relaxed);
        let runner = match stuck.filter(|_| !draining) {
            None => Condition::met("runner"),
            Some((name, seconds)) => {
                let error = format!("the runner of location `{name}` has not answered for {seconds} s");
                Condition::unmet("runner", error)
            }
        };
        let commit = match self.commits.running_for() {
            Some(since) if since >= COMMIT_STUCK_AFTER => {
                Condition::unmet("commits", format!("a commit has not ended for {} s", since.as_secs()))
            }
            _ => Condition::met("commits"),
        };
        vec![runner, commit]
    }

    fn readiness(&self) -> Vec<Condition> {
        let draining = self.draining.load(Ordering::Relaxed);
        let serving = draining.then(|| "the process is shutting down".to_owned());
        vec![
            Condition { name: "store", reason: self.store.lock().clone() },
            self.ingestor.health_condition(),
            Condition { name: "monitors", reason: self.not_loaded_reason.lock().clone() },
            Condition { name: "serving", reason: serving },
        ]
    }
}

/// Measures the duration of commits to the store.
pub(super) struct TimedIngest {
    inner: Arc<dyn Ingest>,
    commit_started: Mutex<Option<Instant>>,
}

impl TimedIngest {
    pub(super) fn new(inner: Arc<dyn Ingest>) -> Self {
        Self { inner, commit_started: Mutex::new(None) }
    }

    /// Returns how long the current commit has been in progress; `None` without one.
    fn running_for(&self) -> Option<Duration> {
        self.commit_started.lock().map(|started| started.elapsed())
    }
}

impl Ingest for TimedIngest {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            *self.commit_started.lock() = Some(Instant::now());
            let outcome = self.inner.commit(commit).await;
            *self.commit_started.lock() = None;
            outcome
        })
    }
}
