//! The addresses of this host.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::effective_address;
use crate::sync::Mutex;

/// How long the list of addresses is reused. Reading it takes some 30 µs, which is too much for each connection.
const MAX_AGE: Duration = Duration::from_secs(1);

/// When the addresses were read, and the addresses.
type CachedAddresses = Option<(Instant, Arc<HashSet<IpAddr>>)>;

/// Whether packets to `address` reach this host itself.
pub(super) fn is_own_address(address: IpAddr) -> bool {
    let effective = effective_address(address);
    effective.is_loopback() || own_addresses().contains(&effective)
}

/// Returns the addresses of the interfaces of this host, at most [`MAX_AGE`] old. If they cannot be read, the last
/// known ones are returned.
pub(super) fn own_addresses() -> Arc<HashSet<IpAddr>> {
    static CACHE: Mutex<CachedAddresses> = Mutex::new(None);
    let mut cache = CACHE.lock();
    if let Some((read_at, addresses)) = &*cache
        && read_at.elapsed() < MAX_AGE
    {
        return Arc::clone(addresses);
    }
    let addresses = match read_interface_addresses() {
        Ok(addresses) => Arc::new(addresses),
        Err(error) => {
            tracing::warn!(error = %error, "failed to read the addresses of this host");
            cache.as_ref().map(|(_, addresses)| Arc::clone(addresses)).unwrap_or_default()
        }
    };
    *cache = Some((Instant::now(), Arc::clone(&addresses)));
    addresses
}

fn read_interface_addresses() -> nix::Result<HashSet<IpAddr>> {
    let addresses = nix::ifaddrs::getifaddrs()?.filter_map(|interface| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
    });
    Ok(addresses.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_interfaces_are_own_addresses() {
        assert!(own_addresses().contains(&IpAddr::from([127, 0, 0, 1])));
        for own in ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::ffff:127.0.0.1"] {
            assert!(is_own_address(own.parse().unwrap()), "{own}");
        }
        assert!(!is_own_address("192.0.2.1".parse().unwrap()));
    }
}
