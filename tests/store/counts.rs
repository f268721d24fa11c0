//! The number of results that match, which is kept and not counted.

use std::time::Duration;

use vigie::model::{CheckId, CheckResult, LocationId, MonitorId, Outcome, RunId, Timestamp};
use vigie::store::{Housekeeping, Page, ResultFilter, Results, Retention, SqliteStore};

use crate::make::{HOUR, all, at, error, keep, missed, ok, sqlite, warning};

/// Moves a result to another location.
fn there(mut result: CheckResult) -> CheckResult {
    result.location_id = LocationId(2);
    result.check_id = CheckId::of(RunId::of(result.monitor_id, result.planned_at), result.location_id);
    result
}

async fn assert_counts(store: &SqliteStore) {
    let rows = all(store).await;
    let times = [None, Some(at(0)), Some(at(30)), Some(at(60)), Some(at(61)), Some(at(HOUR))];
    let outcomes: [&[Outcome]; 4] =
        [&[], &[Outcome::Ok], &[Outcome::Missed, Outcome::Error], &[Outcome::Blackout]];
    let places = [(vec![], None), (vec![], Some(LocationId(2))), (vec![MonitorId(1)], None)];
    for (monitors, location) in places {
        for outcomes in outcomes {
            for (from, thru) in times.iter().flat_map(|from| times.iter().map(move |thru| (*from, *thru))) {
                let outcomes = outcomes.to_vec();
                let filter = ResultFilter {
                    monitors: monitors.clone(),
                    location,
                    from,
                    thru,
                    outcomes,
                    customer: None,
                };
                let fits = |row: &&CheckResult| fits(&filter, row);
                let want = rows.iter().filter(fits).count() as u64;
                let page = store.results(filter.clone(), Page { limit: 1, offset: 0 }).await.unwrap();
                assert_eq!(page.count, want, "{filter:?}");
            }
        }
    }
}

fn fits(filter: &ResultFilter, row: &CheckResult) -> bool {
    let after = |from: Timestamp| row.planned_at >= from;
    let before = |thru: Timestamp| row.planned_at < thru;
    (filter.monitors.is_empty() || filter.monitors.contains(&row.monitor_id))
        && filter.location.is_none_or(|location| row.location_id == location)
        && filter.from.is_none_or(after)
        && filter.thru.is_none_or(before)
        && (filter.outcomes.is_empty() || filter.outcomes.contains(&row.outcome))
}

async fn fill(store: &SqliteStore) {
    for second in [0, 1, 29, 30, 59, 60, 61, 119, 120, HOUR - 1, HOUR, HOUR + 1] {
        let results = vec![ok(1, at(second), 5), error(2, at(second)), there(warning(3, at(second)))];
        keep(store, results.clone()).await;
        keep(store, results).await;
    }
    keep(store, vec![missed(4, at(0), 10, 60), there(missed(4, at(0), 2, 60))]).await;
}

#[tokio::test]
async fn counts_follow_repeats_replaced_missed_runs_and_retention() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    fill(&store).await;
    assert_counts(&store).await;
    // Takes the first of a series, whose rest begins in the next minute; the last of another.
    keep(&store, vec![ok(4, at(0), 7), there(error(4, at(0)))]).await;
    assert_counts(&store).await;
    let day = Duration::from_hours(24);
    let short = Duration::from_secs(HOUR.unsigned_abs());
    let retention =
        Retention { results: short, details_ok: day, details_failed: day, hourly: day, daily: day };
    store.roll_up(at(3 * HOUR)).await.unwrap();
    assert!(store.retain(retention, at(HOUR + 60)).await.unwrap() > 10);
    assert!(all(&store).await.len() > 5);
    assert_counts(&store).await;
}

#[tokio::test]
async fn a_file_of_the_first_version_gets_its_counts_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    fill(&store).await;
    store.close().await;
    // The same results in a file as the first version made it, with a monitor of a file and one of an API.
    let old = tempfile::tempdir().unwrap();
    let conn = rusqlite::Connection::open(old.path().join("vigie.db")).unwrap();
    conn.execute_batch(include_str!("../../src/store/sqlite/schema/1.sql")).unwrap();
    conn.execute("ATTACH ?1 AS new", [folder.path().join("vigie.db").to_str().unwrap()]).unwrap();
    conn.execute_batch(
        r#"PRAGMA application_id = 0x56676965; PRAGMA user_version = 1;
           INSERT INTO results SELECT * FROM new.results;
           INSERT INTO shared SELECT * FROM new.shared;
           INSERT INTO details SELECT * FROM new.details;
           INSERT INTO places SELECT DISTINCT monitor_id, location_id FROM new.results;
           INSERT INTO monitors VALUES (1, 1, 'a', 'ping', 1, 0, NULL, '{"name":"A","hostname":"a.test"}'),
               (2, 7, NULL, 'ping', 1, 0, NULL, '{"name":"B","hostname":"b.test"}');"#,
    )
    .unwrap();
    drop(conn);
    let store = sqlite(old.path());
    assert_counts(&store).await;
    for result in all(&store).await {
        assert_eq!(store.result(result.check_id).await.unwrap().as_ref(), Some(&result));
    }
    let origins: Vec<_> = store.monitors().await.unwrap().into_iter().map(|m| m.origin).collect();
    assert_eq!(origins, [Origin::File { key: "a".into() }, Origin::Api]);
    let of = |customer| ResultFilter { customer: Some(CustomerId(customer)), ..ResultFilter::default() };
    let page = store.results(of(7), Page { limit: 1000, offset: 0 }).await.unwrap();
    assert!(page.count > 0 && page.results.iter().all(|result| result.monitor_id == MonitorId(2)));
    assert_eq!(page.count, page.results.len() as u64);
}

#[tokio::test]
async fn the_result_behind_a_state_is_found_also_when_it_is_a_series_of_missed_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let given = [missed(4, at(0), 10, 60), ok(5, at(7), 3)];
    keep(&store, given.to_vec()).await;
    let state = |result: &CheckResult| vigie::control::next_state(None, result).unwrap();
    let mut states: Vec<_> = given.iter().map(state).collect();
    let mut gone = states[1].clone();
    gone.check_id = CheckId(7);
    states.push(gone);
    let found = store.results_behind(states).await.unwrap();
    let [first, second] = given;
    assert_eq!(found, [Some(first), Some(second), None]);
}
