//! Throttles password guessing without locking out the owner of a login.
//!
//! | Counter | Free failures | Then delays of 1, 2, 4, … s up to | Reset after |
//! |---|---|---|---|
//! | login, from addresses without a successful login of it | 5 | 60 s | 15 min |
//! | login, from an address with a successful login of it in the last 30 days | 5 | 60 s | 15 min |
//! | address (of IPv6 its /64), over all logins | 20 | 15 min | 1 h |
//! | network (IPv4 /24, IPv6 /48), over all logins | 100 | 60 s | 1 h |
//!
//! An owner at a known address (second row) is delayed by the failures of that row alone: neither strangers who guess
//! the login nor others behind the same address or in the same network lock the owner out.

use crate::sync::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use aws_lc_rs::digest;

use crate::domain::Timestamp;

/// Most entries of each map of counters; those with the fewest failures are evicted first.
const MAX_COUNTERS: usize = 10_000;
/// How long an address stays known after a successful login.
const KNOWN_ADDRESS_TTL: Duration = Duration::from_hours(30 * 24);

const LOGIN_RULE: BackoffRule =
    BackoffRule { free_failures: 5, max_delay_seconds: 60, reset_after_seconds: 900 };
const ADDRESS_RULE: BackoffRule =
    BackoffRule { free_failures: 20, max_delay_seconds: 900, reset_after_seconds: 3_600 };

const NETWORK_RULE: BackoffRule =
    BackoffRule { free_failures: 100, max_delay_seconds: 60, reset_after_seconds: 3_600 };

/// Hash of a login: all logins take the same memory, however long.
type LoginHash = [u8; 32];

/// Parameters of one counter; times in seconds.
#[derive(Clone, Copy)]
struct BackoffRule {
    free_failures: u32,
    max_delay_seconds: u64,
    reset_after_seconds: u64,
}

#[derive(Clone, Copy)]
struct FailureCounter {
    failures: u32,
    last_failure: Timestamp,
}

/// An admitted login attempt; it counts as failed until its success is recorded.
#[derive(Debug)]
pub(in crate::service) struct LoginAttempt {
    login_hash: LoginHash,
    address: IpAddr,
    /// Whether the address was known for the login; decides which of the counters has the attempt.
    is_known_address: bool,
}

/// Throttles login attempts.
#[derive(Default)]
pub(in crate::service) struct LoginThrottle {
    counters: Mutex<ThrottleCounters>,
}

#[derive(Default)]
struct ThrottleCounters {
    /// By login, from addresses that are not known for it.
    login_failures: HashMap<LoginHash, FailureCounter>,
    /// Failures at addresses that are known for the login; `login_failures` has those at other addresses.
    known_address_failures: HashMap<(LoginHash, IpAddr), FailureCounter>,
    /// By address, of IPv6 by its /64.
    address_failures: HashMap<IpAddr, FailureCounter>,
    /// By first address of the network.
    network_failures: HashMap<IpAddr, FailureCounter>,
    /// Time of the last successful login, by login and address.
    known_addresses: HashMap<(LoginHash, IpAddr), Timestamp>,
}

impl LoginThrottle {
    /// Admits an attempt on `login`, or returns the delay in seconds before the next one.
    ///
    /// Counts the attempt as failed at once, so that parallel attempts get no further than sequential ones.
    pub(in crate::service) fn try_admit(
        &self,
        login: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<LoginAttempt, u64> {
        let (login, network) = (hash_login(login), throttled_network(address));
        let address = throttled_address(address);
        let mut counters = self.counters.lock();
        let ThrottleCounters {
            login_failures: logins,
            known_address_failures: failures_from_known,
            address_failures: addresses,
            network_failures: networks,
            known_addresses: last_successes,
        } = &mut *counters;
        let login_and_address = (login, address);
        let is_known_address =
            last_successes.get(&login_and_address).is_some_and(|at| now.since(*at) < KNOWN_ADDRESS_TTL);
        let delay = if is_known_address {
            remaining_delay(failures_from_known, &login_and_address, LOGIN_RULE, now)
        } else {
            remaining_delay(logins, &login, LOGIN_RULE, now)
                .max(remaining_delay(addresses, &address, ADDRESS_RULE, now))
                .max(remaining_delay(networks, &network, NETWORK_RULE, now))
        };
        if delay > 0 {
            return Err(delay);
        }
        if is_known_address {
            count_failure(failures_from_known, login_and_address, LOGIN_RULE, now);
        } else {
            count_failure(logins, login, LOGIN_RULE, now);
        }
        count_failure(addresses, address, ADDRESS_RULE, now);
        count_failure(networks, network, NETWORK_RULE, now);
        Ok(LoginAttempt { login_hash: login, address, is_known_address })
    }

    /// Records a successful attempt: it no longer counts as failed, and its address is known for this login.
    pub(in crate::service) fn record_success(&self, attempt: &LoginAttempt, now: Timestamp) {
        let LoginAttempt { login_hash: login, address, is_known_address: known } = attempt;
        let mut counters = self.counters.lock();
        let ThrottleCounters {
            login_failures: logins,
            known_address_failures: failures_from_known,
            address_failures: addresses,
            network_failures: networks,
            known_addresses: last_successes,
        } = &mut *counters;
        if *known {
            failures_from_known.remove(&(*login, *address));
        } else {
            uncount_failure(logins, login);
        }
        // Only this attempt: an attacker with a valid login must not reset the failures of the address.
        uncount_failure(addresses, address);
        uncount_failure(networks, &throttled_network(*address));
        if last_successes.len() >= MAX_COUNTERS && !last_successes.contains_key(&(*login, *address)) {
            evict_lowest_quarter(last_successes, |at| (0, *at));
        }
        last_successes.insert((*login, *address), now);
    }

    /// Uncounts an attempt whose password could not be checked.
    pub(in crate::service) fn uncount(&self, attempt: &LoginAttempt) {
        let mut counters = self.counters.lock();
        if attempt.is_known_address {
            uncount_failure(&mut counters.known_address_failures, &(attempt.login_hash, attempt.address));
        } else {
            uncount_failure(&mut counters.login_failures, &attempt.login_hash);
        }
        uncount_failure(&mut counters.address_failures, &attempt.address);
        uncount_failure(&mut counters.network_failures, &throttled_network(attempt.address));
    }
}

/// Returns the seconds until `key` may try again.
fn remaining_delay<K: Hash + Eq>(
    counters: &mut HashMap<K, FailureCounter>,
    key: &K,
    rule: BackoffRule,
    now: Timestamp,
) -> u64 {
    let Some(counter) = counters.get_mut(key) else { return 0 };
    // After a clock step back, the delay counts from now rather than from a time in the future.
    counter.last_failure = counter.last_failure.min(now);
    let elapsed = now.since(counter.last_failure);
    if elapsed >= Duration::from_secs(rule.reset_after_seconds) {
        counters.remove(key);
        return 0;
    }
    if counter.failures < rule.free_failures {
        return 0;
    }
    let delay = 1_u64
        .checked_shl(counter.failures - rule.free_failures)
        .unwrap_or(u64::MAX)
        .min(rule.max_delay_seconds);
    let remaining = Duration::from_secs(delay).saturating_sub(elapsed);
    remaining.as_secs() + u64::from(remaining.subsec_nanos() > 0)
}

fn count_failure<K: Hash + Eq + Clone>(
    counters: &mut HashMap<K, FailureCounter>,
    key: K,
    rule: BackoffRule,
    now: Timestamp,
) {
    if counters.len() >= MAX_COUNTERS && !counters.contains_key(&key) {
        counters.retain(|_, counter| {
            now.since(counter.last_failure) < Duration::from_secs(rule.reset_after_seconds)
        });
        if counters.len() >= MAX_COUNTERS {
            evict_lowest_quarter(counters, |counter| (counter.failures, counter.last_failure));
        }
    }
    let counter = counters.entry(key).or_insert(FailureCounter { failures: 0, last_failure: now });
    *counter = FailureCounter { failures: counter.failures.saturating_add(1), last_failure: now };
}

fn uncount_failure<K: Hash + Eq>(counters: &mut HashMap<K, FailureCounter>, key: &K) {
    if let Some(counter) = counters.get_mut(key) {
        counter.failures -= counter.failures.min(1);
        if counter.failures == 0 {
            counters.remove(key);
        }
    }
}

/// Removes the quarter of `counters` with the lowest rank.
fn evict_lowest_quarter<K: Hash + Eq + Clone, V>(
    counters: &mut HashMap<K, V>,
    rank: impl Fn(&V) -> (u32, Timestamp),
) {
    let mut ranked_keys: Vec<_> = counters.iter().map(|(key, value)| (rank(value), key.clone())).collect();
    ranked_keys.sort_unstable_by_key(|(rank, _)| *rank);
    for (_, key) in ranked_keys.into_iter().take(MAX_COUNTERS / 4) {
        counters.remove(&key);
    }
}

fn hash_login(login: &str) -> LoginHash {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, login.as_bytes()).as_ref());
    hash
}

/// Reduces an address to its counter key: an IPv6 subscriber has a /64, which counts as one address.
fn throttled_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Reduces an address to its network: a provider gives customers addresses of several, seldom of many.
fn throttled_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 80))),
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            IpAddr::from([a, b, c, 0])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + second)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn delays_double_up_to_the_longest_and_end_to_the_second() {
        let throttle = LoginThrottle::default();
        let mut now = 0_i64;
        for expected in [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60_u32] {
            if expected > 0 {
                let delay = throttle.try_admit("anna", ip("192.0.2.1"), at(now)).unwrap_err();
                assert_eq!(delay, u64::from(expected));
                let early = at(now + i64::from(expected)) - Duration::from_micros(1);
                assert_eq!(throttle.try_admit("anna", ip("192.0.2.1"), early).unwrap_err(), 1);
            }
            now += i64::from(expected);
            throttle.try_admit("anna", ip("192.0.2.1"), at(now)).unwrap();
        }
        // A refused attempt does not extend the delay, and the counters reset in time.
        assert!(throttle.try_admit("anna", ip("192.0.2.2"), at(now + 59)).is_err());
        assert!(throttle.try_admit("bert", ip("192.0.2.2"), at(now + 59)).is_ok());
        for _ in 0..5 {
            assert!(throttle.try_admit("anna", ip("192.0.2.3"), at(now + 900)).is_ok());
        }
    }

    #[test]
    fn strangers_do_not_lock_out_the_owner() {
        let throttle = LoginThrottle::default();
        let owner = throttle.try_admit("anna", ip("192.0.2.1"), at(0)).unwrap();
        throttle.record_success(&owner, at(0));
        for host in 0..200 {
            let _ = throttle.try_admit("anna", ip(&format!("198.51.100.{host}")), at(host));
        }
        assert!(throttle.try_admit("anna", ip("198.51.100.250"), at(200)).is_err(), "a stranger may go on");
        let again = throttle.try_admit("anna", ip("192.0.2.1"), at(200)).expect("the owner is kept out");
        throttle.record_success(&again, at(200));
        // Guesses from a known address are throttled all the same.
        let admitted =
            (0..30).filter(|_| throttle.try_admit("anna", ip("192.0.2.1"), at(201)).is_ok()).count();
        assert_eq!(admitted, 5);
        let later = at(200) + KNOWN_ADDRESS_TTL;
        for host in 0..6 {
            let _ = throttle.try_admit("anna", ip(&format!("203.0.113.{host}")), later);
        }
        assert!(throttle.try_admit("anna", ip("192.0.2.1"), later).is_err(), "known for longer than 30 days");
    }

    #[test]
    fn an_address_that_tries_many_logins_is_throttled_despite_successes_in_between() {
        let throttle = LoginThrottle::default();
        let mut admitted = 0;
        for n in 0..100 {
            let own_attempt = throttle.try_admit("mallory", ip("2001:db8::1"), at(0));
            if let Ok(attempt) = &own_attempt {
                throttle.record_success(attempt, at(0));
            }
            let neighbour_address = ip(&format!("2001:db8::{n:x}"));
            admitted +=
                usize::from(throttle.try_admit(&format!("login {n}"), neighbour_address, at(0)).is_ok());
        }
        assert_eq!(admitted, 20);
        assert!(throttle.try_admit("anna", ip("2001:db8:0:1::1"), at(0)).is_ok(), "another network");
    }

    #[test]
    fn others_behind_the_same_address_do_not_slow_the_owner() {
        let throttle = LoginThrottle::default();
        let owner = throttle.try_admit("anna", ip("192.0.2.1"), at(0)).unwrap();
        throttle.record_success(&owner, at(0));
        for n in 0..2_000 {
            let _ = throttle.try_admit(&format!("login {n}"), ip("192.0.2.1"), at(n));
            let _ = throttle.try_admit("anna", ip(&format!("198.51.100.{}", n % 250)), at(n));
        }
        assert!(throttle.try_admit("clara", ip("192.0.2.1"), at(2_000)).is_err(), "a stranger may go on");
        let again = throttle.try_admit("anna", ip("192.0.2.1"), at(2_000)).expect("the owner is kept out");
        throttle.record_success(&again, at(2_000));
    }

    #[test]
    fn spraying_over_many_addresses_is_slowed_by_network() {
        let throttle = LoginThrottle::default();
        let count_admitted = |base: &str, count: usize| {
            let try_one = |n: &usize| {
                let address = ip(&format!("{base}{:x}", n % 250));
                throttle.try_admit(&format!("login {base} {n}"), address, at(0)).is_ok()
            };
            (0..count).filter(try_one).count()
        };
        let v4 = |n: usize| ip(&format!("198.51.100.{}", n % 250));
        let admitted =
            (0..1_000).filter(|n| throttle.try_admit(&format!("login {n}"), v4(*n), at(0)).is_ok()).count();
        assert_eq!(admitted, 100);
        assert!(throttle.try_admit("anna", ip("198.51.101.1"), at(0)).is_ok(), "another network");
        // Each /64 of the /48 is an address of its own.
        assert_eq!(count_admitted("2001:db8:1:1::", 30), 20);
        let admitted_subnets = (2..1_000)
            .filter(|n| {
                let address = ip(&format!("2001:db8:1:{n:x}::1"));
                throttle.try_admit(&format!("subnet {n}"), address, at(0)).is_ok()
            })
            .count();
        assert_eq!(admitted_subnets, 80);
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_extend_a_delay() {
        let throttle = LoginThrottle::default();
        for _ in 0..5 {
            throttle.try_admit("anna", ip("192.0.2.1"), at(100_000)).unwrap();
        }
        assert_eq!(throttle.try_admit("anna", ip("192.0.2.1"), at(0)).unwrap_err(), 1);
        assert!(throttle.try_admit("anna", ip("192.0.2.1"), at(1)).is_ok());
    }

    #[test]
    fn memory_is_bounded_and_the_most_failures_are_kept() {
        let throttle = LoginThrottle::default();
        for _ in 0..5 {
            throttle.try_admit("anna", ip("192.0.2.1"), at(0)).unwrap();
        }
        for n in 0..u32::try_from(2 * MAX_COUNTERS).unwrap() {
            let [_, high, middle, low] = n.to_be_bytes();
            let address = IpAddr::from([10, low, middle, high]);
            let attempt = throttle.try_admit(&format!("login {n}"), address, at(0)).unwrap();
            if n % 2 == 0 {
                throttle.record_success(&attempt, at(0));
                throttle.try_admit(&format!("login {n}"), address, at(0)).unwrap();
            }
        }
        let counters = throttle.counters.lock();
        let ThrottleCounters {
            login_failures: logins,
            known_address_failures: failures_from_known,
            address_failures: addresses,
            network_failures: networks,
            known_addresses: last_successes,
        } = &*counters;
        let sizes =
            [logins.len(), failures_from_known.len(), addresses.len(), networks.len(), last_successes.len()];
        assert!(sizes.iter().all(|size| *size <= MAX_COUNTERS), "{sizes:?}");
        assert_eq!(logins[&hash_login("anna")].failures, 5);
    }

    #[test]
    fn cancelled_attempts_do_not_count() {
        let throttle = LoginThrottle::default();
        for _ in 0..100 {
            let attempt = throttle.try_admit("anna", ip("192.0.2.1"), at(0)).unwrap();
            throttle.uncount(&attempt);
        }
        assert!(throttle.counters.lock().login_failures.is_empty());
    }
}
