//! Results, states and retention.

use std::time::Duration;

use vigie::domain::{CheckId, CheckResult, Facts, LocationId, MonitorId, Outcome, Phase, Phases, Timestamp};
use vigie::store::{IngestBatch, MonitorLocationState, Pagination, ResultFilter, Retention};

use crate::store::samples::{HOUR, MINUTE, all, at, commit_results, error, missed, ok, ping, warning};
use crate::store::suite::Store;

pub async fn a_result_is_returned_as_it_was_stored(store: &impl Store) {
    let mut blackout = ok(6, at(60), 0);
    blackout.outcome = Outcome::Blackout;
    blackout.attempts.clear();
    blackout.facts = Facts::default();
    let mut early = ok(8, at(60), 77);
    early.started_at = early.planned_at - Duration::from_secs(2);
    early.address = None;
    let mut unnamed = warning(9, at(61));
    unnamed.monitor_name = "".into();
    unnamed.facts.tls = None;
    let submitted = vec![
        ok(1, at(60), 900),
        error(2, at(60)),
        warning(3, at(60)),
        ping(4, at(60)),
        missed(5, at(60), 12, 60),
        blackout,
        early,
        unnamed,
    ];
    commit_results(store, submitted.clone()).await;

    for result in &submitted {
        assert_eq!(store.result(result.check_id).await.unwrap().as_ref(), Some(result));
    }
    let mut listed = all(store).await;
    listed.sort_by_key(|result| result.monitor_id);
    assert_eq!(listed, submitted);
    assert_eq!(store.result(CheckId(12)).await.unwrap(), None);
}

pub async fn a_real_result_replaces_a_missed_one_and_other_repeats_are_dropped(store: &impl Store) {
    let (real, other) = (warning(1, at(0)), ok(1, at(0), 5));
    commit_results(store, vec![missed(1, at(0), 1, 60)]).await;
    commit_results(store, vec![real.clone()]).await;
    assert_eq!(all(store).await, std::slice::from_ref(&real));
    commit_results(store, vec![other.clone(), missed(1, at(0), 1, 60)]).await;
    assert_eq!(all(store).await, std::slice::from_ref(&real));

    // The same holds within one commit, in either order.
    let (a, b) = (ok(2, at(0), 7), ok(3, at(0), 8));
    commit_results(store, vec![missed(2, at(0), 1, 60), a.clone(), b.clone(), missed(3, at(0), 1, 60)]).await;
    assert_eq!(all(store).await, [b, a, real]);
}

pub async fn filters_narrow_and_pages_are_newest_first(store: &impl Store) {
    let mut submitted = Vec::new();
    for minute in 0..50 {
        for monitor in 1..=4 {
            let planned_at = at(minute * MINUTE + monitor);
            let mut result = if (minute + monitor) % 10 == 0 {
                error(monitor, planned_at)
            } else {
                ok(monitor, planned_at, 1000)
            };
            if monitor == 4 {
                result.location_id = LocationId(2);
                result.check_id = CheckId::new(result.run_id, LocationId(2));
            }
            submitted.push(result);
        }
    }
    commit_results(store, submitted.clone()).await;
    submitted.sort_by_key(|result| std::cmp::Reverse((result.planned_at, result.monitor_id)));

    let id = MonitorId;
    let filters = [
        ResultFilter::default(),
        ResultFilter { monitors: vec![id(2)], ..Default::default() },
        ResultFilter { monitors: vec![id(1), id(4)], ..Default::default() },
        ResultFilter { monitors: vec![id(99)], ..Default::default() },
        ResultFilter { location: Some(LocationId(2)), ..Default::default() },
        ResultFilter { from: Some(at(600)), until: Some(at(1201)), ..Default::default() },
        ResultFilter { outcomes: vec![Outcome::Error], ..Default::default() },
        ResultFilter { outcomes: vec![Outcome::Ok, Outcome::Missed], ..Default::default() },
        ResultFilter {
            customer: None,
            monitors: vec![id(1), id(2), id(3)],
            location: Some(LocationId(1)),
            from: Some(at(61)),
            until: Some(at(2000)),
            outcomes: vec![Outcome::Error, Outcome::Unknown],
        },
    ];
    for filter in filters {
        let expected: Vec<_> = submitted.iter().filter(|result| matches(&filter, result)).cloned().collect();
        let found = store.results(filter.clone(), Pagination { limit: 1000, offset: 0 }).await.unwrap();
        assert_eq!((found.total, &found.results), (expected.len() as u64, &expected), "{filter:?}");
        let window = store.results(filter.clone(), Pagination { limit: 7, offset: 5 }).await.unwrap();
        assert_eq!(window.total, expected.len() as u64, "{filter:?}");
        let rest: Vec<_> = expected.into_iter().skip(5).take(7).collect();
        assert_eq!(window.results, rest, "{filter:?}");
    }
}

fn matches(filter: &ResultFilter, result: &CheckResult) -> bool {
    (filter.monitors.is_empty() || filter.monitors.contains(&result.monitor_id))
        && filter.location.is_none_or(|location| location == result.location_id)
        && filter.from.is_none_or(|from| result.planned_at >= from)
        && filter.until.is_none_or(|thru| result.planned_at < thru)
        && (filter.outcomes.is_empty() || filter.outcomes.contains(&result.outcome))
}

fn state(monitor: i64, planned_at: Timestamp, streak: u32) -> MonitorLocationState {
    let result = error(monitor, planned_at);
    MonitorLocationState {
        monitor_id: result.monitor_id,
        location_id: result.location_id,
        check_id: result.check_id,
        planned_at,
        outcome: result.outcome,
        status: result.status,
        duration_us: result.duration_us,
        streak_started_at: at(0),
        streak,
        last_slot_at: Some(planned_at),
        last_full_page_at: streak.is_multiple_of(2).then_some(planned_at),
    }
}

pub async fn states_are_replaced(store: &impl Store) {
    let first = IngestBatch {
        results: vec![error(1, at(0)), ok(2, at(0), 1)],
        location_states: vec![state(1, at(0), 1), state(2, at(0), 1)],
        ..IngestBatch::default()
    };
    store.commit(first).await.unwrap();
    store
        .commit(IngestBatch { location_states: vec![state(1, at(60), 2)], ..IngestBatch::default() })
        .await
        .unwrap();
    assert_eq!(store.location_states().await.unwrap(), [state(1, at(60), 2), state(2, at(0), 1)]);
    assert_eq!(all(store).await.len(), 2);
}

pub async fn retention_removes_each_kind_of_data_at_its_time(store: &impl Store) {
    const DAYS: u64 = 86_400;
    let days = |n: u64| Duration::from_secs(n * DAYS);
    let retention = Retention {
        results: days(30),
        details_ok: days(2),
        details_failed: days(10),
        hourly_rollups: days(60),
        daily_rollups: Some(days(90)),
        audit_entries: days(90),
    };
    let now = at(100 * 24 * HOUR);
    let ages = [1_u64, 5, 20, 40, 70, 95];
    for age in ages {
        let planned_at = now - days(age);
        let batch = (0..300).flat_map(|i| {
            let planned_at = planned_at + Duration::from_secs(i);
            [ping(1, planned_at), error(2, planned_at), ok(3, planned_at, 10)]
        });
        commit_results(store, batch.collect()).await;
    }
    store.roll_up(now).await.unwrap();
    assert!(store.apply_retention(retention.clone(), now).await.unwrap() > 2000);
    assert_eq!(store.apply_retention(retention.clone(), now).await.unwrap(), 0);

    let stored = all(store).await;
    assert_eq!(stored.len(), 3 * 300 * 3, "results younger than 30 days");
    for result in stored {
        let age = now.since(result.planned_at);
        assert_ne!(result.phases(), Phases::default(), "phases stay when details go");
        if result.monitor_id == MonitorId(3) {
            assert_eq!(result.phases().micros(Phase::Quit), Some(7), "those without a column too");
        }
        let details = match result.outcome {
            Outcome::Error => result.reasons == error(2, result.planned_at).reasons,
            _ if result.monitor_id == MonitorId(1) => result.facts.ping.is_some(),
            _ => continue,
        };
        let limit = if result.outcome == Outcome::Error { days(10) } else { days(2) };
        assert_eq!(details, age < limit, "{age:?} {}", result.outcome);
    }
    for (span, ages) in [(vigie::store::RollupSpan::Hour, 4), (vigie::store::RollupSpan::Day, 5)] {
        let rollups = store.rollups(MonitorId(2), span, at(-1), now).await.unwrap();
        assert_eq!(rollups.len(), ages, "{span:?}");
        assert!(rollups.iter().all(|rollup| rollup.runs_by_outcome[2] == 300));
    }
}
