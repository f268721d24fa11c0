//! Limits the connections of one address, so that it cannot use all slots.

use crate::sync::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// Most connections of one address at once (of IPv6 its /64): half of all.
const MAX_PER_ADDRESS: usize = super::limits::MAX_CONNECTIONS / 2;

/// Counts connections by address.
#[derive(Clone, Default)]
pub(super) struct ConnectionLimiter {
    counts: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection, uncounted on drop.
pub(super) struct ConnectionPermit {
    limiter: ConnectionLimiter,
    address: Option<IpAddr>,
}

impl ConnectionLimiter {
    /// Counts another connection of `address`; `None` when it is at its limit. This host is exempt, since a proxy on it
    /// connects for all clients.
    pub(super) fn try_acquire(&self, address: IpAddr) -> Option<ConnectionPermit> {
        let address = counter_key(address);
        if address.is_loopback() {
            return Some(ConnectionPermit { limiter: self.clone(), address: None });
        }
        let mut counts = self.counts.lock();
        let count = counts.entry(address).or_default();
        if *count >= MAX_PER_ADDRESS {
            return None;
        }
        *count += 1;
        Some(ConnectionPermit { limiter: self.clone(), address: Some(address) })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut counts = self.limiter.counts.lock();
        let remaining = counts.get(&address).map_or(0, |count| count.saturating_sub(1));
        if remaining == 0 {
            counts.remove(&address);
        } else {
            counts.insert(address, remaining);
        }
    }
}

/// Reduces an address to its counter key: an IPv6 subscriber has a /64.
fn counter_key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_use_all_slots() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let limiter = ConnectionLimiter::default();
        let mut permits: Vec<_> =
            (0..MAX_PER_ADDRESS).map(|_| limiter.try_acquire(ip("192.0.2.1")).unwrap()).collect();
        assert!(limiter.try_acquire(ip("192.0.2.1")).is_none());
        assert!(limiter.try_acquire(ip("::ffff:192.0.2.1")).is_none(), "the same in another form");
        assert!(limiter.try_acquire(ip("192.0.2.2")).is_some());
        permits.pop();
        assert!(limiter.try_acquire(ip("192.0.2.1")).is_some());
        let net: Vec<_> = (0..MAX_PER_ADDRESS)
            .map(|n| limiter.try_acquire(ip(&format!("2001:db8::{n:x}"))).unwrap())
            .collect();
        assert!(limiter.try_acquire(ip("2001:db8::ffff:1")).is_none(), "the same network");
        assert!(limiter.try_acquire(ip("2001:db8:0:1::1")).is_some());
        for host in ["127.0.0.1", "::1"] {
            let many: Vec<_> =
                (0..2 * MAX_PER_ADDRESS).map(|_| limiter.try_acquire(ip(host)).unwrap()).collect();
            drop(many);
        }
        drop((permits, net));
        assert!(limiter.counts.lock().is_empty(), "memory of those who are gone");
    }
}
