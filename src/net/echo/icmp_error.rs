//! ICMP errors received for an echo request instead of a reply (RFC 792, RFC 1812 5.2.7, RFC 4443 3).

use std::fmt;
use std::net::IpAddr;

/// An ICMP error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IcmpError {
    /// The sender: a router, the target, or this host when no neighbour responded on the next link.
    pub sender: IpAddr,
    /// ICMP type.
    pub icmp_type: u8,
    /// ICMP code.
    pub icmp_code: u8,
    /// MTU of the next link in bytes, when the packet was too large for it.
    pub mtu: Option<u32>,
}

impl IcmpError {
    /// Whether `icmp_type` means that the packet was lost. A redirect does not: its packet was forwarded.
    pub(super) const fn is_delivery_error(is_ipv6: bool, icmp_type: u8) -> bool {
        if is_ipv6 { matches!(icmp_type, 1..=4) } else { matches!(icmp_type, 3 | 11 | 12) }
    }

    /// Whether the packet was too large for a link.
    #[must_use]
    pub const fn is_too_big(&self) -> bool {
        match self.sender {
            IpAddr::V4(_) => matches!((self.icmp_type, self.icmp_code), (3, 4)),
            IpAddr::V6(_) => self.icmp_type == 2,
        }
    }

    /// Returns the error as text.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match (self.sender.is_ipv6(), self.icmp_type, self.icmp_code) {
            (false, 3, 0 | 6) | (true, 1, 0) => "network unreachable",
            (false, 3, 1 | 7) | (true, 1, 3) => "host unreachable",
            (false, 3, 2) => "protocol unreachable",
            (false, 3, 3) | (true, 1, 4) => "port unreachable",
            (false, 3, 4) | (true, 2, _) => "packet too big",
            (false, 3, 9) => "network prohibited",
            (false, 3, 10) => "host prohibited",
            (false, 3, 13) | (true, 1, 1) => "prohibited by a filter",
            (true, 1, 2) => "beyond the scope of the source address",
            (true, 1, 5) => "source address prohibited",
            (true, 1, 6) => "the route rejects it",
            (false, 3, _) | (true, 1, _) => "unreachable",
            (false, 11, 0) | (true, 3, 0) => "TTL exceeded: routing loop, or too many hops",
            (false, 11, _) | (true, 3, _) => "not all fragments arrived in time",
            (false, 12, _) | (true, 4, _) => "parameter problem",
            _ => "an error",
        }
    }
}

impl fmt::Display for IcmpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} reported: {}", self.sender, self.as_str())?;
        if let Some(mtu) = self.mtu.filter(|&mtu| mtu > 0) {
            write!(f, " for the next link (MTU {mtu})")?;
        }
        write!(f, " (ICMP type {}, code {})", self.icmp_type, self.icmp_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_sender_and_kind() {
        let error = |from: &str, kind, code, mtu| {
            IcmpError { sender: from.parse().unwrap(), icmp_type: kind, icmp_code: code, mtu }.to_string()
        };
        assert_eq!(
            error("192.0.2.1", 3, 1, None),
            "192.0.2.1 reported: host unreachable (ICMP type 3, code 1)"
        );
        assert_eq!(
            error("2001:db8::1", 2, 0, Some(1280)),
            "2001:db8::1 reported: packet too big for the next link (MTU 1280) (ICMP type 2, code 0)"
        );
        assert!(error("192.0.2.1", 11, 0, None).contains("TTL exceeded"));
        assert!(error("2001:db8::1", 3, 0, None).contains("TTL exceeded"));
    }
}
