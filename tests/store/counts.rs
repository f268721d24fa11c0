//! Counts of matching results, which are maintained instead of being counted per query.

use std::time::Duration;

use vigie::domain::{CheckId, CheckResult, CustomerId, LocationId, MonitorId, Outcome, RunId, Timestamp};
use vigie::schema::Origin;
use vigie::store::{
    Housekeeping, MonitorStore, Pagination, ResultFilter, ResultStore, Retention, SqliteStore,
};

use crate::store::samples::{HOUR, all, at, commit_results, error, missed, ok, sqlite, warning};

/// Moves a result to location 2.
fn at_second_location(mut result: CheckResult) -> CheckResult {
    result.location_id = LocationId(2);
    result.check_id = CheckId::new(RunId::new(result.monitor_id, result.planned_at), result.location_id);
    result
}

async fn assert_counts(store: &SqliteStore) {
    let rows = all(store).await;
    let times = [None, Some(at(0)), Some(at(30)), Some(at(60)), Some(at(61)), Some(at(HOUR))];
    let outcomes: [&[Outcome]; 4] =
        [&[], &[Outcome::Ok], &[Outcome::Missed, Outcome::Error], &[Outcome::Blackout]];
    let selections = [(vec![], None), (vec![], Some(LocationId(2))), (vec![MonitorId(1)], None)];
    for (monitors, location) in selections {
        for outcomes in outcomes {
            for (from, thru) in times.iter().flat_map(|from| times.iter().map(move |thru| (*from, *thru))) {
                let outcomes = outcomes.to_vec();
                let filter = ResultFilter {
                    monitors: monitors.clone(),
                    location,
                    from,
                    until: thru,
                    outcomes,
                    customer: None,
                };
                let matches = |row: &&CheckResult| matches(&filter, row);
                let expected = rows.iter().filter(matches).count() as u64;
                let page = store.results(filter.clone(), Pagination { limit: 1, offset: 0 }).await.unwrap();
                assert_eq!(page.total, expected, "{filter:?}");
            }
        }
    }
}

fn matches(filter: &ResultFilter, row: &CheckResult) -> bool {
    let after = |from: Timestamp| row.planned_at >= from;
    let before = |thru: Timestamp| row.planned_at < thru;
    (filter.monitors.is_empty() || filter.monitors.contains(&row.monitor_id))
        && filter.location.is_none_or(|location| row.location_id == location)
        && filter.from.is_none_or(after)
        && filter.until.is_none_or(before)
        && (filter.outcomes.is_empty() || filter.outcomes.contains(&row.outcome))
}

async fn fill(store: &SqliteStore) {
    for second in [0, 1, 29, 30, 59, 60, 61, 119, 120, HOUR - 1, HOUR, HOUR + 1] {
        let results =
            vec![ok(1, at(second), 5), error(2, at(second)), at_second_location(warning(3, at(second)))];
        commit_results(store, results.clone()).await;
        commit_results(store, results).await;
    }
    commit_results(store, vec![missed(4, at(0), 10, 60), at_second_location(missed(4, at(0), 2, 60))]).await;
}

#[tokio::test]
async fn counts_follow_repeats_replaced_missed_runs_and_retention() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    fill(&store).await;
    assert_counts(&store).await;
    // Replaces the first run of one series, whose rest starts in the next minute, and of another.
    commit_results(&store, vec![ok(4, at(0), 7), at_second_location(error(4, at(0)))]).await;
    assert_counts(&store).await;
    // Splits the rest of the first one, and takes its last run.
    commit_results(&store, vec![ok(4, at(4 * 60), 7), ok(4, at(9 * 60), 7)]).await;
    assert_counts(&store).await;
    let day = Duration::from_hours(24);
    let short = Duration::from_secs(HOUR.unsigned_abs());
    let retention = Retention {
        results: short,
        details_ok: day,
        details_failed: day,
        hourly_rollups: day,
        daily_rollups: Some(day),
        audit_entries: day,
    };
    store.roll_up(at(3 * HOUR)).await.unwrap();
    assert!(store.apply_retention(retention, at(HOUR + 60)).await.unwrap() > 10);
    assert!(all(&store).await.len() > 5);
    assert_counts(&store).await;
}

#[tokio::test]
async fn a_file_of_the_first_version_is_migrated_with_its_counts() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    fill(&store).await;
    store.close().await;
    // The same results in a file of schema version 1, with a monitor from a file and one from an API.
    let old = tempfile::tempdir().unwrap();
    let conn = rusqlite::Connection::open(old.path().join("vigie.db")).unwrap();
    conn.execute_batch(include_str!("../../src/store/sqlite/migrations/1.sql")).unwrap();
    conn.execute("ATTACH ?1 AS new", [folder.path().join("vigie.db").to_str().unwrap()]).unwrap();
    conn.execute_batch(
        r#"PRAGMA application_id = 0x56676965; PRAGMA user_version = 1;
           ALTER TABLE new.results DROP COLUMN session; -- of later versions, as are the next ones
           ALTER TABLE new.results DROP COLUMN suppressed;
           ALTER TABLE new.results DROP COLUMN first_check;
           ALTER TABLE new.results DROP COLUMN page_us;
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
    let page = store.results(of(7), Pagination { limit: 1000, offset: 0 }).await.unwrap();
    assert!(page.total > 0 && page.results.iter().all(|result| result.monitor_id == MonitorId(2)));
    assert_eq!(page.total, page.results.len() as u64);
}

#[tokio::test]
async fn the_latest_result_of_a_state_is_found_even_for_missed_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let submitted = [missed(4, at(0), 10, 60), ok(5, at(7), 3)];
    commit_results(&store, submitted.to_vec()).await;
    let state = |result: &CheckResult| vigie::pipeline::next_monitor_state(None, result).unwrap();
    let mut states: Vec<_> = submitted.iter().map(state).collect();
    let mut removed = states[1].clone();
    removed.check_id = CheckId(7);
    states.push(removed);
    let found = store.results_for_states(states).await.unwrap();
    let [first, second] = submitted;
    assert_eq!(found, [Some(first), Some(second), None]);
}

#[tokio::test]
async fn results_of_an_account_are_filtered_and_counted_correctly() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    // The first account has more monitors than are looked up one by one.
    let mut owners = std::collections::HashMap::new();
    for (customer, monitors) in [(1, 150), (2, 3)] {
        let keys: Vec<String> = (0..monitors).map(|n| format!("key-{n}")).collect();
        let ids = store.ids_for_file_keys(CustomerId(customer), keys.clone()).await.unwrap();
        let upserts = ids.iter().zip(&keys).map(|(&id, key)| {
            let mut monitor = crate::store::monitors::monitor(id, Some(key), 1, "x.test");
            monitor.customer = CustomerId(customer);
            monitor
        });
        store.apply_monitors(upserts.collect(), vec![], Box::new(|_| None)).await.unwrap();
        owners.extend(ids.into_iter().map(|id| (id, CustomerId(customer))));
    }
    for second in [0, 30, 61, 119, HOUR] {
        let results = owners.keys().map(|id| ok(id.0, at(second), 5));
        let failed = owners.keys().map(|id| at_second_location(error(id.0, at(second))));
        commit_results(&store, results.chain(failed).collect()).await;
    }
    let removed = *owners.iter().find(|(_, customer)| customer.0 == 2).unwrap().0;
    store.apply_monitors(vec![], vec![removed], Box::new(|_| None)).await.unwrap();
    let rows = all(&store).await;
    let times = [None, Some(at(0)), Some(at(30)), Some(at(61)), Some(at(HOUR))];
    for customer in [1, 2, 3] {
        for (from, thru) in times.iter().flat_map(|from| times.iter().map(move |thru| (*from, *thru))) {
            for outcomes in [vec![], vec![Outcome::Error]] {
                let customer = CustomerId(customer);
                let mut filter = ResultFilter { from, until: thru, outcomes, ..ResultFilter::default() };
                let own = |row: &&CheckResult| owners[&row.monitor_id] == customer && matches(&filter, row);
                let expected: Vec<_> = rows.iter().filter(own).cloned().collect();
                filter.customer = Some(customer);
                let page =
                    store.results(filter.clone(), Pagination { limit: 10_000, offset: 0 }).await.unwrap();
                assert_eq!(page.total, expected.len() as u64, "{filter:?}");
                assert_eq!(page.results, expected, "{filter:?}");
            }
        }
    }
    let foreign =
        ResultFilter { monitors: vec![removed], customer: Some(CustomerId(1)), ..Default::default() };
    let page = store.results(foreign, Pagination { limit: 10, offset: 0 }).await.unwrap();
    assert_eq!((page.total, page.results.len()), (0, 0));
}

#[tokio::test]
async fn a_result_is_found_by_id_among_many_and_an_unknown_id_is_fast() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    for round in 0..3 {
        let results: Vec<_> = (0..20_000).map(|n| ok(n, at(round * 60 + n % 60), 5)).collect();
        commit_results(&store, results).await;
    }
    let started = std::time::Instant::now();
    for n in (0..20_000).step_by(97) {
        let expected = ok(n, at(60 + n % 60), 5);
        assert_eq!(store.result(expected.check_id).await.unwrap(), Some(expected));
        let never = ok(n, at(7 * 60 + n % 60), 5);
        assert_eq!(store.result(never.check_id).await.unwrap(), None);
        let nowhere = CheckId(never.check_id.0.rotate_left(7));
        assert_eq!(store.result(nowhere).await.unwrap(), None);
    }
    // 621 lookups; a scan over all monitors and locations would be 12 million steps of the database.
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}
