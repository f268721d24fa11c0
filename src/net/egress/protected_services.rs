//! Services of Vigie itself, which no check, no notification and no browser may reach: `WebDriver` and `DevTools`
//! accept commands from every local process, and the pages of Vigie may trust this host.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::effective_address;
use super::own_addresses::is_own_address;
use super::policy::EgressDenied;
use crate::sync::RwLock;

/// One registry for the process: a port belongs to the host, whichever location or account connects to it.
static REGISTRY: RwLock<Option<Registry>> = RwLock::new(None);

/// Number of services at each address. `None` stands for every address of this host.
type Registry = HashMap<(Option<IpAddr>, u16), usize>;

/// A registered service. Dropping it ends the protection.
#[derive(Debug)]
#[must_use = "dropping it ends the protection"]
pub struct ProtectedService {
    /// Its entry in the [`Registry`].
    key: (Option<IpAddr>, u16),
}

impl ProtectedService {
    fn register(key: (Option<IpAddr>, u16)) -> Self {
        *REGISTRY.write().get_or_insert_default().entry(key).or_default() += 1;
        Self { key }
    }
}

impl Drop for ProtectedService {
    fn drop(&mut self) {
        let mut registry = REGISTRY.write();
        let Some(registry) = registry.as_mut() else { return };
        if let Some(count) = registry.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                registry.remove(&self.key);
            }
        }
    }
}

/// Protects `port` on all addresses of this host.
pub fn protect_local_port(port: u16) -> ProtectedService {
    ProtectedService::register((None, port))
}

/// Protects the service at `address`, such as a remote WebDriver.
pub fn protect_address(address: SocketAddr) -> ProtectedService {
    let effective = effective_address(address.ip());
    let ip = if is_own_address(effective) { None } else { Some(effective) };
    ProtectedService::register((ip, address.port()))
}

/// Checks that no protected service listens at `address`.
pub(in crate::net) fn check_not_protected(address: SocketAddr) -> Result<(), EgressDenied> {
    let registry = REGISTRY.read();
    let Some(registry) = registry.as_ref() else { return Ok(()) };
    let effective = effective_address(address.ip());
    let port = address.port();
    let is_protected = registry.contains_key(&(Some(effective), port))
        || registry.contains_key(&(None, port)) && is_own_address(effective);
    if is_protected { Err(EgressDenied::Protected { address }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_protected(address: &str) -> bool {
        check_not_protected(address.parse().unwrap()).is_err()
    }

    #[test]
    fn a_local_port_is_protected_on_every_own_address_until_the_guard_is_dropped() {
        // Ports below 1024, which no test of this process listens on.
        let (first, second) = (protect_local_port(771), protect_local_port(771));
        for address in
            ["127.0.0.1:771", "127.8.8.8:771", "[::1]:771", "0.0.0.0:771", "[::ffff:127.0.0.1]:771"]
        {
            assert!(is_protected(address), "{address}");
        }
        assert!(!is_protected("127.0.0.1:772") && !is_protected("192.0.2.1:771"));
        drop(first);
        assert!(is_protected("127.0.0.1:771"));
        drop(second);
        assert!(!is_protected("127.0.0.1:771"));
    }

    #[test]
    fn a_remote_service_is_protected_at_its_address() {
        let [remote, local] =
            ["192.0.2.9:773", "[::1]:774"].map(|address| protect_address(address.parse().unwrap()));
        assert!(is_protected("192.0.2.9:773") && is_protected("[64:ff9b::c000:209]:773"));
        assert!(!is_protected("192.0.2.10:773") && !is_protected("127.0.0.1:773"));
        assert!(is_protected("127.0.0.1:774") && is_protected("[::1]:774"));
        drop((remote, local));
        assert!(!is_protected("192.0.2.9:773") && !is_protected("127.0.0.1:774"));
    }
}
