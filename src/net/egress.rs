//! The egress policy: the addresses that a location may contact (behaviour.md 4, Addresses).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::ip_network::{IpNetwork, ParseIpNetworkError};
use crate::domain::{Failure, FailureKind, Phase};

/// Networks that are denied unless a more specific allow rule matches: link-local (RFC 3927, RFC 4291 2.5.6), and the
/// addresses at which clouds serve credentials to any local process: AWS, Google, Oracle, Alibaba and Azure.
pub const DENIED_BY_DEFAULT: &[&str] = &[
    "169.254.0.0/16",
    "fe80::/10",
    "169.254.169.254/32",
    "fd00:ec2::254/128",
    "fd20:ce::254/128",
    "192.0.0.192/32",
    "100.100.100.200/32",
    "168.63.129.16/32",
];

/// Allow and deny rules for addresses. The rule with the longest prefix wins; among equally long ones a configured deny
/// rule has precedence over an allow rule, and that over a built-in one. An address without a rule is allowed. So `deny
/// 0.0.0.0/0` with `allow 10.0.0.0/8` allows only the latter, and `allow 169.254.7.0/24` allows a part of what is
/// denied by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressPolicy {
    rules: Vec<(IpNetwork, RuleAction)>,
}

/// Ordered by precedence among equally long rules, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RuleAction {
    BuiltInDeny,
    Allow,
    Deny,
}

/// The rule that denies an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{address}` is denied by the egress rule `{rule}`")]
pub struct EgressDenied {
    /// The denied address.
    pub address: IpAddr,
    /// The rule.
    pub rule: IpNetwork,
}

impl From<EgressDenied> for Failure {
    fn from(denied: EgressDenied) -> Self {
        Self::new(Phase::Connect, FailureKind::EgressDenied, denied.to_string())
    }
}

impl Default for EgressPolicy {
    fn default() -> Self {
        Self::new(&[], &[])
    }
}

impl EgressPolicy {
    /// Creates a policy of these rules and [`DENIED_BY_DEFAULT`].
    #[must_use]
    pub fn new(allow: &[IpNetwork], deny: &[IpNetwork]) -> Self {
        let built_in = DENIED_BY_DEFAULT.iter().filter_map(|text| text.parse().ok());
        let built_in = built_in.map(|network| (network, RuleAction::BuiltInDeny));
        let denied = deny.iter().map(|network| (*network, RuleAction::Deny));
        let allowed = allow.iter().map(|network| (*network, RuleAction::Allow));
        Self { rules: built_in.chain(denied).chain(allowed).collect() }
    }

    /// Like [`Self::new`], from texts such as `10.0.0.0/8`. Fails with the errors of all invalid texts.
    pub fn parse<S: AsRef<str>>(allow: &[S], deny: &[S]) -> Result<Self, Vec<ParseIpNetworkError>> {
        let mut errors = Vec::new();
        let mut parse_all = |texts: &[S]| {
            let mut networks = Vec::with_capacity(texts.len());
            for text in texts {
                match text.as_ref().parse::<IpNetwork>() {
                    Ok(network) => networks.push(network),
                    Err(error) => errors.push(error),
                }
            }
            networks
        };
        let (allow, deny) = (parse_all(allow), parse_all(deny));
        if errors.is_empty() { Ok(Self::new(&allow, &deny)) } else { Err(errors) }
    }

    /// Checks whether a connection to `address` may be made. Both the address and its [`effective_address`] are
    /// checked, so that no IPv6 form of an IPv4 address bypasses a rule.
    pub fn check(&self, address: IpAddr) -> Result<(), EgressDenied> {
        for form in [address, effective_address(address)] {
            let matched = self
                .rules
                .iter()
                .filter(|(network, _)| network.contains(form))
                .max_by_key(|(network, verdict)| (network.prefix_len(), *verdict));
            if let Some(&(rule, RuleAction::Deny | RuleAction::BuiltInDeny)) = matched {
                return Err(EgressDenied { address, rule });
            }
        }
        Ok(())
    }
}

/// Returns the address that a packet to `address` finally reaches: the IPv4 address inside an IPv4-mapped or
/// IPv4-compatible (RFC 4291 2.5.5), NAT64 (`64:ff9b::/96`, RFC 6052; `64:ff9b:1::/48`, RFC 8215, its /96 form) or 6to4
/// (`2002::/16`, RFC 3056) address; loopback for the unspecified address, which the kernel treats as loopback.
#[must_use]
pub fn effective_address(address: IpAddr) -> IpAddr {
    let v4 = match address {
        IpAddr::V4(v4) => v4,
        IpAddr::V6(v6) => match embedded_v4(v6) {
            Some(v4) => v4,
            None if v6.is_unspecified() => return Ipv6Addr::LOCALHOST.into(),
            None => return address,
        },
    };
    if v4.is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { v4.into() }
}

fn embedded_v4(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = v6.segments();
    let pair = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => Some(pair(high, low)),
        // `::` and `::1` do not embed an IPv4 address.
        [0, 0, 0, 0, 0, 0, high, low] if (high, low) > (0, 1) => Some(pair(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn every_built_in_rule_is_a_network() {
        let rules = EgressPolicy::default().rules.len();
        assert_eq!(rules, DENIED_BY_DEFAULT.len());
    }

    #[test]
    fn the_default_denies_link_local_and_metadata_in_every_spelling() {
        let policy = EgressPolicy::default();
        let denied = [
            "169.254.0.1",
            "169.254.169.254",
            "fe80::1",
            "febf:ffff::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "::ffff:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::168.63.129.16",
            "2002:a9fe:a9fe::1",
            "2002:a9fe:a9fe:1234:5678::",
            "::ffff:168.63.129.16",
        ];
        for address in denied {
            let denial = policy.check(ip(address)).unwrap_err();
            assert_eq!(denial.address, ip(address));
            assert!(denial.to_string().contains(&ip(address).to_string()), "{denial}");
        }
        for address in
            ["127.0.0.1", "::1", "10.0.0.1", "192.0.2.1", "2001:db8::1", "fec0::1", "fd00:ec2::253"]
        {
            assert_eq!(policy.check(ip(address)), Ok(()), "{address}");
        }
    }

    #[test]
    fn the_longest_prefix_decides_and_deny_wins_a_tie() {
        let policy = EgressPolicy::parse(
            &["10.0.0.0/8", "169.254.7.0/24", "192.0.2.0/24", "168.63.129.16"],
            &["0.0.0.0/0", "10.9.0.0/16", "192.0.2.0/24"],
        )
        .unwrap();
        let cases = [
            ("10.1.2.3", true),
            ("10.9.2.3", false),
            ("169.254.7.7", true),
            ("169.254.8.7", false),
            ("168.63.129.16", true),
            ("192.0.2.1", false),
            ("8.8.8.8", false),
            ("::ffff:8.8.8.8", false),
            ("2001:db8::1", true),
        ];
        for (address, allowed) in cases {
            assert_eq!(policy.check(ip(address)).is_ok(), allowed, "{address}");
        }
        let rule = policy.check(ip("10.9.2.3")).unwrap_err().rule.to_string();
        assert_eq!(rule, "10.9.0.0/16");
    }

    #[test]
    fn the_unspecified_address_is_loopback() {
        let policy = EgressPolicy::parse(&[], &["127.0.0.0/8", "::1/128"]).unwrap();
        for address in ["0.0.0.0", "::", "127.1.2.3", "::1", "::ffff:0.0.0.0"] {
            assert!(policy.check(ip(address)).is_err(), "{address}");
        }
    }

    #[test]
    fn all_errors_of_both_lists_are_returned() {
        let errors = EgressPolicy::parse(&["10.0.0.1/8", "ok"], &["fe80::/200", "10.0.0.0/8"]).unwrap_err();
        assert_eq!(errors.len(), 3);
    }

    proptest! {
        #[test]
        fn no_spelling_of_a_denied_address_is_allowed(bits: u32, rest: [u16; 3], prefix in 0_u8..=32) {
            let v4 = Ipv4Addr::from_bits(bits);
            let policy = EgressPolicy::new(&[], &[IpNetwork::new(v4.into(), prefix)]);
            let [a, b, c, d] = v4.octets().map(u16::from);
            let (first, second) = (a << 8 | b, c << 8 | d);
            let [w, x, y] = rest;
            let spellings = [
                IpAddr::V4(v4),
                v4.to_ipv6_mapped().into(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, first, second).into(),
                Ipv6Addr::new(0x64, 0xff9b, 1, w, x, y, first, second).into(),
                Ipv6Addr::new(0x2002, first, second, w, x, y, w, x).into(),
            ];
            for spelling in spellings {
                prop_assert!(policy.check(spelling).is_err(), "{}", spelling);
                if !v4.is_unspecified() {
                    prop_assert_eq!(effective_address(spelling), IpAddr::V4(v4));
                }
            }
        }

        #[test]
        fn canonical_form_is_its_own(bits: u128) {
            let once = effective_address(Ipv6Addr::from_bits(bits).into());
            prop_assert_eq!(effective_address(once), once);
        }
    }
}
