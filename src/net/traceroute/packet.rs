//! Echo requests and replies as bytes, and the meaning of ICMP errors (RFC 792, RFC 4443).

use super::super::echo::internet_checksum;

/// Length of a request, in bytes.
const REQUEST_BYTES: usize = 32;

/// What happened to a request, according to the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseKind {
    /// Its hop limit was exceeded.
    TtlExceeded,
    /// It arrived: the port is closed.
    TargetReached,
    /// It was not forwarded, with the reason.
    Unreachable(&'static str),
}

/// Builds an echo request. The kernel sets the checksum of IPv6, and on a datagram socket also the identifier.
pub(super) fn build_echo_request(is_ipv6: bool, identifier: u16, sequence: u16) -> [u8; REQUEST_BYTES] {
    let mut packet = [0; REQUEST_BYTES];
    packet[0] = if is_ipv6 { 128 } else { 8 };
    packet[4..6].copy_from_slice(&identifier.to_be_bytes());
    packet[6..8].copy_from_slice(&sequence.to_be_bytes());
    if !is_ipv6 {
        let checksum_value = internet_checksum(&packet);
        packet[2..4].copy_from_slice(&checksum_value.to_be_bytes());
    }
    packet
}

/// Returns identifier and sequence of the echo request at the start of `bytes`.
pub(super) fn parse_echo_request_ids(is_ipv6: bool, bytes: &[u8]) -> Option<(u16, u16)> {
    parse_echo_ids(bytes, if is_ipv6 { 128 } else { 8 })
}

/// Returns identifier and sequence of an echo reply. On a raw socket, IPv4 packets start with the IP header.
pub(super) fn parse_echo_reply_ids(is_ipv6: bool, is_raw_socket: bool, bytes: &[u8]) -> Option<(u16, u16)> {
    let header_len = if is_raw_socket && !is_ipv6 { usize::from(bytes.first()? & 0x0f) * 4 } else { 0 };
    parse_echo_ids(bytes.get(header_len..)?, if is_ipv6 { 129 } else { 0 })
}

fn parse_echo_ids(bytes: &[u8], icmp_type: u8) -> Option<(u16, u16)> {
    let [packet_type, code, _, _, i, d, s, q, ..] = *bytes else { return None };
    (packet_type == icmp_type && code == 0)
        .then_some((u16::from_be_bytes([i, d]), u16::from_be_bytes([s, q])))
}

/// Returns what an ICMP error says about its packet; `None` when it says nothing about the route.
pub(super) fn response_kind_from_icmp_error(
    is_ipv6: bool,
    icmp_type: u8,
    icmp_code: u8,
) -> Option<ResponseKind> {
    Some(match (is_ipv6, icmp_type, icmp_code) {
        (false, 11, 0) | (true, 3, 0) => ResponseKind::TtlExceeded,
        (false, 3, 3) | (true, 1, 4) => ResponseKind::TargetReached,
        (false, 3, 0 | 6 | 11) | (true, 1, 0) => ResponseKind::Unreachable("no route to the network"),
        (false, 3, 1 | 7 | 8 | 12) | (true, 1, 3) => ResponseKind::Unreachable("host unreachable"),
        (false, 3, 2) | (true, 4, 1) => ResponseKind::Unreachable("protocol unreachable"),
        (false, 3, 9 | 10 | 13) | (true, 1, 1 | 5) => {
            ResponseKind::Unreachable("administratively prohibited")
        }
        (true, 1, 6) => ResponseKind::Unreachable("the route rejects it"),
        (false, 3, 4) | (true, 2, _) => ResponseKind::Unreachable("too large for the next link"),
        (false, 3, _) | (true, 1, _) => ResponseKind::Unreachable("unreachable"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_has_its_identifier_and_sequence() {
        for v6 in [false, true] {
            let packet = build_echo_request(v6, 0xbeef, 77);
            assert_eq!(parse_echo_request_ids(v6, &packet), Some((0xbeef, 77)));
            assert_eq!(parse_echo_reply_ids(v6, false, &packet), None);
        }
        assert_eq!(
            internet_checksum(&build_echo_request(false, 1, 2)),
            0,
            "a right checksum sums up to nothing"
        );
    }

    #[test]
    fn a_reply_on_a_raw_socket_is_parsed_after_its_ip_header() {
        let mut reply = build_echo_request(false, 5, 6);
        reply[0] = 0;
        for options in [0, 8] {
            let mut packet = vec![0; 20 + options];
            packet[0] = 0x40 | u8::try_from(packet.len() / 4).unwrap();
            packet.extend_from_slice(&reply);
            assert_eq!(parse_echo_reply_ids(false, true, &packet), Some((5, 6)));
        }
        assert_eq!(parse_echo_reply_ids(false, false, &reply), Some((5, 6)));
    }

    #[test]
    fn icmp_errors_give_the_outcome_of_a_request() {
        assert_eq!(response_kind_from_icmp_error(false, 11, 0), Some(ResponseKind::TtlExceeded));
        assert_eq!(response_kind_from_icmp_error(true, 3, 0), Some(ResponseKind::TtlExceeded));
        assert_eq!(response_kind_from_icmp_error(false, 3, 3), Some(ResponseKind::TargetReached));
        assert_eq!(response_kind_from_icmp_error(true, 1, 4), Some(ResponseKind::TargetReached));
        assert_eq!(
            response_kind_from_icmp_error(false, 3, 13),
            Some(ResponseKind::Unreachable("administratively prohibited"))
        );
        assert_eq!(
            response_kind_from_icmp_error(true, 1, 3),
            Some(ResponseKind::Unreachable("host unreachable"))
        );
        // A fragment reassembly timeout, a redirect, a source quench.
        for (kind, code) in [(11, 1), (5, 0), (4, 0), (0, 0)] {
            assert_eq!(response_kind_from_icmp_error(false, kind, code), None);
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes: Vec<u8>, v6: bool, raw: bool, kind: u8, code: u8) {
            let _ = (parse_echo_request_ids(v6, &bytes), parse_echo_reply_ids(v6, raw, &bytes), response_kind_from_icmp_error(v6, kind, code));
        }
    }
}
