//! Which addresses a location may talk to (behaviour.md 4, Addresses).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::network::{Network, NetworkError};
use crate::model::{Failure, FailureKind, Phase};

/// Networks that are denied unless an allow rule that is more specific says otherwise: link-local
/// (RFC 3927, RFC 4291 2.5.6), and the addresses at which clouds hand out credentials to whoever asks
/// from inside: AWS, Google, Oracle, Alibaba and Azure.
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

/// Allow and deny rules over addresses. The rule with the longest prefix wins, of two equally long ones
/// the deny rule; an address without a rule is allowed. So `deny 0.0.0.0/0` with `allow 10.0.0.0/8` leaves
/// only the latter, and `allow 169.254.7.0/24` opens a part of what is denied by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressPolicy {
    rules: Vec<(Network, Verdict)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Allow,
    Deny,
}

/// The rule that denies an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{address}` is denied by the egress rule `{rule}`")]
pub struct Denied {
    /// The address as it was asked about.
    pub address: IpAddr,
    /// The rule.
    pub rule: Network,
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        Self::new(Phase::Connect, FailureKind::EgressDenied, denied.to_string())
    }
}

impl Default for EgressPolicy {
    fn default() -> Self {
        Self::new(&[], &[])
    }
}

impl EgressPolicy {
    /// These rules beside [`DENIED_BY_DEFAULT`].
    #[must_use]
    pub fn new(allow: &[Network], deny: &[Network]) -> Self {
        let built_in = DENIED_BY_DEFAULT.iter().filter_map(|text| text.parse().ok());
        let denied = built_in.chain(deny.iter().copied()).map(|network| (network, Verdict::Deny));
        let allowed = allow.iter().map(|network| (*network, Verdict::Allow));
        Self { rules: denied.chain(allowed).collect() }
    }

    /// [`Self::new`] from texts such as `10.0.0.0/8`. Fails with every text that is no network.
    pub fn parse<S: AsRef<str>>(allow: &[S], deny: &[S]) -> Result<Self, Vec<NetworkError>> {
        let mut faults = Vec::new();
        let mut read = |texts: &[S]| {
            let mut networks = Vec::with_capacity(texts.len());
            for text in texts {
                match text.as_ref().parse::<Network>() {
                    Ok(network) => networks.push(network),
                    Err(fault) => faults.push(fault),
                }
            }
            networks
        };
        let (allow, deny) = (read(allow), read(deny));
        if faults.is_empty() { Ok(Self::new(&allow, &deny)) } else { Err(faults) }
    }

    /// Whether a connection to `address` may be made. Asked in its own form and in [`canonical`] form, so
    /// that no way of writing an IPv4 address as an IPv6 one gets past a rule.
    pub fn check(&self, address: IpAddr) -> Result<(), Denied> {
        for form in [address, canonical(address)] {
            let decided = self
                .rules
                .iter()
                .filter(|(network, _)| network.contains(form))
                .max_by_key(|(network, verdict)| (network.prefix(), *verdict == Verdict::Deny));
            if let Some(&(rule, Verdict::Deny)) = decided {
                return Err(Denied { address, rule });
            }
        }
        Ok(())
    }
}

/// The address that a packet to `address` reaches in the end: the IPv4 address inside of an IPv4-mapped
/// (RFC 4291 2.5.5.2), NAT64 (`64:ff9b::/96`, RFC 6052; `64:ff9b:1::/48`, RFC 8215, its /96 form) or 6to4
/// (`2002::/16`, RFC 3056) one; loopback for the unspecified address, which the kernel takes for it.
#[must_use]
pub fn canonical(address: IpAddr) -> IpAddr {
    let v4 = match address {
        IpAddr::V4(v4) => v4,
        IpAddr::V6(v6) => match inner_v4(v6) {
            Some(v4) => v4,
            None if v6.is_unspecified() => return Ipv6Addr::LOCALHOST.into(),
            None => return address,
        },
    };
    if v4.is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { v4.into() }
}

fn inner_v4(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = v6.segments();
    let pair = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}
