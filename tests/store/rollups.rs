//! Hourly and daily rollups.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use vigie::domain::{MonitorId, Outcome, Rollup, SKETCH_RELATIVE_ERROR};
use vigie::store::{Retention, RollupSpan};

use crate::store::samples::{HOUR, MINUTE, at, commit_results, error, missed, ok, warning};
use crate::store::suite::Store;

const ALL_DAY: i64 = 24 * HOUR;

async fn hours(store: &impl Store, monitor: i64) -> Vec<Rollup> {
    store.rollups(MonitorId(monitor), RollupSpan::Hour, at(-ALL_DAY), at(30 * ALL_DAY)).await.unwrap()
}

async fn days(store: &impl Store, monitor: i64) -> Vec<Rollup> {
    store.rollups(MonitorId(monitor), RollupSpan::Day, at(-ALL_DAY), at(30 * ALL_DAY)).await.unwrap()
}

pub async fn hours_and_days_count_by_outcome_and_keep_percentiles(store: &impl Store) {
    // 100 runs an hour in hours 0 and 1, of 1, 2, … 100 ms and ten times that; errors do not count.
    for i in 0..100_i64 {
        let millis = i.unsigned_abs() + 1;
        let offset = i * 30;
        commit_results(
            store,
            vec![
                ok(1, at(offset), millis * 1000),
                ok(1, at(HOUR + offset), millis * 10_000),
                error(1, at(offset + 7)),
                warning(2, at(offset)),
            ],
        )
        .await;
    }
    store.roll_up(at(HOUR + 1)).await.unwrap();
    assert_eq!(hours(store, 1).await.len(), 1, "only hours that ended");
    assert!(days(store, 1).await.is_empty());
    store.roll_up(at(ALL_DAY)).await.unwrap();

    let hour = hours(store, 1).await;
    assert_eq!(hour.len(), 2);
    assert_eq!((hour[0].start, hour[0].runs_by_outcome), (at(0), [100, 0, 100, 0, 0, 0]));
    assert_eq!((hour[1].start, hour[1].runs_by_outcome), (at(HOUR), [100, 0, 0, 0, 0, 0]));
    assert_eq!(hour[0].mean_duration_us, Some(50_500));
    near(hour[0].duration_percentiles_us, [50_000, 75_000, 90_000, 95_000, 99_000]);
    let day = days(store, 1).await;
    assert_eq!(day.len(), 1);
    assert_eq!((day[0].start, day[0].runs_by_outcome), (at(0), [200, 0, 100, 0, 0, 0]));
    assert_eq!(day[0].mean_duration_us, Some(277_750));
    near(day[0].duration_percentiles_us, [91_000, 500_000, 800_000, 900_000, 980_000]);
    assert_eq!(hours(store, 2).await[0].runs_by_outcome, [0, 100, 0, 0, 0, 0]);
    assert_eq!(store.roll_up(at(ALL_DAY)).await.unwrap(), 0, "nothing changed since");
}

fn near(found: Option<[u64; 5]>, want: [u64; 5]) {
    for (found, want) in found.unwrap().into_iter().zip(want) {
        // The rank may be off by one, which adds one step of the data.
        let far = found.abs_diff(want) as f64;
        assert!(far <= want as f64 * (SKETCH_RELATIVE_ERROR + 0.025), "{found} {want}");
    }
}

pub async fn a_late_result_rolls_its_hour_and_day_up_again(store: &impl Store) {
    commit_results(store, vec![ok(1, at(60), 1000), missed(1, at(120), 1, 60), ok(2, at(60), 1)]).await;
    store.roll_up(at(2 * ALL_DAY)).await.unwrap();
    assert_eq!(days(store, 1).await[0].runs_by_outcome, [1, 0, 0, 0, 1, 0]);

    commit_results(store, vec![ok(1, at(120), 3000), ok(1, at(5 * HOUR), 5000)]).await;
    assert_eq!(store.roll_up(at(2 * ALL_DAY)).await.unwrap(), 3, "two hours and a day");
    let hour = hours(store, 1).await;
    assert_eq!((hour[0].runs_by_outcome, hour[0].mean_duration_us), ([2, 0, 0, 0, 0, 0], Some(2000)));
    assert_eq!(days(store, 1).await[0].runs_by_outcome, [3, 0, 0, 0, 0, 0]);
    assert_eq!(days(store, 1).await[0].mean_duration_us, Some(3000));
    // A repeated result changes nothing.
    commit_results(store, vec![ok(1, at(120), 3000)]).await;
    assert_eq!(store.roll_up(at(2 * ALL_DAY)).await.unwrap(), 0);
}

pub async fn missed_runs_count_in_the_hours_that_they_were_planned_in(store: &impl Store) {
    commit_results(store, vec![missed(1, at(30 * MINUTE), 120, 60)]).await;
    store.roll_up(at(ALL_DAY)).await.unwrap();
    let missed: Vec<_> = hours(store, 1).await.iter().map(|hour| hour.runs_by_outcome[4]).collect();
    assert_eq!(missed, [30, 60, 30]);
    assert_eq!(days(store, 1).await[0].runs_by_outcome[4], 120);
    // The first missed run has a real result after all.
    commit_results(store, vec![ok(1, at(30 * MINUTE), 9)]).await;
    store.roll_up(at(ALL_DAY)).await.unwrap();
    assert_eq!(days(store, 1).await[0].runs_by_outcome, [1, 0, 0, 0, 119, 0]);
}

pub async fn results_that_arrive_after_retention_leave_older_rollups_alone(store: &impl Store) {
    let long = Duration::from_hours(24_000);
    let retention = Retention {
        results: Duration::from_hours(24),
        details_ok: long,
        details_failed: long,
        hourly_rollups: long,
        daily_rollups: Some(long),
        audit_entries: long,
    };
    commit_results(store, vec![ok(1, at(60), 1000), ok(1, at(120), 1000)]).await;
    let now = at(3 * ALL_DAY);
    store.roll_up(now).await.unwrap();
    store.apply_retention(retention, now).await.unwrap();
    commit_results(store, vec![ok(1, at(180), 1000)]).await;
    store.roll_up(now).await.unwrap();
    assert_eq!(hours(store, 1).await[0].runs_by_outcome[0], 2);
    assert_eq!(days(store, 1).await[0].runs_by_outcome[0], 2);
}

/// Rolling up between batches of results gives the same as rolling up once at the end.
pub async fn any_order_of_results_and_roll_ups_gives_the_same_rollups(store: &impl Store) {
    let moves = prop::collection::vec((1_i64..4, 0_i64..300, 0_usize..4, prop::bool::weighted(0.1)), 200);
    let moves = moves.new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let mut want = std::collections::BTreeMap::new();
    for (monitor, ten_minutes, outcome, call) in moves {
        let planned_at = at(ten_minutes * 10 * MINUTE);
        let mut result = ok(monitor, planned_at, 10);
        result.outcome = Outcome::ALL[outcome];
        want.entry((monitor, ten_minutes)).or_insert(outcome);
        commit_results(store, vec![result]).await;
        if call {
            store.roll_up(planned_at + Duration::from_hours(2)).await.unwrap();
        }
    }
    store.roll_up(at(3 * ALL_DAY)).await.unwrap();
    for monitor in 1..4 {
        for (rollups, width) in [(hours(store, monitor).await, 6), (days(store, monitor).await, 144)] {
            let mut expected = std::collections::BTreeMap::<_, [u64; 6]>::new();
            for (&(_, slot), &outcome) in want.iter().filter(|((m, _), _)| *m == monitor) {
                expected.entry(at(slot / width * width * 600)).or_default()[outcome] += 1;
            }
            let found: Vec<_> = rollups.iter().map(|rollup| (rollup.start, rollup.runs_by_outcome)).collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
