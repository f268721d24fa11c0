//! Throttles logins by the rules of `throttle_rules.rs`, with counters in the store: all servers share them, and a
//! restart does not reset them.
//!
//! The store contains keyed hashes only, since a login that does not exist may be a mistyped password. The oldest key of
//! the keyring makes them, which all servers have and `vigie key rotate` keeps; after `vigie key prune` removed it,
//! counters start over. Known addresses are found by any key and recorded by the newest one, so after `vigie key prune`
//! those that logged in since the rotation are still known.

use std::net::IpAddr;
use std::sync::Arc;

use crate::domain::Timestamp;
use crate::service::caller::ServiceError;
use crate::store::{StoreError, ThrottleCounter, ThrottleDecision, ThrottleKey, ThrottleKind, ThrottleStore};
use crate::vault::Keyring;

use super::throttle_rules::{AttemptCounters, throttled_address, throttled_network};

/// An admitted login attempt; it counts as failed until its success is recorded.
#[derive(Debug)]
pub(in crate::service) struct LoginAttempt {
    /// The keys of its counters, in the order of [`AttemptCounters`].
    keys: Vec<ThrottleKey>,
    /// Whether the address was known for the login; decides which of the counters has the attempt.
    is_known_address: bool,
}

/// Throttles login attempts.
pub(in crate::service) struct LoginThrottle {
    throttle_store: Arc<dyn ThrottleStore>,
    keyring: Arc<Keyring>,
    /// Keeps the counters apart from those of throttles with another purpose.
    purpose: &'static str,
}

impl LoginThrottle {
    /// Creates the throttle of `purpose`; it shares its counters with all throttles of the same purpose and keys.
    pub(in crate::service) fn new(
        throttle_store: Arc<dyn ThrottleStore>,
        keyring: Arc<Keyring>,
        purpose: &'static str,
    ) -> Self {
        Self { throttle_store, keyring, purpose }
    }

    /// Admits an attempt on `login`, and counts it as failed before this returns.
    ///
    /// # Errors
    /// [`ServiceError::RateLimited`] with the delay in seconds before the next attempt; the refusal costs only a read.
    /// [`ServiceError::StoreFailed`] when the attempt cannot be counted, so it is not admitted either.
    pub(in crate::service) async fn try_admit(
        &self,
        login: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<LoginAttempt, ServiceError> {
        let keys = self.counter_keys(login, address)?;
        let stored = self.throttle_store.throttle_counters(keys.clone()).await?;
        let (admission, counters) = decide_admission(&stored, now);
        if let Err(delay) = admission
            && counters == stored
        {
            return Err(ServiceError::RateLimited(delay));
        }
        // Others may have changed the counters since.
        let decide: ThrottleDecision = Arc::new(move |stored| decide_admission(stored, now).1);
        let stored = self.throttle_store.update_throttle_counters(keys.clone(), now, decide).await?;
        let is_known_address = decide_admission(&stored, now).0.map_err(ServiceError::RateLimited)?;
        Ok(LoginAttempt { keys, is_known_address })
    }

    /// Records a successful attempt: it no longer counts as failed, and its address is known for this login.
    pub(in crate::service) async fn record_success(
        &self,
        attempt: &LoginAttempt,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let was_known_address = attempt.is_known_address;
        self.update(attempt, now, move |counters| counters.record_success(was_known_address, now)).await
    }

    /// Uncounts an attempt whose password could not be checked. If that fails, the attempt counts as failed.
    pub(in crate::service) async fn uncount(&self, attempt: &LoginAttempt, now: Timestamp) {
        let was_known_address = attempt.is_known_address;
        let uncounted = self.update(attempt, now, move |counters| counters.uncount(was_known_address)).await;
        if let Err(error) = uncounted {
            tracing::warn!(error_kind = error.kind(), "login that was not checked counts as failed: {error}");
        }
    }

    /// Removes expired counters; returns how many.
    pub(in crate::service) async fn remove_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.throttle_store.remove_expired_throttle_counters(now).await
    }

    async fn update(
        &self,
        attempt: &LoginAttempt,
        now: Timestamp,
        change: impl Fn(&mut AttemptCounters) + Send + Sync + 'static,
    ) -> Result<(), StoreError> {
        let decide: ThrottleDecision = Arc::new(move |stored| {
            let mut counters = AttemptCounters::from_stored(stored);
            change(&mut counters);
            counters.into_stored()
        });
        self.throttle_store.update_throttle_counters(attempt.keys.clone(), now, decide).await?;
        Ok(())
    }

    /// Returns the keys of the counters of an attempt, in the order of [`AttemptCounters`].
    fn counter_keys(&self, login: &str, address: IpAddr) -> Result<Vec<ThrottleKey>, ServiceError> {
        let (network, address) = (throttled_network(address), throttled_address(address));
        // An address contains no space.
        let login_and_address = format!("{address} {login}");
        let by_oldest_key = [
            (ThrottleKind::Login, login),
            (ThrottleKind::LoginAtKnownAddress, &login_and_address),
            (ThrottleKind::Address, &address.to_string()),
            (ThrottleKind::Network, &network.to_string()),
        ];
        let mut keys = Vec::new();
        for (kind, text) in by_oldest_key {
            let Some(hash) = self.hashes(kind, text).into_iter().next() else {
                return Err(ServiceError::Unavailable(
                    "The key file of the server cannot be used".to_owned(),
                ));
            };
            keys.push(ThrottleKey { kind, hash });
        }
        let kind = ThrottleKind::LastSuccess;
        let newest_first = self.hashes(kind, &login_and_address).into_iter().rev();
        keys.extend(newest_first.map(|hash| ThrottleKey { kind, hash }));
        Ok(keys)
    }

    /// Returns the hashes of `text` by each key of the keyring, that of the oldest key first.
    fn hashes(&self, kind: ThrottleKind, text: &str) -> Vec<[u8; 32]> {
        let kind = match kind {
            ThrottleKind::Login => "login",
            ThrottleKind::LoginAtKnownAddress => "login at known address",
            ThrottleKind::Address => "address",
            ThrottleKind::Network => "network",
            ThrottleKind::LastSuccess => "last success",
        };
        self.keyring.sign_with_each_key(&format!("throttle/{}/{kind}", self.purpose), text.as_bytes())
    }
}

/// Decides whether an attempt at `now` is admitted; returns whether its address is known for the login, or the delay in
/// seconds, and the new counters.
fn decide_admission(
    stored: &[Option<ThrottleCounter>],
    now: Timestamp,
) -> (Result<bool, u64>, Vec<Option<ThrottleCounter>>) {
    let mut counters = AttemptCounters::from_stored(stored);
    let admission = counters.try_admit(now);
    (admission, counters.into_stored())
}
