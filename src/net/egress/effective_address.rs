//! The address that a packet finally reaches.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the address that a packet to `address` finally reaches: the IPv4 address inside an IPv4-mapped or
/// IPv4-compatible (RFC 4291 2.5.5), NAT64 (`64:ff9b::/96`, RFC 6052; `64:ff9b:1::/48`, RFC 8215, its /96 form), 6to4
/// (`2002::/16`, RFC 3056), Teredo (`2001::/32`, RFC 4380 4: the client, inverted) or ISATAP (RFC 5214 6.1) address;
/// loopback for the unspecified address, which the kernel treats as loopback.
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
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low]
        | [0x2002, high, low, ..] => Some(pair(high, low)),
        [0x2001, 0, _, _, _, _, high, low] => Some(pair(!high, !low)),
        // `::` and `::1` do not embed an IPv4 address.
        [0, 0, 0, 0, 0, 0, high, low] if (high, low) > (0, 1) => Some(pair(high, low)),
        _ => None,
    }
}
