//! Limits connections in total and by network, so that no network can use all of them.

use crate::sync::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::limits::MAX_CONNECTIONS;

/// Counts connections in total and by network.
#[derive(Clone, Default)]
pub(super) struct ConnectionLimiter {
    counts: Arc<Mutex<ConnectionCounts>>,
}

#[derive(Default)]
struct ConnectionCounts {
    total: usize,
    by_network: HashMap<IpAddr, usize>,
}

/// A connection, uncounted on drop.
pub(super) struct ConnectionPermit {
    limiter: ConnectionLimiter,
    /// `None` for an address that has no limit of its own.
    network: Option<IpAddr>,
}

impl ConnectionLimiter {
    /// Counts another connection of `address`. Returns `None` when all are in use, or when the network of `address` has
    /// as many as are left: a single network gets half of all, two get a third each, and some are always free for the
    /// next network. `is_exempt_from_network_limit`: for proxies that connect for all clients.
    pub(super) fn try_acquire(
        &self,
        address: IpAddr,
        is_exempt_from_network_limit: bool,
    ) -> Option<ConnectionPermit> {
        let network = (!is_exempt_from_network_limit).then(|| network_of(address));
        let mut counts = self.counts.lock();
        let free = MAX_CONNECTIONS - counts.total;
        if free == 0 {
            return None;
        }
        if let Some(network) = network {
            let count = counts.by_network.entry(network).or_default();
            if *count >= free {
                return None;
            }
            *count += 1;
        }
        counts.total += 1;
        Some(ConnectionPermit { limiter: self.clone(), network })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.limiter.counts.lock();
        counts.total = counts.total.saturating_sub(1);
        let Some(network) = self.network else { return };
        let remaining = counts.by_network.get(&network).map_or(0, |count| count.saturating_sub(1));
        if remaining == 0 {
            counts.by_network.remove(&network);
        } else {
            counts.by_network.insert(network, remaining);
        }
    }
}

/// Reduces an address to its network: the /24 of IPv4, the /48 of IPv6, which one site may have.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & (u32::MAX << 8))),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 80))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(limiter: &ConnectionLimiter, address: &str) -> Vec<ConnectionPermit> {
        let address = address.parse().unwrap();
        std::iter::from_fn(|| limiter.try_acquire(address, false)).collect()
    }

    #[test]
    fn one_network_cannot_use_all_connections() {
        let limiter = ConnectionLimiter::default();
        let mut first = fill(&limiter, "192.0.2.1");
        assert_eq!(first.len(), MAX_CONNECTIONS / 2);
        for same in ["192.0.2.77", "::ffff:192.0.2.1"] {
            assert!(fill(&limiter, same).is_empty(), "{same}");
        }
        let second = fill(&limiter, "2001:db8::1");
        assert_eq!(second.len(), MAX_CONNECTIONS / 4);
        assert!(fill(&limiter, "2001:db8:0:ffff::1").is_empty(), "the same site");
        let third = fill(&limiter, "2001:db8:1::1");
        assert_eq!(third.len(), MAX_CONNECTIONS / 8);
        first.truncate(1);
        assert!(!fill(&limiter, "192.0.2.1").is_empty(), "what it gave back is free again");
        drop((first, second, third));
        let counts = limiter.counts.lock();
        assert!(counts.total == 0 && counts.by_network.is_empty(), "memory of those who are gone");
    }

    #[test]
    fn a_proxy_may_use_all_connections_but_not_more() {
        let limiter = ConnectionLimiter::default();
        let proxy = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let all: Vec<_> = std::iter::from_fn(|| limiter.try_acquire(proxy, true)).collect();
        assert_eq!(all.len(), MAX_CONNECTIONS);
        assert!(limiter.try_acquire("192.0.2.1".parse().unwrap(), false).is_none());
    }
}
