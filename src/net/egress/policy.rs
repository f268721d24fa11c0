//! The egress policy: the addresses that a location may contact (behaviour.md 4, Addresses).

use std::collections::{BTreeMap, HashSet};
use std::net::{IpAddr, SocketAddr};

use super::effective_address;
use super::own_addresses::own_addresses;
use crate::domain::{CustomerId, EgressPrincipal, Failure, FailureKind, Phase};
use crate::net::ip_network::{IpNetwork, ParseIpNetworkError};

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

/// Allow and deny rules for addresses. The rule with the longest prefix wins; among equally long ones a configured
/// deny rule has precedence over an allow rule, and that over a built-in one. An address without a rule is allowed.
/// So `deny
/// 0.0.0.0/0` with `allow 10.0.0.0/8` allows only the latter, and `allow 169.254.7.0/24` allows a part of what is
/// denied by default.
///
/// Addresses of the Vigie host itself, loopback included, are denied to all accounts but the first, unless an allow
/// rule with a prefix at least as long matches: `127.0.0.0/8` for loopback, the address itself for other own
/// addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressPolicy {
    rules: Vec<(IpNetwork, RuleAction)>,
    /// Networks that are allowed to one account in addition.
    account_rules: BTreeMap<CustomerId, Vec<IpNetwork>>,
}

/// Ordered by precedence among equally long rules, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RuleAction {
    BuiltInDeny,
    Allow,
    Deny,
}

/// Why a connection may not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressDenied {
    /// A rule of the location denies it.
    #[error("`{address}` is denied by the egress rule `{rule}`")]
    Rule {
        /// The denied address.
        address: IpAddr,
        /// The rule.
        rule: IpNetwork,
    },
    /// It is an address of the Vigie host.
    #[error(
        "`{address}` is an address of the Vigie host, which is denied to other accounts than the first; allow it for the account in `egress.accounts`"
    )]
    OwnHost {
        /// The denied address.
        address: IpAddr,
    },
    /// A service of Vigie itself listens there.
    #[error("`{address}` belongs to Vigie itself, which no check and no notification may reach")]
    Protected {
        /// The denied address and port.
        address: SocketAddr,
    },
}

impl EgressDenied {
    /// Returns the denied address.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        match self {
            Self::Rule { address, .. } | Self::OwnHost { address } => *address,
            Self::Protected { address } => address.ip(),
        }
    }
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
    /// Returns the networks that the location allows, and those that it denies; without what is always denied.
    #[must_use]
    pub fn own_rules(&self) -> (Vec<IpNetwork>, Vec<IpNetwork>) {
        let with = |action| {
            let rules = self.rules.iter().filter(move |(_, of_rule)| *of_rule == action);
            rules.map(|(network, _)| *network).collect()
        };
        (with(RuleAction::Allow), with(RuleAction::Deny))
    }

    /// Creates a policy of these rules and [`DENIED_BY_DEFAULT`].
    #[must_use]
    pub fn new(allow: &[IpNetwork], deny: &[IpNetwork]) -> Self {
        let built_in = DENIED_BY_DEFAULT.iter().filter_map(|text| text.parse().ok());
        let built_in = built_in.map(|network| (network, RuleAction::BuiltInDeny));
        let denied = deny.iter().map(|network| (*network, RuleAction::Deny));
        let allowed = allow.iter().map(|network| (*network, RuleAction::Allow));
        Self { rules: built_in.chain(denied).chain(allowed).collect(), account_rules: BTreeMap::new() }
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

    /// Adds networks that are allowed to single accounts.
    #[must_use]
    pub fn with_accounts(mut self, accounts: BTreeMap<CustomerId, Vec<IpNetwork>>) -> Self {
        self.account_rules = accounts;
        self
    }

    /// Checks whether `principal` may connect to `address`. Both the address and its [`effective_address`] are
    /// checked, so that no IPv6 form of an IPv4 address bypasses a rule.
    pub fn check(&self, principal: EgressPrincipal, address: IpAddr) -> Result<(), EgressDenied> {
        match principal {
            EgressPrincipal::Vigie | EgressPrincipal::Operator => self.check_forms(&[], address, |_| None),
            EgressPrincipal::Account(_) => {
                self.check_with_own_addresses(principal, address, &own_addresses())
            }
        }
    }

    /// Like [`Self::check`], on a host that has the addresses `own_addresses`.
    fn check_with_own_addresses(
        &self,
        principal: EgressPrincipal,
        address: IpAddr,
        own_addresses: &HashSet<IpAddr>,
    ) -> Result<(), EgressDenied> {
        let EgressPrincipal::Account(account) = principal else { return self.check(principal, address) };
        let allowed = self.account_rules.get(&account).map_or(&[][..], Vec::as_slice);
        self.check_forms(allowed, address, |form| match form {
            IpAddr::V4(v4) if v4.is_loopback() => Some(IpNetwork::new(form, 8)),
            _ if form.is_loopback() || own_addresses.contains(&form) => Some(IpNetwork::from_address(form)),
            _ => None,
        })
    }

    /// Checks `address` and its effective form. `allowed` are networks that are allowed in addition; `own_network`
    /// returns the network of the host itself that contains an address.
    fn check_forms(
        &self,
        allowed: &[IpNetwork],
        address: IpAddr,
        own_network: impl Fn(IpAddr) -> Option<IpNetwork>,
    ) -> Result<(), EgressDenied> {
        for form in [address, effective_address(address)] {
            let host_network = own_network(form);
            let own_rule = host_network.map(|network| (network, RuleAction::BuiltInDeny));
            let account_rules = allowed.iter().map(|network| (*network, RuleAction::Allow));
            let matched = self
                .rules
                .iter()
                .copied()
                .chain(account_rules)
                .filter(|(network, _)| network.contains(form))
                .chain(own_rule)
                .max_by_key(|(network, action)| (network.prefix_len(), *action));
            match matched {
                Some((rule, RuleAction::BuiltInDeny)) if Some(rule) == host_network => {
                    return Err(EgressDenied::OwnHost { address });
                }
                Some((rule, RuleAction::Deny | RuleAction::BuiltInDeny)) => {
                    return Err(EgressDenied::Rule { address, rule });
                }
                Some((_, RuleAction::Allow)) | None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
