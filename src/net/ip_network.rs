//! Networks in text form, such as `10.0.0.0/8`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A block of addresses with the same first `prefix_len` bits (RFC 4632, RFC 4291 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpNetwork {
    network_address: IpAddr,
    prefix_len: u8,
}

/// Why a text is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseIpNetworkError {
    /// The part before the slash is not an address.
    #[error(
        "`{0}` is not a network: write an address with a prefix length, such as `10.0.0.0/8` or `fd00::/8`"
    )]
    InvalidAddress(String),
    /// The part after the slash is not a length, or too long for the family.
    #[error("`{text}` has no valid prefix length: it must be a number from 0 to {max}")]
    InvalidPrefix {
        /// The text.
        text: String,
        /// The longest prefix of the family.
        max: u8,
    },
    /// The address has bits below the prefix, so it is unclear which network is meant.
    #[error("`{text}` has bits set below its prefix length\nhint: did you mean `{suggestion}`?")]
    HostBits {
        /// The text.
        text: String,
        /// The network that contains the address.
        suggestion: IpNetwork,
    },
}

impl IpNetwork {
    /// Creates the network of the first `prefix_len` bits of `address`; longer prefixes are limited to the length of
    /// the address.
    #[must_use]
    pub fn new(address: IpAddr, prefix_len: u8) -> Self {
        let prefix_len = prefix_len.min(address_bit_len(address));
        Self { network_address: clear_host_bits(address, prefix_len), prefix_len }
    }

    /// Creates the network of this address only.
    #[must_use]
    pub fn from_address(address: IpAddr) -> Self {
        Self::new(address, u8::MAX)
    }

    /// Returns the prefix length.
    #[must_use]
    pub const fn prefix_len(&self) -> u8 {
        self.prefix_len
    }

    /// Whether `address` is in the network. The families must be equal.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.network_address.is_ipv4() == address.is_ipv4()
            && clear_host_bits(address, self.prefix_len) == self.network_address
    }
}

const fn address_bit_len(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn clear_host_bits(address: IpAddr, prefix_len: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix_len)).unwrap_or(0);
            Ipv4Addr::from_bits(v4.to_bits() & mask).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix_len)).unwrap_or(0);
            Ipv6Addr::from_bits(v6.to_bits() & mask).into()
        }
    }
}

impl FromStr for IpNetwork {
    type Err = ParseIpNetworkError;

    /// Parses `address/prefix`; an address alone is a network of one.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, prefix_text) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let address: IpAddr =
            address.parse().map_err(|_| ParseIpNetworkError::InvalidAddress(text.to_owned()))?;
        let max_prefix_len = address_bit_len(address);
        let Some(prefix_text) = prefix_text else { return Ok(Self::from_address(address)) };
        let prefix_len = prefix_text
            .parse::<u8>()
            .ok()
            .filter(|&prefix_len| {
                prefix_len <= max_prefix_len && prefix_text.bytes().all(|b| b.is_ascii_digit())
            })
            .ok_or_else(|| ParseIpNetworkError::InvalidPrefix {
                text: text.to_owned(),
                max: max_prefix_len,
            })?;
        let network = Self::new(address, prefix_len);
        if network.network_address == address {
            Ok(network)
        } else {
            Err(ParseIpNetworkError::HostBits { text: text.to_owned(), suggestion: network })
        }
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network_address, self.prefix_len)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_parsed_or_refused_with_a_reason() {
        let valid = [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("192.0.2.7", "192.0.2.7/32"),
            ("fe80::/10", "fe80::/10"),
            ("::/0", "::/0"),
            ("2001:db8::1", "2001:db8::1/128"),
        ];
        for (text, shown) in valid {
            assert_eq!(text.parse::<IpNetwork>().unwrap().to_string(), shown);
        }
        let invalid = [
            ("", "is not a network"),
            ("example.com", "is not a network"),
            ("10.0.0/8", "is not a network"),
            ("[fe80::]/10", "is not a network"),
            ("10.0.0.0/33", "from 0 to 32"),
            ("10.0.0.0/", "from 0 to 32"),
            ("10.0.0.0/+8", "from 0 to 32"),
            ("10.0.0.0/8/8", "from 0 to 32"),
            ("fe80::/129", "from 0 to 128"),
            ("10.0.0.1/8", "did you mean `10.0.0.0/8`?"),
            ("fe80::1/10", "did you mean `fe80::/10`?"),
        ];
        for (text, reason) in invalid {
            let error = text.parse::<IpNetwork>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(text), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_network_roundtrips_and_contains_its_address(bits: u128, low: u32, prefix in 0_u8..=128, six: bool) {
            let address: IpAddr = if six {
                Ipv6Addr::from_bits(bits).into()
            } else {
                Ipv4Addr::from_bits(low).into()
            };
            let network = IpNetwork::new(address, prefix);
            prop_assert!(network.contains(address));
            prop_assert_eq!(network.to_string().parse::<IpNetwork>(), Ok(network));
        }

        #[test]
        fn an_address_is_in_a_network_if_the_leading_bits_agree(a: u32, b: u32, prefix in 0_u8..=32) {
            let agree = (a ^ b).leading_zeros() >= u32::from(prefix);
            let network = IpNetwork::new(Ipv4Addr::from_bits(a).into(), prefix);
            prop_assert_eq!(network.contains(Ipv4Addr::from_bits(b).into()), agree);
            prop_assert!(!network.contains(Ipv4Addr::from_bits(b).to_ipv6_mapped().into()));
        }
    }
}
