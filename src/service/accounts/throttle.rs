//! Slows guessing of passwords down, without locking the owner of a login out.
//!
//! | Counter | Free failures | Then waits of 1, 2, 4, … s up to | Forgotten after |
//! |---|---|---|---|
//! | login, from addresses without a good login of it | 5 | 60 s | 15 min |
//! | login, from an address with a good login of it in the last 30 days | 5 | 60 s | 15 min |
//! | address (of IPv6 its /64), over all logins | 20 | 15 min | 1 h |
//!
//! The second line is why strangers cannot keep the owner out: what they fail counts elsewhere.

use crate::sync::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use aws_lc_rs::digest;

use crate::domain::Timestamp;

/// Rows of one counter at most; those that matter least go first.
const ROWS: usize = 10_000;
/// How long an address stays known for a good login.
const KNOWN_FOR: Duration = Duration::from_hours(30 * 24);

const LOGIN: Rule = Rule { free: 5, longest: 60, forgotten: 900 };
const ADDRESS: Rule = Rule { free: 20, longest: 900, forgotten: 3_600 };

/// Hash of a login, so that long ones take no more memory.
type Login = [u8; 32];

/// How one counter slows down; times in seconds.
#[derive(Clone, Copy)]
struct Rule {
    free: u32,
    longest: u64,
    forgotten: u64,
}

#[derive(Clone, Copy)]
struct Row {
    failures: u32,
    last: Timestamp,
}

/// An attempt that was let through; it counts as failed until it is told good.
#[derive(Debug)]
pub(super) struct Attempt {
    login: Login,
    address: IpAddr,
    known: bool,
}

/// The counters.
#[derive(Default)]
pub(super) struct Throttle {
    counters: Mutex<Counters>,
}

#[derive(Default)]
struct Counters {
    logins: HashMap<Login, Row>,
    pairs: HashMap<(Login, IpAddr), Row>,
    addresses: HashMap<IpAddr, Row>,
    good: HashMap<(Login, IpAddr), Timestamp>,
}

impl Throttle {
    /// Lets an attempt on `login` through, or says after how many seconds one is worth trying.
    ///
    /// It is counted as failed at once: many at the same time get no further than many in a row.
    pub(super) fn begin(&self, login: &str, address: IpAddr, now: Timestamp) -> Result<Attempt, u64> {
        let (login, address) = (key(login), network(address));
        let mut counters = self.counters.lock();
        let Counters { logins, pairs, addresses, good } = &mut *counters;
        let pair = (login, address);
        let known = good.get(&pair).is_some_and(|at| now.since(*at) < KNOWN_FOR);
        let own = if known { wait(pairs, &pair, LOGIN, now) } else { wait(logins, &login, LOGIN, now) };
        let longest = own.max(wait(addresses, &address, ADDRESS, now));
        if longest > 0 {
            return Err(longest);
        }
        if known {
            count(pairs, pair, LOGIN, now);
        } else {
            count(logins, login, LOGIN, now);
        }
        count(addresses, address, ADDRESS, now);
        Ok(Attempt { login, address, known })
    }

    /// The attempt was good: it does not count, and its address is known for this login.
    pub(super) fn good(&self, attempt: &Attempt, now: Timestamp) {
        let Attempt { login, address, known } = attempt;
        let mut counters = self.counters.lock();
        let Counters { logins, pairs, addresses, good } = &mut *counters;
        if *known {
            pairs.remove(&(*login, *address));
        } else {
            take_back(logins, login);
        }
        // Only this one: an attacker with a login of its own must not clear what it failed elsewhere.
        take_back(addresses, address);
        if good.len() >= ROWS && !good.contains_key(&(*login, *address)) {
            make_room(good, |at| (0, *at));
        }
        good.insert((*login, *address), now);
    }

    /// The attempt could not be judged: it does not count.
    pub(super) fn void(&self, attempt: &Attempt) {
        let mut counters = self.counters.lock();
        if attempt.known {
            take_back(&mut counters.pairs, &(attempt.login, attempt.address));
        } else {
            take_back(&mut counters.logins, &attempt.login);
        }
        take_back(&mut counters.addresses, &attempt.address);
    }
}

/// Seconds until `key` may try again.
fn wait<K: Hash + Eq>(rows: &mut HashMap<K, Row>, key: &K, rule: Rule, now: Timestamp) -> u64 {
    let Some(row) = rows.get_mut(key) else { return 0 };
    // The clock was set back: waits go on from now, not from a time that has yet to come.
    row.last = row.last.min(now);
    let passed = now.since(row.last);
    if passed >= Duration::from_secs(rule.forgotten) {
        rows.remove(key);
        return 0;
    }
    if row.failures < rule.free {
        return 0;
    }
    let pause = 1_u64.checked_shl(row.failures - rule.free).unwrap_or(u64::MAX).min(rule.longest);
    let left = Duration::from_secs(pause).saturating_sub(passed);
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

fn count<K: Hash + Eq + Clone>(rows: &mut HashMap<K, Row>, key: K, rule: Rule, now: Timestamp) {
    if rows.len() >= ROWS && !rows.contains_key(&key) {
        rows.retain(|_, row| now.since(row.last) < Duration::from_secs(rule.forgotten));
        if rows.len() >= ROWS {
            make_room(rows, |row| (row.failures, row.last));
        }
    }
    let row = rows.entry(key).or_insert(Row { failures: 0, last: now });
    *row = Row { failures: row.failures.saturating_add(1), last: now };
}

fn take_back<K: Hash + Eq>(rows: &mut HashMap<K, Row>, key: &K) {
    if let Some(row) = rows.get_mut(key) {
        row.failures -= row.failures.min(1);
        if row.failures == 0 {
            rows.remove(key);
        }
    }
}

/// Removes a quarter of `rows`: those with the least weight.
fn make_room<K: Hash + Eq + Clone, V>(rows: &mut HashMap<K, V>, weight: impl Fn(&V) -> (u32, Timestamp)) {
    let mut all: Vec<_> = rows.iter().map(|(key, row)| (weight(row), key.clone())).collect();
    all.sort_unstable_by_key(|(weight, _)| *weight);
    for (_, key) in all.into_iter().take(ROWS / 4) {
        rows.remove(&key);
    }
}

fn key(login: &str) -> Login {
    let mut key = [0; 32];
    key.copy_from_slice(digest::digest(&digest::SHA256, login.as_bytes()).as_ref());
    key
}

/// One subscriber has a /64 of IPv6: all of it counts as one address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
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
    fn waits_double_up_to_the_longest_and_end_to_the_second() {
        let throttle = Throttle::default();
        let mut now = 0_i64;
        for expected in [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60_u32] {
            if expected > 0 {
                let told = throttle.begin("anna", ip("192.0.2.1"), at(now)).unwrap_err();
                assert_eq!(told, u64::from(expected));
                let early = at(now + i64::from(expected)) - Duration::from_micros(1);
                assert_eq!(throttle.begin("anna", ip("192.0.2.1"), early).unwrap_err(), 1);
            }
            now += i64::from(expected);
            throttle.begin("anna", ip("192.0.2.1"), at(now)).unwrap();
        }
        // A refused attempt does not lengthen the wait, and all is forgotten in time.
        assert!(throttle.begin("anna", ip("192.0.2.2"), at(now + 59)).is_err());
        assert!(throttle.begin("bert", ip("192.0.2.2"), at(now + 59)).is_ok());
        for _ in 0..5 {
            assert!(throttle.begin("anna", ip("192.0.2.3"), at(now + 900)).is_ok());
        }
    }

    #[test]
    fn strangers_do_not_keep_the_owner_out() {
        let throttle = Throttle::default();
        let owner = throttle.begin("anna", ip("192.0.2.1"), at(0)).unwrap();
        throttle.good(&owner, at(0));
        for host in 0..200 {
            let _ = throttle.begin("anna", ip(&format!("198.51.100.{host}")), at(host));
        }
        assert!(throttle.begin("anna", ip("198.51.100.250"), at(200)).is_err(), "a stranger may go on");
        let again = throttle.begin("anna", ip("192.0.2.1"), at(200)).expect("the owner is kept out");
        throttle.good(&again, at(200));
        // From there, guessing is slowed down all the same.
        let fails = (0..30).filter(|_| throttle.begin("anna", ip("192.0.2.1"), at(201)).is_ok()).count();
        assert_eq!(fails, 5);
        let later = at(200) + KNOWN_FOR;
        for host in 0..6 {
            let _ = throttle.begin("anna", ip(&format!("203.0.113.{host}")), later);
        }
        assert!(throttle.begin("anna", ip("192.0.2.1"), later).is_err(), "known for longer than 30 days");
    }

    #[test]
    fn an_address_that_tries_many_logins_is_slowed_down_whatever_it_logs_into_between() {
        let throttle = Throttle::default();
        let mut through = 0;
        for n in 0..100 {
            let mine = throttle.begin("mallory", ip("2001:db8::1"), at(0));
            if let Ok(attempt) = &mine {
                throttle.good(attempt, at(0));
            }
            let other = ip(&format!("2001:db8::{n:x}"));
            through += usize::from(throttle.begin(&format!("login {n}"), other, at(0)).is_ok());
        }
        assert_eq!(through, 20);
        assert!(throttle.begin("anna", ip("2001:db8:0:1::1"), at(0)).is_ok(), "another network");
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_lengthen_a_wait() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            throttle.begin("anna", ip("192.0.2.1"), at(100_000)).unwrap();
        }
        assert_eq!(throttle.begin("anna", ip("192.0.2.1"), at(0)).unwrap_err(), 1);
        assert!(throttle.begin("anna", ip("192.0.2.1"), at(1)).is_ok());
    }

    #[test]
    fn memory_is_bounded_and_the_worst_are_remembered() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            throttle.begin("anna", ip("192.0.2.1"), at(0)).unwrap();
        }
        for n in 0..u32::try_from(2 * ROWS).unwrap() {
            let [_, high, middle, low] = n.to_be_bytes();
            let address = IpAddr::from([10, high, middle, low]);
            let attempt = throttle.begin(&format!("login {n}"), address, at(0)).unwrap();
            if n % 2 == 0 {
                throttle.good(&attempt, at(0));
                throttle.begin(&format!("login {n}"), address, at(0)).unwrap();
            }
        }
        let counters = throttle.counters.lock();
        let Counters { logins, pairs, addresses, good } = &*counters;
        let sizes = [logins.len(), pairs.len(), addresses.len(), good.len()];
        assert!(sizes.iter().all(|size| *size <= ROWS), "{sizes:?}");
        assert_eq!(logins[&key("anna")].failures, 5);
    }

    #[test]
    fn what_could_not_be_judged_does_not_count() {
        let throttle = Throttle::default();
        for _ in 0..100 {
            let attempt = throttle.begin("anna", ip("192.0.2.1"), at(0)).unwrap();
            throttle.void(&attempt);
        }
        assert!(throttle.counters.lock().logins.is_empty());
    }
}
