//! Ingestion of results into the store: states, batches, store errors and draining.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use vigie::bus::contract::ResultReceiver;
use vigie::domain::{CheckResult, MonitorId, Outcome, Timestamp};
use vigie::pipeline::{IngestSettings, Ingestor, next_monitor_state};
use vigie::store::{Ingest, IngestBatch, MonitorLocationState, ResultStore, StoreError, StoreFuture};
use vigie::telemetry::Metrics;

use crate::store::samples::{all, at, error, missed, ok, sqlite};

/// A store that fails with the queued errors and records the commits that it accepts.
struct ScriptedStore {
    errors: Mutex<VecDeque<StoreError>>,
    accepted: Mutex<Vec<IngestBatch>>,
    /// One permit per commit.
    gate: tokio::sync::Semaphore,
}

impl ScriptedStore {
    fn with(errors: impl IntoIterator<Item = StoreError>) -> Arc<Self> {
        Arc::new(Self {
            errors: Mutex::new(errors.into_iter().collect()),
            accepted: Mutex::default(),
            gate: tokio::sync::Semaphore::new(0),
        })
    }
}

impl Ingest for ScriptedStore {
    fn commit_shared(&self, commit: Arc<IngestBatch>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            if let Some(error) = self.errors.lock().unwrap().pop_front() {
                return Err(error);
            }
            self.accepted.lock().unwrap().push(Arc::unwrap_or_clone(commit));
            Ok(())
        })
    }
}

fn start(store: Arc<dyn Ingest>, settings: IngestSettings) -> (Ingestor, Arc<Metrics>) {
    let metrics = Arc::new(Metrics::new());
    (Ingestor::start(store, metrics.clone(), vec![], settings), metrics)
}

#[tokio::test]
async fn results_and_states_reach_the_store_in_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(sqlite(folder.path()));
    let before = next_monitor_state(None, &error(1, at(-60))).unwrap();
    let metrics = Arc::new(Metrics::new());
    let ingestor = Ingestor::start(store.clone(), metrics, vec![before], IngestSettings::default());
    for minute in 0..50 {
        ingestor.submit(error(1, at(minute * 60))).await;
        ingestor.submit(ok(2, at(minute * 60), 10)).await;
    }
    assert_eq!(ingestor.drain(Duration::from_secs(20)).await, 0);
    assert_eq!(all(&*store).await.len(), 100);
    let states = store.location_states().await.unwrap();
    assert_eq!(states.len(), 2);
    assert_eq!(
        (states[0].streak_started_at, states[0].streak, states[0].planned_at),
        (at(-60), 51, at(49 * 60))
    );
    assert_eq!((states[1].streak_started_at, states[1].streak, states[1].outcome), (at(0), 50, Outcome::Ok));
}

#[test]
fn states_follow_results() {
    type Expected = (Timestamp, Timestamp, Outcome, u32);
    let cases: [(&str, Vec<CheckResult>, Expected); 7] = [
        ("the first", vec![ok(1, at(0), 1)], (at(0), at(0), Outcome::Ok, 1)),
        ("a series", vec![ok(1, at(0), 1), ok(1, at(60), 1)], (at(0), at(60), Outcome::Ok, 2)),
        ("a change", vec![ok(1, at(0), 1), error(1, at(60))], (at(60), at(60), Outcome::Error, 1)),
        ("late news", vec![ok(1, at(60), 1), error(1, at(0))], (at(60), at(60), Outcome::Ok, 1)),
        ("a repeat", vec![ok(1, at(60), 1), ok(1, at(60), 1)], (at(60), at(60), Outcome::Ok, 1)),
        (
            "missed runs",
            vec![missed(1, at(0), 5, 60), missed(1, at(300), 2, 60)],
            (at(0), at(360), Outcome::Missed, 7),
        ),
        (
            "a real one for the missed one",
            vec![missed(1, at(0), 1, 60), ok(1, at(0), 4)],
            (at(0), at(0), Outcome::Ok, 1),
        ),
    ];
    for (name, results, expected) in cases {
        let mut state: Option<MonitorLocationState> = None;
        for result in &results {
            state = next_monitor_state(state.as_ref(), result).or(state);
        }
        let state = state.unwrap();
        assert_eq!(
            (state.streak_started_at, state.planned_at, state.outcome, state.streak),
            expected,
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn failed_commits_are_retried_and_lose_no_result() {
    let full = || StoreError::DiskFull("`vigie.db`".to_owned());
    let store = ScriptedStore::with(vec![full(); 40]);
    store.gate.add_permits(1000);
    let (ingestor, metrics) = start(store.clone(), IngestSettings::default());
    ingestor.submit(ok(1, at(0), 1)).await;
    ingestor.submit(ok(1, at(60), 1)).await;
    assert!(ingestor.health_condition().unmet_reason.is_none());
    assert_eq!(ingestor.drain(Duration::from_hours(1)).await, 0);
    let accepted = store.accepted.lock().unwrap();
    assert_eq!(accepted.iter().map(|commit| commit.results.len()).sum::<usize>(), 2);
    assert!(metrics.encode().contains("vigie_store_commit_errors_total{kind=\"full\"} 40"));
    assert!(ingestor.health_condition().unmet_reason.is_none(), "it recovered");
}

#[tokio::test(start_paused = true)]
async fn results_in_quick_succession_share_commits_and_a_single_one_does_not_wait() {
    let store = ScriptedStore::with([]);
    store.gate.add_permits(1000);
    let (ingestor, _) = start(store.clone(), IngestSettings::default());
    let started = tokio::time::Instant::now();
    ingestor.submit(ok(1, at(0), 1)).await;
    while store.accepted.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(started.elapsed() < Duration::from_millis(2), "the first one waited {:?}", started.elapsed());
    for millisecond in 1..=100 {
        ingestor.submit(ok(1, at(millisecond), 1)).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(ingestor.drain(Duration::from_secs(1)).await, 0);
    let accepted = store.accepted.lock().unwrap();
    assert_eq!(accepted.iter().map(|commit| commit.results.len()).sum::<usize>(), 101);
    assert!((5..=8).contains(&accepted.len()), "{} commits in 100 ms, one each 20 ms", accepted.len());
}

#[tokio::test(start_paused = true)]
async fn an_unusable_store_makes_ingestion_unhealthy_until_it_recovers() {
    let store = ScriptedStore::with([StoreError::Unusable("`vigie.db` is damaged".to_owned())]);
    let (ingestor, _) = start(store.clone(), IngestSettings::default());
    ingestor.submit(ok(1, at(0), 1)).await;
    store.gate.add_permits(1);
    while ingestor.health_condition().unmet_reason.is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(ingestor.health_condition().unmet_reason.unwrap().contains("damaged"));
    store.gate.add_permits(1);
    while ingestor.health_condition().unmet_reason.is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(store.accepted.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_waiting_results_is_bounded() {
    let store = ScriptedStore::with([]);
    let settings = IngestSettings { queue_capacity: 3, max_batch_results: 2, ..IngestSettings::default() };
    let (ingestor, _) = start(store.clone(), settings);
    let ingestor = Arc::new(ingestor);
    let mut accepted = 0;
    while tokio::time::timeout(Duration::from_secs(1), ingestor.submit(ok(1, at(accepted), 1))).await.is_ok()
    {
        accepted += 1;
        assert!(accepted < 100, "take never waits");
    }
    assert!(
        (3..=7).contains(&accepted),
        "{accepted} taken: a queue of 3, and batches of at most 2: one that is written, one that is worked out"
    );
    store.gate.add_permits(1000);
    assert_eq!(ingestor.drain(Duration::from_mins(1)).await, 0);
    let stored: usize = store.accepted.lock().unwrap().iter().map(|commit| commit.results.len()).sum();
    assert_eq!(i64::try_from(stored).unwrap(), accepted);
}

#[tokio::test(start_paused = true)]
async fn draining_gives_up_after_its_limit_and_returns_the_number_of_lost_results() {
    let store = ScriptedStore::with(std::iter::repeat_n(StoreError::Locked("held".to_owned()), 10_000));
    store.gate.add_permits(10_000);
    let (ingestor, _) = start(store, IngestSettings::default());
    for second in 0..7 {
        ingestor.submit(ok(1, at(second), 1)).await;
    }
    assert_eq!(ingestor.drain(Duration::from_secs(10)).await, 7);
}

#[tokio::test]
async fn what_arrives_after_draining_is_not_reported_as_committed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(sqlite(folder.path()));
    let (ingestor, _) = start(store.clone(), IngestSettings::default());
    ingestor.submit(ok(1, at(0), 5)).await;
    ingestor.wait_until_committed().await;
    assert_eq!(ingestor.drain(Duration::from_secs(20)).await, 0);
    assert!(ingestor.wait_until_committed().now_or_never().is_some(), "all of it is stored");
    // NATS keeps what is not acknowledged for the next process.
    ingestor.submit(ok(1, at(60), 5)).await;
    assert!(ingestor.wait_until_committed().now_or_never().is_none(), "the result would be lost");
    assert_eq!(all(&*store).await.len(), 1);
}

#[tokio::test]
async fn a_monitor_whose_states_are_removed_starts_with_a_new_state() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(sqlite(folder.path()));
    let (ingestor, _) = start(store.clone(), IngestSettings::default());
    ingestor.submit(ok(1, at(0), 1)).await;
    while all(&*store).await.is_empty() {
        tokio::task::yield_now().await;
    }
    ingestor.remove_monitor_states(&[MonitorId(1)]);
    ingestor.submit(ok(1, at(60), 1)).await;
    ingestor.drain(Duration::from_secs(20)).await;
    assert_eq!(store.location_states().await.unwrap()[0].streak, 1);
}

#[tokio::test]
async fn results_waiting_for_the_queue_are_counted_as_lost_too() {
    let store = ScriptedStore::with([]);
    let settings = IngestSettings { queue_capacity: 2, max_batch_results: 1, ..IngestSettings::default() };
    let (ingestor, metrics) = start(store, settings);
    let ingestor = Arc::new(ingestor);
    for minute in 0..5 {
        let ingestor = ingestor.clone();
        tokio::spawn(async move { ingestor.submit(ok(1, at(60 * minute), 5)).await });
    }
    while !metrics.encode().contains("vigie_ingest_queued_results 5\n") {
        tokio::task::yield_now().await;
    }
    assert_eq!(ingestor.drain(Duration::from_millis(50)).await, 5);
}

#[tokio::test]
async fn waiting_captures_are_bounded_and_results_are_stored_without_them() {
    let store = ScriptedStore::with([]);
    let settings = IngestSettings { max_capture_bytes: 2500, ..IngestSettings::default() };
    let (ingestor, _) = start(store.clone(), settings);
    let failed_result = |minute: i64| {
        let mut result = error(1, at(minute * 60));
        result.captures = vec![vigie::domain::CapturedFile::new("a.txt", "text/plain", &[7; 1000])];
        result
    };
    for minute in 0..5 {
        ingestor.submit(failed_result(minute)).await;
    }
    store.gate.add_permits(1000);
    tokio::time::timeout(Duration::from_secs(20), async {
        while store.accepted.lock().unwrap().iter().map(|commit| commit.results.len()).sum::<usize>() < 5 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    // The queued captures are stored, so new ones fit again.
    ingestor.submit(failed_result(5)).await;
    assert_eq!(ingestor.drain(Duration::from_secs(20)).await, 0);
    let accepted = store.accepted.lock().unwrap();
    let stored: Vec<_> =
        accepted.iter().flat_map(|commit| &commit.results).map(|r| r.captures.len()).collect();
    assert_eq!(stored, [1, 1, 0, 0, 0, 1]);
}
