//! Throttles of logins that several servers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use vigie::clock::FakeClock;
use vigie::domain::Timestamp;
use vigie::pipeline::ExpiredLoginPurger;
use vigie::service::{AccountService, ServiceError};
use vigie::store::{
    Store, StoreError, StoreFuture, ThrottleCounter, ThrottleDecision, ThrottleKey, ThrottleStore,
};
use vigie::vault::Keyring;

use crate::accounts::harness::{Harness, PASSWORD, START, ip, open};
use crate::support::postgres::SharedDatabase;

/// Guesses passwords at `address` until the guesses are throttled; returns how many were not.
async fn guess(accounts: &AccountService, login: &str, address: u8) -> usize {
    for admitted in 0.. {
        match accounts.log_in(login, "guess", ip(address)).await.unwrap_err() {
            ServiceError::InvalidCredentials => {}
            ServiceError::RateLimited(_) => return admitted,
            other => panic!("{other:?}"),
        }
    }
    unreachable!()
}

#[tokio::test]
async fn servers_over_one_store_share_the_throttle() {
    let harness = Harness::new().await;
    let other = harness.other_server(harness.keyring.clone());
    harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    assert_eq!(guess(&harness.accounts, "admin", 9).await, 5);
    assert_eq!(guess(&other, "admin", 9).await, 0);
    assert_eq!(other.log_in("admin", PASSWORD, ip(20)).await.unwrap_err(), ServiceError::RateLimited(1));
    assert!(other.log_in("admin", PASSWORD, ip(1)).await.is_ok(), "the address is not known there");
    // Without the keys of the server, nobody finds its counters.
    assert_eq!(guess(&harness.other_server(Arc::new(Keyring::ephemeral())), "admin", 9).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_guesses_at_two_servers_get_no_further_than_sequential_ones() {
    let database = SharedDatabase::create().await;
    let store = Arc::new(database.connect().await);
    let clock = Arc::new(FakeClock::new(Timestamp::from_seconds(START)));
    let keyring = Arc::new(Keyring::ephemeral());
    let server = || {
        let (keyring, clock) = (keyring.clone(), clock.clone());
        Arc::new(AccountService::new(store.clone(), store.clone(), store.clone(), keyring, clock))
    };
    let servers = [server(), server()];
    servers[0].ensure_first_admin(Some(PASSWORD.to_owned())).await.unwrap();
    let guesses = (0..40).map(|n: usize| {
        let accounts = servers[n % 2].clone();
        tokio::spawn(async move { accounts.log_in("admin", "guess", ip(9)).await.unwrap_err() })
    });
    let outcomes = futures::future::join_all(guesses.collect::<Vec<_>>()).await;
    let outcomes: Vec<ServiceError> = outcomes.into_iter().map(Result::unwrap).collect();
    let rejected = outcomes.iter().filter(|outcome| **outcome == ServiceError::InvalidCredentials).count();
    assert_eq!(rejected, 5, "{outcomes:?}");
    drop(servers);
    store.close().await;
    database.remove().await;
}

#[tokio::test]
async fn a_restart_does_not_reset_the_throttle() {
    let harness = Harness::new().await;
    harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    assert_eq!(guess(&harness.accounts, "admin", 9).await, 5);
    let Harness { folder, store, accounts, clock, keyring } = harness;
    drop(accounts);
    store.close().await;
    drop(store);
    let store = Arc::new(open(folder.path()));
    let accounts = AccountService::new(store.clone(), store.clone(), store, keyring, clock);
    assert_eq!(guess(&accounts, "admin", 9).await, 0);
    assert!(accounts.log_in("admin", PASSWORD, ip(1)).await.is_ok(), "the owner is kept out");
}

#[tokio::test]
async fn throttles_and_known_addresses_survive_a_rotation_of_the_keys() {
    let harness = Harness::new().await;
    for address in [1, 2] {
        harness.accounts.log_in("admin", PASSWORD, ip(address)).await.unwrap();
    }
    assert_eq!(guess(&harness.accounts, "admin", 9).await, 5);
    harness.keyring.add_key().unwrap();
    assert_eq!(guess(&harness.accounts, "admin", 9).await, 0);
    assert!(harness.accounts.log_in("admin", PASSWORD, ip(1)).await.is_ok(), "the owner is kept out");
    // Counters start over without the old key; the address that logged in since is known.
    harness.keyring.remove(&[1]).unwrap();
    assert_eq!(guess(&harness.accounts, "admin", 9).await, 5);
    assert!(harness.accounts.log_in("admin", PASSWORD, ip(1)).await.is_ok(), "the owner is kept out");
    assert_eq!(
        harness.accounts.log_in("admin", PASSWORD, ip(2)).await.unwrap_err(),
        ServiceError::RateLimited(1)
    );
}

#[tokio::test]
async fn expired_counters_are_removed_with_expired_tokens() {
    let harness = Harness::new().await;
    // Failures of the login, the address and the network.
    assert_eq!(guess(&harness.accounts, "admin", 9).await, 5);
    harness.clock.advance(Duration::from_mins(15));
    assert_eq!(harness.accounts.purge_expired_logins().await, Ok(1));
    harness.clock.advance(Duration::from_mins(45));
    assert_eq!(harness.accounts.purge_expired_logins().await, Ok(2));
    harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    harness.clock.advance(Duration::from_hours(30 * 24));
    assert_eq!(harness.accounts.purge_expired_logins().await, Ok(2), "the token, and the known address");
}

/// Counts the calls of a store, and fails the updates after the first ones.
struct FailingUpdates {
    store: Arc<dyn Store>,
    reads: AtomicU32,
    updates: AtomicU32,
    good_updates: u32,
}

impl ThrottleStore for FailingUpdates {
    fn throttle_counters(&self, keys: Vec<ThrottleKey>) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.throttle_counters(keys)
    }

    fn update_throttle_counters(
        &self,
        keys: Vec<ThrottleKey>,
        now: Timestamp,
        decide: ThrottleDecision,
    ) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>> {
        if self.updates.fetch_add(1, Ordering::Relaxed) < self.good_updates {
            return self.store.update_throttle_counters(keys, now, decide);
        }
        Box::pin(std::future::ready(Err(StoreError::Unavailable("no reply".to_owned()))))
    }

    fn remove_expired_throttle_counters(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.store.remove_expired_throttle_counters(now)
    }
}

/// Returns a service whose throttle fails after so many updates, and its throttle.
fn failing_server(harness: &Harness, good_updates: u32) -> (AccountService, Arc<FailingUpdates>) {
    let store = harness.store.clone();
    let throttle =
        FailingUpdates { store, reads: AtomicU32::new(0), updates: AtomicU32::new(0), good_updates };
    let throttle = Arc::new(throttle);
    let (store, keyring, clock) = (harness.store.clone(), harness.keyring.clone(), harness.clock.clone());
    (AccountService::new(store.clone(), store, throttle.clone(), keyring, clock), throttle)
}

#[tokio::test]
async fn an_admitted_guess_costs_an_update_and_a_refused_one_none() {
    let harness = Harness::new().await;
    let (accounts, throttle) = failing_server(&harness, u32::MAX);
    let calls = || (throttle.reads.load(Ordering::Relaxed), throttle.updates.load(Ordering::Relaxed));
    assert_eq!(guess(&accounts, "admin", 9).await, 5);
    assert_eq!(calls(), (6, 5));
    assert_eq!(guess(&accounts, "admin", 9).await, 0);
    assert_eq!(calls(), (7, 5));
    accounts.log_in("admin", PASSWORD, ip(200)).await.unwrap_err();
    harness.clock.advance(Duration::from_secs(1));
    accounts.log_in("admin", PASSWORD, ip(200)).await.unwrap();
    assert_eq!(calls(), (9, 7));
}

#[tokio::test]
async fn a_login_that_cannot_be_counted_is_refused_before_its_password_is_checked() {
    let harness = Harness::new().await;
    let unavailable = ServiceError::StoreFailed(StoreError::Unavailable("no reply".to_owned()));
    let before = harness.actions().await;
    let (accounts, _) = failing_server(&harness, 0);
    for password in [PASSWORD, "guess"] {
        assert_eq!(accounts.log_in("admin", password, ip(9)).await.unwrap_err(), unavailable);
    }
    assert_eq!(harness.actions().await, before, "a password was checked");
    // A success that cannot be recorded gives no token, and counts as failed.
    let (accounts, _) = failing_server(&harness, 1);
    assert_eq!(accounts.log_in("admin", PASSWORD, ip(9)).await.unwrap_err(), unavailable);
    assert_eq!(guess(&harness.accounts, "admin", 9).await, 4);
}
