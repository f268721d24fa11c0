//! First checks in the store: kept as results, and in no statistics.

use std::sync::Arc;
use std::time::Duration;

use vigie::domain::{CheckResult, CheckTrigger, MonitorId, Outcome, Timestamp};
use vigie::pipeline::{IngestSettings, Ingestor, next_monitor_state};
use vigie::store::{
    Housekeeping, Ingest, IngestBatch, NewestResultQuery, ResultStore, RollupSpan, SampleStore,
};
use vigie::telemetry::Metrics;

use crate::store::samples::{HOME, HOUR, all, assert_whole, at, error, missed, ok, sqlite};

fn first(result: CheckResult) -> CheckResult {
    CheckResult { trigger: CheckTrigger::First, ..result }
}

#[tokio::test]
async fn they_are_results_outside_of_samples_means_rollups_and_baselines() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let results = vec![
        first(ok(1, at(10), 5_000_000)),
        ok(1, at(60), 1000),
        first(error(1, at(70))),
        ok(1, at(120), 3000),
        first(ok(1, at(121), 9_000_000)),
        // The only one of its hour.
        first(error(1, at(2 * HOUR))),
    ];
    let batch = IngestBatch { results: results.clone(), ..IngestBatch::default() };
    store.commit_shared(Arc::new(batch)).await.unwrap();
    let mut stored = all(&store).await;
    stored.reverse();
    assert_eq!(stored, results);
    for result in &results {
        assert_eq!(store.result(result.check_id).await.unwrap().as_ref(), Some(result));
    }
    let monitor = MonitorId(1);
    let samples = store.samples(monitor, at(0), at(9 * HOUR), 100).await.unwrap();
    assert_eq!(samples.iter().map(|sample| sample.planned_at).collect::<Vec<_>>(), [at(60), at(120)]);
    assert_eq!(store.oldest_planned_at(monitor).await.unwrap(), Some(at(60)));
    let means = store.mean_durations(monitor, at(0), at(9 * HOUR)).await.unwrap();
    assert_eq!((means.len(), means[0].check_count, means[0].sum_us), (1, 2, 4000));
    let query = NewestResultQuery { monitor_id: monitor, location_id: HOME, only_passed: true, until: None };
    let newest = store.newest_results(vec![query]).await.unwrap().remove(0).unwrap();
    assert_eq!(newest.planned_at, at(120));
    store.roll_up(at(30 * HOUR)).await.unwrap();
    for span in [RollupSpan::Hour, RollupSpan::Day] {
        let rollups = store.rollups(monitor, span, at(0), at(30 * HOUR)).await.unwrap();
        let runs: Vec<_> = rollups.iter().map(|rollup| rollup.runs_by_outcome).collect();
        assert_eq!(runs, [[2, 0, 0, 0, 0, 0]], "{span:?}");
    }
    store.close().await;
    assert_whole(folder.path());
}

/// Returns the state after `results`, in their order.
fn state_after(results: &[CheckResult]) -> vigie::store::MonitorLocationState {
    let next = |state: Option<_>, result| next_monitor_state(state.as_ref(), result).or(state);
    results.iter().fold(None, next).unwrap()
}

#[test]
fn they_are_the_state_and_cover_no_slot() {
    let state = state_after(&[first(error(1, at(10)))]);
    assert_eq!((state.outcome, state.planned_at, state.last_slot_at), (Outcome::Error, at(10), None));
    assert!(state.last_was_first_check());
    let state = state_after(&[ok(1, at(60), 5), first(error(1, at(70)))]);
    assert_eq!((state.outcome, state.last_slot_at), (Outcome::Error, Some(at(60))));
    let state = state_after(&[ok(1, at(60), 5), first(error(1, at(70))), ok(1, at(120), 5)]);
    assert_eq!((state.outcome, state.last_slot_at), (Outcome::Ok, Some(at(120))));
    assert!(!state.last_was_first_check());
    // The first check of a change comes after a later run, and before an earlier one.
    let state = state_after(&[ok(1, at(120), 5), first(error(1, at(70)))]);
    assert_eq!((state.outcome, state.last_slot_at), (Outcome::Ok, Some(at(120))));
    let state = state_after(&[ok(1, at(0), 5), first(error(1, at(70))), ok(1, at(60), 5)]);
    assert_eq!((state.outcome, state.planned_at, state.last_slot_at), (Outcome::Error, at(70), Some(at(60))));
    let state = state_after(&[first(ok(1, at(70), 5)), missed(1, at(0), 2, 60)]);
    assert_eq!((state.outcome, state.last_slot_at), (Outcome::Ok, Some(at(60))), "recorded as missed");
}

#[tokio::test]
async fn states_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let of = |monitor: i64, at: Timestamp| first(ok(monitor, at, 5));
    let expected = {
        let store = Arc::new(sqlite(folder.path()));
        let settings = IngestSettings::default();
        let ingestor = Ingestor::start(store.clone(), Arc::new(Metrics::new()), vec![], settings);
        for result in [ok(1, at(60), 5), of(1, at(70)), of(2, at(70)), ok(3, at(60), 5)] {
            ingestor.submit(result).await;
        }
        assert_eq!(ingestor.drain(Duration::from_secs(20)).await, 0);
        let states = store.location_states().await.unwrap();
        store.close().await;
        states
    };
    let slots: Vec<_> = expected.iter().map(|state| state.last_slot_at).collect();
    assert_eq!(slots, [Some(at(60)), None, Some(at(60))]);
    let store = sqlite(folder.path());
    assert_eq!(store.location_states().await.unwrap(), expected);
}
