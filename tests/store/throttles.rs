//! Counters of the login throttle.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use vigie::store::{
    MAX_THROTTLE_COUNTERS, Store as _, ThrottleCounter, ThrottleDecision, ThrottleKey, ThrottleKind,
    ThrottleStore as _,
};

use crate::store::samples::at;
use crate::store::suite::Store;
use crate::support::postgres::SharedDatabase;

fn key(kind: ThrottleKind, number: usize) -> ThrottleKey {
    let mut hash = [0xFF; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    ThrottleKey { kind, hash }
}

/// How many counters make room for further ones.
const QUARTER: usize = MAX_THROTTLE_COUNTERS / 4;

#[expect(clippy::unnecessary_wraps, reason = "stored counters are optional")]
fn counter(failures: u32, seconds: i64) -> Option<ThrottleCounter> {
    Some(ThrottleCounter { failures, last_at: at(seconds) })
}

/// Returns a decision that ignores the stored counters.
fn set(counters: Vec<Option<ThrottleCounter>>) -> ThrottleDecision {
    Arc::new(move |_| counters.clone())
}

/// Returns a decision that counts a failure at `seconds`.
fn count_failure(seconds: i64) -> ThrottleDecision {
    Arc::new(move |stored| {
        stored.iter().map(|stored| counter(stored.map_or(0, |stored| stored.failures) + 1, seconds)).collect()
    })
}

pub async fn counters_are_stored_replaced_and_removed(store: &impl Store) {
    let keys: Vec<ThrottleKey> = ThrottleKind::ALL.into_iter().map(|kind| key(kind, 1)).collect();
    let update = async |counters: [Option<ThrottleCounter>; 5]| {
        store.update_throttle_counters(keys.clone(), at(100), set(counters.to_vec())).await.unwrap()
    };
    let first = [counter(1, 10), None, counter(u32::MAX, 12), counter(3, 13), counter(0, 14)];
    assert_eq!(update(first).await, [None; 5]);
    let second = [None, counter(9, 20), counter(2, 21), counter(3, 13), None];
    assert_eq!(update(second).await, first);
    assert_eq!(store.throttle_counters(keys.clone()).await.unwrap(), second);
    let others =
        vec![key(ThrottleKind::Network, 1), key(ThrottleKind::Network, 2), key(ThrottleKind::Login, 1)];
    assert_eq!(store.throttle_counters(others).await.unwrap(), [counter(3, 13), None, None]);
    assert_eq!(store.throttle_counters(Vec::new()).await.unwrap(), []);
}

pub async fn parallel_updates_come_one_after_the_other(store: &impl Store) {
    let keys = || vec![key(ThrottleKind::Login, 1), key(ThrottleKind::Address, 2)];
    let updates = (0..40).map(|second| store.update_throttle_counters(keys(), at(0), count_failure(second)));
    let based_on = futures::future::join_all(updates).await;
    let mut failures: Vec<u32> =
        based_on.into_iter().map(|stored| stored.unwrap()[1].map_or(0, |counter| counter.failures)).collect();
    failures.sort_unstable();
    assert_eq!(failures, (0..40).collect::<Vec<_>>());
    let stored = store.throttle_counters(keys()).await.unwrap();
    assert!(stored.iter().flatten().all(|counter| counter.failures == 40), "{stored:?}");
}

pub async fn counters_expire_by_their_kind(store: &impl Store) {
    let keys: Vec<ThrottleKey> = ThrottleKind::ALL.into_iter().map(|kind| key(kind, 1)).collect();
    store.update_throttle_counters(keys.clone(), at(0), set(vec![counter(50, 0); 5])).await.unwrap();
    let mut left = 5;
    for (kind, expired) in
        [(ThrottleKind::Login, 2), (ThrottleKind::Network, 2), (ThrottleKind::LastSuccess, 1)]
    {
        let end = at(0) + kind.ttl();
        let before = store.remove_expired_throttle_counters(end - Duration::from_micros(1)).await.unwrap();
        assert_eq!((before, store.remove_expired_throttle_counters(end).await.unwrap()), (0, expired));
        left -= usize::try_from(expired).unwrap();
        let stored = store.throttle_counters(keys.clone()).await.unwrap();
        assert_eq!(stored.iter().flatten().count(), left, "{stored:?}");
    }
}

pub async fn counters_are_limited_and_the_most_failures_are_kept(store: &impl Store) {
    let keys = |numbers: std::ops::Range<usize>| -> Vec<ThrottleKey> {
        numbers.map(|number| key(ThrottleKind::Address, number)).collect()
    };
    let add = async |numbers: std::ops::Range<usize>, new: Option<ThrottleCounter>, now: i64| {
        let decision = set(vec![new; numbers.len()]);
        store.update_throttle_counters(keys(numbers), at(now), decision).await.unwrap();
    };
    let stored = async |numbers: std::ops::Range<usize>| {
        store.throttle_counters(keys(numbers)).await.unwrap().iter().flatten().count()
    };
    let other = vec![key(ThrottleKind::Network, 0)];
    store.update_throttle_counters(other.clone(), at(0), set(vec![counter(1, 0)])).await.unwrap();
    add(0..QUARTER, counter(5, 0), 0).await;
    add(QUARTER..2 * QUARTER, counter(1, 1), 1).await;
    add(2 * QUARTER..MAX_THROTTLE_COUNTERS, counter(1, 2), 2).await;
    assert_eq!(stored(0..MAX_THROTTLE_COUNTERS).await, MAX_THROTTLE_COUNTERS);
    // Of those with the fewest failures, the oldest go.
    add(MAX_THROTTLE_COUNTERS..MAX_THROTTLE_COUNTERS + 1, counter(1, 3), 3).await;
    assert_eq!(stored(0..QUARTER).await, QUARTER);
    assert_eq!(stored(QUARTER..2 * QUARTER).await, 0);
    assert_eq!(stored(2 * QUARTER..MAX_THROTTLE_COUNTERS + 1).await, 2 * QUARTER + 1);
    // A further failure of a stored counter needs no room.
    add(QUARTER..2 * QUARTER - 1, counter(1, 4), 4).await;
    add(0..1, counter(6, 5), 5).await;
    assert_eq!(stored(0..MAX_THROTTLE_COUNTERS + 1).await, MAX_THROTTLE_COUNTERS);
    // Expired ones go first, whatever their failures are.
    let hour = 3_600;
    add(20_000..20_001, counter(1, hour), hour).await;
    assert_eq!(stored(0..1).await, 1, "its last failure is later");
    assert_eq!(stored(1..QUARTER).await, 0);
    assert_eq!(stored(QUARTER..MAX_THROTTLE_COUNTERS + 1).await, 3 * QUARTER);
    assert_eq!(store.throttle_counters(other).await.unwrap(), [counter(1, 0)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_waits_for_that_of_another_server_and_is_based_on_it() {
    let database = SharedDatabase::create().await;
    let store = Arc::new(database.connect().await);
    let keys = vec![key(ThrottleKind::Login, 1)];
    store.update_throttle_counters(keys.clone(), at(0), count_failure(0)).await.unwrap();
    // The other server holds the lock of an update that has not committed yet.
    let mut other = PgConnection::connect(&database.server.url(&database.name)).await.unwrap();
    let mut transaction = other.begin().await.unwrap();
    sqlx::raw_sql("SELECT pg_advisory_xact_lock(x'56676974'::int); UPDATE login_throttles SET failures = 7")
        .execute(&mut *transaction)
        .await
        .unwrap();
    let update = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.update_throttle_counters(keys, at(1), count_failure(1)).await.unwrap() }
    });
    let mut observer = PgConnection::connect(&database.server.url(&database.name)).await.unwrap();
    let waiting = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND objid = x'56676974'::int AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
    while !sqlx::query_scalar::<_, bool>(waiting).fetch_one(&mut observer).await.unwrap() {
        assert!(!update.is_finished(), "it did not wait");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    transaction.commit().await.unwrap();
    assert_eq!(update.await.unwrap(), [counter(7, 0)]);
    observer.close().await.unwrap();
    other.close().await.unwrap();
    store.close().await;
    database.remove().await;
}
