//! The rules that slow down password guessing without locking out the owner of a login. They are pure.
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

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::domain::Timestamp;
use crate::store::{ThrottleCounter, ThrottleKind};

const LOGIN_RULE: BackoffRule =
    BackoffRule { free_failures: 5, max_delay_seconds: 60, reset_after: ThrottleKind::Login.ttl() };
const KNOWN_ADDRESS_RULE: BackoffRule =
    BackoffRule { reset_after: ThrottleKind::LoginAtKnownAddress.ttl(), ..LOGIN_RULE };
const ADDRESS_RULE: BackoffRule =
    BackoffRule { free_failures: 20, max_delay_seconds: 900, reset_after: ThrottleKind::Address.ttl() };
const NETWORK_RULE: BackoffRule =
    BackoffRule { free_failures: 100, max_delay_seconds: 60, reset_after: ThrottleKind::Network.ttl() };

/// Parameters of one counter.
#[derive(Clone, Copy)]
struct BackoffRule {
    free_failures: u32,
    max_delay_seconds: u64,
    reset_after: Duration,
}

/// The stored counters that concern an attempt to log in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AttemptCounters {
    /// Failures of the login at addresses that are not known for it.
    pub(super) login: Option<ThrottleCounter>,
    /// Failures of the login at this address, if it is known for it.
    pub(super) login_at_known_address: Option<ThrottleCounter>,
    /// Failures at the address, over all logins.
    pub(super) address: Option<ThrottleCounter>,
    /// Failures in the network, over all logins.
    pub(super) network: Option<ThrottleCounter>,
    /// Last success of the login at the address: one for each key that may have hashed it, that of the newest key
    /// first.
    pub(super) last_successes: Vec<Option<ThrottleCounter>>,
}

impl AttemptCounters {
    /// Takes them from `stored`, which is in the order of the fields.
    pub(super) fn from_stored(stored: &[Option<ThrottleCounter>]) -> Self {
        let mut stored = stored.iter().copied();
        let mut next = || stored.next().flatten();
        Self {
            login: next(),
            login_at_known_address: next(),
            address: next(),
            network: next(),
            last_successes: stored.collect(),
        }
    }

    /// Returns them in the order of the fields.
    pub(super) fn into_stored(self) -> Vec<Option<ThrottleCounter>> {
        let failures = [self.login, self.login_at_known_address, self.address, self.network];
        failures.into_iter().chain(self.last_successes).collect()
    }

    /// Admits an attempt at `now` and returns whether its address is known for the login; or returns the delay in
    /// seconds before the next attempt.
    ///
    /// Counts an admitted attempt as failed at once, so that parallel attempts get no further than sequential ones.
    pub(super) fn try_admit(&mut self, now: Timestamp) -> Result<bool, u64> {
        self.limit_times_to(now);
        let is_known_address = self.is_known_address(now);
        let delay = if is_known_address {
            remaining_delay(self.login_at_known_address, KNOWN_ADDRESS_RULE, now)
        } else {
            remaining_delay(self.login, LOGIN_RULE, now)
                .max(remaining_delay(self.address, ADDRESS_RULE, now))
                .max(remaining_delay(self.network, NETWORK_RULE, now))
        };
        if delay > 0 {
            return Err(delay);
        }
        if is_known_address {
            count_failure(&mut self.login_at_known_address, KNOWN_ADDRESS_RULE, now);
        } else {
            count_failure(&mut self.login, LOGIN_RULE, now);
        }
        count_failure(&mut self.address, ADDRESS_RULE, now);
        count_failure(&mut self.network, NETWORK_RULE, now);
        Ok(is_known_address)
    }

    /// Records that an admitted attempt succeeded: it no longer counts as failed, and its address is known for the login.
    pub(super) fn record_success(&mut self, was_known_address: bool, now: Timestamp) {
        if was_known_address {
            self.login_at_known_address = None;
        } else {
            uncount_failure(&mut self.login);
        }
        // Only this attempt: an attacker with a valid login must not reset the failures of the address.
        uncount_failure(&mut self.address);
        uncount_failure(&mut self.network);
        if let Some(newest) = self.last_successes.first_mut() {
            *newest = Some(ThrottleCounter { failures: 0, last_at: now });
        }
    }

    /// Uncounts an admitted attempt whose password could not be checked.
    pub(super) fn uncount(&mut self, was_known_address: bool) {
        let of_login = if was_known_address { &mut self.login_at_known_address } else { &mut self.login };
        uncount_failure(of_login);
        uncount_failure(&mut self.address);
        uncount_failure(&mut self.network);
    }

    /// Lets no failure be later than `now`: after a clock step back, delays count from now rather than from a time in
    /// the future.
    fn limit_times_to(&mut self, now: Timestamp) {
        let counters =
            [&mut self.login, &mut self.login_at_known_address, &mut self.address, &mut self.network];
        for counter in counters.into_iter().flatten() {
            counter.last_at = counter.last_at.min(now);
        }
    }

    fn is_known_address(&self, now: Timestamp) -> bool {
        let successes = self.last_successes.iter().flatten();
        successes.into_iter().any(|success| now.since(success.last_at) < ThrottleKind::LastSuccess.ttl())
    }
}

/// Returns the seconds until the next attempt may be made.
fn remaining_delay(counter: Option<ThrottleCounter>, rule: BackoffRule, now: Timestamp) -> u64 {
    let Some(counter) = unexpired(counter, rule, now) else { return 0 };
    if counter.failures < rule.free_failures {
        return 0;
    }
    let delay = 1_u64
        .checked_shl(counter.failures - rule.free_failures)
        .unwrap_or(u64::MAX)
        .min(rule.max_delay_seconds);
    let remaining = Duration::from_secs(delay).saturating_sub(now.since(counter.last_at));
    remaining.as_secs() + u64::from(remaining.subsec_nanos() > 0)
}

fn count_failure(counter: &mut Option<ThrottleCounter>, rule: BackoffRule, now: Timestamp) {
    let failures = unexpired(*counter, rule, now).map_or(0, |counter| counter.failures);
    *counter = Some(ThrottleCounter { failures: failures.saturating_add(1), last_at: now });
}

fn uncount_failure(counter: &mut Option<ThrottleCounter>) {
    *counter = counter.and_then(|counter| {
        let failures = counter.failures.checked_sub(1).filter(|failures| *failures > 0)?;
        Some(ThrottleCounter { failures, ..counter })
    });
}

fn unexpired(counter: Option<ThrottleCounter>, rule: BackoffRule, now: Timestamp) -> Option<ThrottleCounter> {
    counter.filter(|counter| now.since(counter.last_at) < rule.reset_after)
}

/// Reduces an address to what counts as one: an IPv6 subscriber has a /64.
pub(super) fn throttled_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Reduces an address to its network: a provider gives customers addresses of several, seldom of many.
pub(super) fn throttled_network(address: IpAddr) -> IpAddr {
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
    use std::collections::HashMap;

    use super::*;

    /// The counters in memory, by kind and text.
    #[derive(Default)]
    struct MemoryThrottle(HashMap<(ThrottleKind, String), ThrottleCounter>);

    /// An admitted attempt: the keys of its counters, and whether its address was known.
    #[derive(Debug)]
    struct Attempt(Vec<(ThrottleKind, String)>, bool);

    impl MemoryThrottle {
        /// Changes the counters of `keys`.
        fn update<T>(
            &mut self,
            keys: &[(ThrottleKind, String)],
            decide: impl FnOnce(&mut AttemptCounters) -> T,
        ) -> T {
            let stored: Vec<_> = keys.iter().map(|key| self.0.get(key).copied()).collect();
            let mut counters = AttemptCounters::from_stored(&stored);
            let decision = decide(&mut counters);
            for (key, counter) in keys.iter().zip(counters.into_stored()) {
                match counter {
                    Some(counter) => self.0.insert(key.clone(), counter),
                    None => self.0.remove(key),
                };
            }
            decision
        }

        fn try_admit(&mut self, login: &str, address: IpAddr, now: Timestamp) -> Result<Attempt, u64> {
            let (network, address) = (throttled_network(address), throttled_address(address));
            let keys = vec![
                (ThrottleKind::Login, login.to_owned()),
                (ThrottleKind::LoginAtKnownAddress, format!("{address} {login}")),
                (ThrottleKind::Address, address.to_string()),
                (ThrottleKind::Network, network.to_string()),
                (ThrottleKind::LastSuccess, format!("{address} {login}")),
            ];
            let is_known_address = self.update(&keys, |counters| counters.try_admit(now))?;
            Ok(Attempt(keys, is_known_address))
        }

        fn record_success(&mut self, attempt: &Attempt, now: Timestamp) {
            self.update(&attempt.0, |counters| counters.record_success(attempt.1, now));
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + second)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn delays_double_up_to_the_longest_and_end_to_the_second() {
        let mut throttle = MemoryThrottle::default();
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
        let mut throttle = MemoryThrottle::default();
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
        let later = at(200) + ThrottleKind::LastSuccess.ttl();
        for host in 0..6 {
            let _ = throttle.try_admit("anna", ip(&format!("203.0.113.{host}")), later);
        }
        assert!(throttle.try_admit("anna", ip("192.0.2.1"), later).is_err(), "known for longer than 30 days");
    }

    #[test]
    fn an_address_that_tries_many_logins_is_throttled_despite_successes_in_between() {
        let mut throttle = MemoryThrottle::default();
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
        let mut throttle = MemoryThrottle::default();
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
        let mut throttle = MemoryThrottle::default();
        let v4 = |n: usize| ip(&format!("198.51.100.{}", n % 250));
        let admitted =
            (0..1_000).filter(|n| throttle.try_admit(&format!("login {n}"), v4(*n), at(0)).is_ok()).count();
        assert_eq!(admitted, 100);
        assert!(throttle.try_admit("anna", ip("198.51.101.1"), at(0)).is_ok(), "another network");
        // Each /64 of the /48 is an address of its own.
        let ipv6_admitted = (0..30)
            .filter(|n| {
                let address = ip(&format!("2001:db8:1:1::{n:x}"));
                throttle.try_admit(&format!("login of IPv6 {n}"), address, at(0)).is_ok()
            })
            .count();
        assert_eq!(ipv6_admitted, 20);
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
        let mut throttle = MemoryThrottle::default();
        for _ in 0..5 {
            throttle.try_admit("anna", ip("192.0.2.1"), at(100_000)).unwrap();
        }
        assert_eq!(throttle.try_admit("anna", ip("192.0.2.1"), at(0)).unwrap_err(), 1);
        assert!(throttle.try_admit("anna", ip("192.0.2.1"), at(1)).is_ok());
    }

    #[test]
    fn cancelled_attempts_do_not_count() {
        let mut throttle = MemoryThrottle::default();
        for _ in 0..100 {
            let attempt = throttle.try_admit("anna", ip("192.0.2.1"), at(0)).unwrap();
            throttle.update(&attempt.0, |counters| counters.uncount(attempt.1));
        }
        assert_eq!(throttle.0, HashMap::new());
    }

    #[test]
    fn an_address_is_known_by_any_key_and_recorded_by_the_newest() {
        let success = |second| Some(ThrottleCounter { failures: 0, last_at: at(second) });
        let mut counters =
            AttemptCounters { last_successes: vec![None, success(0)], ..AttemptCounters::default() };
        assert_eq!(counters.try_admit(at(10)), Ok(true));
        counters.record_success(true, at(10));
        assert_eq!(counters.into_stored(), [None, None, None, None, success(10), success(0)]);
    }

    #[test]
    fn a_refused_attempt_changes_nothing_unless_the_clock_was_set_back() {
        let failed = Some(ThrottleCounter { failures: 9, last_at: at(100) });
        let stored = AttemptCounters { login: failed, address: failed, ..AttemptCounters::default() };
        let mut counters = stored.clone();
        assert_eq!(counters.try_admit(at(101)), Err(15));
        assert_eq!(counters, stored);
        assert_eq!(counters.try_admit(at(99)), Err(16));
        let limited = Some(ThrottleCounter { failures: 9, last_at: at(99) });
        assert_eq!((counters.login, counters.address), (limited, limited));
    }

    #[test]
    fn an_expired_counter_starts_over() {
        let expired = Some(ThrottleCounter { failures: 70, last_at: at(0) });
        let mut counters = AttemptCounters {
            login: expired,
            address: expired,
            network: expired,
            ..AttemptCounters::default()
        };
        assert_eq!(counters.try_admit(at(3_600)), Ok(false));
        let first = Some(ThrottleCounter { failures: 1, last_at: at(3_600) });
        assert_eq!((counters.login, counters.address, counters.network), (first, first, first));
    }
}
