//! Series of missed runs in which results of checks take the place of single runs, and the search for recorded runs.

use vigie::domain::{CheckResult, CheckTrigger, LocationId, MonitorId, Outcome, Timestamp};
use vigie::store::PlannedRuns;

use crate::store::samples::{HOME, MINUTE, all, at, commit_results, error, missed, ok};
use crate::store::suite::Store;

/// Returns planned time, outcome, number of runs and planned time of the last one of each result, oldest first.
async fn runs(store: &impl Store) -> Vec<(Timestamp, Outcome, u32, Timestamp)> {
    let to_run = |result: &CheckResult| {
        let last = result.missed.map_or(result.planned_at, |missed| missed.last_planned_at);
        (result.planned_at, result.outcome, result.run_count(), last)
    };
    let mut runs: Vec<_> = all(store).await.iter().map(to_run).collect();
    runs.sort_by_key(|run| run.0);
    runs
}

fn minute(number: i64) -> Timestamp {
    at(number * MINUTE)
}

fn series(first: i64, last: i64) -> (Timestamp, Outcome, u32, Timestamp) {
    (minute(first), Outcome::Missed, u32::try_from(last - first + 1).unwrap(), minute(last))
}

fn check(number: i64) -> (Timestamp, Outcome, u32, Timestamp) {
    (minute(number), Outcome::Ok, 1, minute(number))
}

pub async fn a_result_takes_the_place_of_a_run_in_a_series(store: &impl Store) {
    commit_results(store, vec![missed(1, minute(0), 10, 60), missed(2, minute(0), 10, 60)]).await;
    commit_results(store, vec![ok(1, minute(4), 5)]).await;
    let left: Vec<CheckResult> =
        all(store).await.into_iter().filter(|result| result.monitor_id == MonitorId(1)).collect();
    assert_eq!(left.len(), 3);
    for part in [&left[0], &left[2]] {
        assert_eq!(part.reasons, missed(1, at(0), 1, 60).reasons);
        assert_eq!(part.started_at, missed(1, minute(0), 10, 60).started_at, "when they were recorded");
        assert_eq!(store.result(part.check_id).await.unwrap().as_ref(), Some(part));
    }
    // The first, the last, one in the midst of a part, and all of them again, which changes nothing.
    let late = vec![ok(1, minute(0), 5), ok(1, minute(9), 5), ok(1, minute(7), 5), ok(1, minute(4), 5)];
    for results in [late.clone(), late] {
        commit_results(store, results).await;
        let runs: Vec<_> = runs(store).await.into_iter().filter(|run| *run != series(0, 9)).collect();
        let expected = [check(0), series(1, 3), check(4), series(5, 6), check(7), series(8, 8), check(9)];
        assert_eq!(runs, expected);
    }
}

pub async fn a_series_takes_only_the_runs_that_are_not_recorded(store: &impl Store) {
    commit_results(store, vec![ok(1, minute(3), 5), missed(1, minute(7), 3, 60)]).await;
    let whole = missed(1, minute(0), 15, 60);
    for results in [vec![whole.clone()], vec![whole.clone()], vec![ok(1, minute(3), 5), whole]] {
        commit_results(store, results).await;
        let expected = [series(0, 2), check(3), series(4, 6), series(7, 9), series(10, 14)];
        assert_eq!(runs(store).await, expected);
    }
}

pub async fn series_and_results_of_one_commit_leave_each_run_once(store: &impl Store) {
    let results = vec![
        missed(1, minute(0), 10, 60),
        ok(1, minute(0), 5),
        missed(1, minute(5), 10, 60),
        ok(1, minute(8), 5),
        ok(1, minute(8), 6),
        ok(1, minute(20), 5),
    ];
    commit_results(store, results).await;
    let recorded = runs(store).await;
    let count: u32 = recorded.iter().map(|run| run.2).sum();
    assert_eq!(count, 16, "{recorded:?}");
    let checks: Vec<_> = recorded.iter().filter(|run| run.1 == Outcome::Ok).copied().collect();
    assert_eq!(checks, [check(0), check(8), check(20)]);
}

pub async fn a_first_check_is_none_of_the_missed_runs(store: &impl Store) {
    let mut first = error(1, minute(4) + std::time::Duration::from_secs(7));
    first.trigger = CheckTrigger::First;
    commit_results(store, vec![missed(1, minute(0), 10, 60)]).await;
    commit_results(store, vec![first.clone()]).await;
    let runs: Vec<_> = runs(store).await.into_iter().filter(|run| run.0 != first.planned_at).collect();
    assert_eq!(runs, [series(0, 9)]);
}

pub async fn recorded_runs_are_found(store: &impl Store) {
    commit_results(store, vec![missed(1, minute(0), 4, 60), ok(1, minute(6), 5), ok(2, minute(2), 5)]).await;
    let planned = |monitor: i64, location: LocationId, from: i64, until: i64| PlannedRuns {
        monitor_id: MonitorId(monitor),
        location_id: location,
        planned_at: minute(from)..=minute(until),
    };
    let found = store.recorded_runs(vec![
        planned(1, HOME, 2, 6),
        planned(1, HOME, 4, 5),
        planned(2, HOME, 0, 9),
        planned(2, LocationId(HOME.0 + 1), 0, 9),
        planned(3, HOME, 0, 9),
    ]);
    let mut found = found.await.unwrap();
    found[0].sort_by_key(|times| *times.start());
    let expected = vec![
        vec![minute(0)..=minute(3), minute(6)..=minute(6)],
        vec![],
        vec![minute(2)..=minute(2)],
        vec![],
        vec![],
    ];
    assert_eq!(found, expected);
    assert_eq!(store.recorded_runs(Vec::new()).await.unwrap(), Vec::<Vec<_>>::new());
}

pub async fn the_end_of_the_last_sweep_of_a_location_is_kept(store: &impl Store) {
    assert_eq!(store.missed_run_sweeps().await.unwrap(), []);
    let (first, second) = (LocationId(3), LocationId(9));
    store.set_missed_run_sweeps(vec![(first, minute(1)), (second, minute(2))]).await.unwrap();
    store.set_missed_run_sweeps(vec![(first, minute(5))]).await.unwrap();
    let mut sweeps = store.missed_run_sweeps().await.unwrap();
    sweeps.sort();
    assert_eq!(sweeps, [(first, minute(5)), (second, minute(2))]);
}
