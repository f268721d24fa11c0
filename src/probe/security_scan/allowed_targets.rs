//! What may be scanned: networks and name patterns of the settings.

use std::net::IpAddr;
use std::num::NonZeroU32;

use crate::forward_proxy::BlockedHosts;
use crate::net::{IpNetwork, effective_address};
use crate::schema::validation_context::SecurityTargetLookup;

/// The settings of security scans (`security.*`).
#[derive(Clone, Debug)]
pub struct SecurityScanSettings {
    /// What may be scanned; `None` for everything, as with `vigie check` on the host itself.
    pub allowed_targets: Option<AllowedTargets>,
    /// Connections a second to a target.
    pub connections_per_second: NonZeroU32,
}

impl Default for SecurityScanSettings {
    fn default() -> Self {
        let connections_per_second = NonZeroU32::new(5).unwrap_or(NonZeroU32::MIN);
        Self { allowed_targets: Some(AllowedTargets::default()), connections_per_second }
    }
}

/// Networks and name patterns that may be scanned. Empty: nothing may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedTargets {
    networks: Vec<IpNetwork>,
    /// Patterns such as `*.example.com`.
    names: BlockedHosts,
}

impl AllowedTargets {
    /// Parses the entries of `security.allowed_targets`; `None` when one is neither a network nor a pattern.
    #[must_use]
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Option<Self> {
        let (mut networks, mut names) = (Vec::new(), Vec::new());
        for text in texts.iter().map(AsRef::as_ref) {
            match text.trim().parse::<IpNetwork>() {
                Ok(network) => networks.push(network),
                Err(_) if text.trim().is_empty() => return None,
                Err(_) => names.push(text),
            }
        }
        Some(Self { networks, names: BlockedHosts::parse(&names).ok()? })
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks `host`, a name or an address, before it is resolved. A name that matches no pattern may still lead to an
    /// allowed network.
    ///
    /// # Errors
    /// Why it may not be scanned, without a full stop.
    pub fn check_host(&self, host: &str) -> Result<(), String> {
        if self.is_empty() {
            return Err("`security.allowed_targets` is empty, so nothing is scanned".to_owned());
        }
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => self.check_addresses(host, &[address]),
            Err(_) if self.networks.is_empty() && self.names.matching_pattern(host).is_none() => {
                Err(not_allowed(host))
            }
            Err(_) => Ok(()),
        }
    }

    /// Checks the addresses of `host`. All must be in an allowed network; only the public ones of a name that matches a
    /// pattern need not, so that no name leads a scan into a private network.
    ///
    /// # Errors
    /// Why it may not be scanned, without a full stop.
    pub fn check_addresses(&self, host: &str, addresses: &[IpAddr]) -> Result<(), String> {
        let is_named = self.names.matching_pattern(host).is_some();
        for &address in addresses {
            let in_network = self.networks.iter().any(|network| network.contains(address));
            let forms = [address, effective_address(address)];
            if in_network || is_named && forms.iter().all(|form| is_public(*form)) {
                continue;
            }
            if address.to_string() == host.trim_matches(['[', ']']) {
                return Err(not_allowed(host));
            }
            return Err(format!(
                "`{host}` leads to {address}, which `security.allowed_targets` does not list"
            ));
        }
        Ok(())
    }
}

fn not_allowed(host: &str) -> String {
    format!("`{host}` is not in `security.allowed_targets`")
}

/// Whether an address is reachable from everywhere: none of RFC 6890 that is private, local or reserved.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_multicast()
                || first == 100 && second & 0xc0 == 64
                || first == 0
                || first >= 240)
        }
        IpAddr::V6(address) => {
            !(address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_unique_local()
                || address.is_unicast_link_local())
        }
    }
}

impl SecurityTargetLookup for AllowedTargets {
    fn refusal_reason(&self, host: &str) -> Option<String> {
        self.check_host(host).err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(entries: &[&str]) -> AllowedTargets {
        AllowedTargets::parse(entries).unwrap()
    }

    #[test]
    fn nothing_is_allowed_by_default() {
        let reason = AllowedTargets::default().check_host("127.0.0.1").unwrap_err();
        assert!(reason.contains("is empty"), "{reason}");
        assert_eq!(AllowedTargets::parse(&["no pattern"]), None);
        assert_eq!(AllowedTargets::parse(&["*."]), None);
        assert_eq!(AllowedTargets::parse(&[" "]), None);
    }

    #[test]
    fn addresses_need_a_network() {
        let targets = allowed(&["127.0.0.0/8", "fd00::/8", "192.0.2.7"]);
        for host in ["127.0.0.1", "[fd00::1]", "fd00::1", "192.0.2.7"] {
            assert_eq!(targets.check_host(host), Ok(()), "{host}");
        }
        for host in ["10.0.0.1", "192.0.2.8", "::1"] {
            let reason = targets.check_host(host).unwrap_err();
            assert!(reason.contains("is not in `security.allowed_targets`"), "{reason}");
        }
    }

    #[test]
    fn names_need_a_pattern_or_addresses_in_a_network() {
        let names = allowed(&["*.example.com", "shop.test"]);
        assert_eq!(names.check_host("WWW.example.com"), Ok(()));
        assert!(names.check_host("example.com").is_err() && names.check_host("other.test").is_err());
        let public: IpAddr = "192.0.2.1".parse().unwrap();
        assert_eq!(names.check_addresses("www.example.com", &[public]), Ok(()));
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "169.254.169.254",
            "100.64.0.1",
            "::1",
            "fd00::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
        ] {
            let addresses = [public, private.parse().unwrap()];
            let reason = names.check_addresses("www.example.com", &addresses).unwrap_err();
            assert!(reason.contains("leads to"), "{private}: {reason}");
        }
        let both = allowed(&["*.example.com", "10.0.0.0/8"]);
        assert_eq!(both.check_addresses("www.example.com", &["10.1.2.3".parse().unwrap()]), Ok(()));
        assert_eq!(both.check_host("other.test"), Ok(()), "its addresses decide");
        assert_eq!(both.check_addresses("other.test", &["10.1.2.3".parse().unwrap()]), Ok(()));
        assert!(both.check_addresses("other.test", &[public]).is_err());
    }
}
