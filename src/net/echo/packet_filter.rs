//! The packet filter of a raw socket. Each raw socket gets a copy of every ICMP packet of the host: on loopback also of
//! its own requests, and everywhere the replies to other programs.

use socket2::SockFilter;

// Instructions of the classic packet filter (Linux, Documentation/networking/filter.rst).
const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE_AT_X_OFFSET: u16 = 0x50;
const LOAD_HALF_AT_X_OFFSET: u16 = 0x48;
const LOAD_IP_HEADER_LEN_INTO_X: u16 = 0xb1;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
/// Accepts all bytes of a packet.
const WHOLE_PACKET: u32 = u32::MAX;

/// Returns a filter that accepts the replies with `identifier`, and errors.
pub(super) fn accept_replies_and_errors(is_ipv6: bool, identifier: u16) -> Vec<SockFilter> {
    // Arguments: code, instructions to skip when true and when false, operand.
    let instruction = SockFilter::new;
    let identifier = u32::from(identifier);
    if is_ipv6 {
        // The packet starts with the ICMP header; errors have a type below 128 (RFC 4443 2.1).
        vec![
            instruction(LOAD_BYTE, 0, 0, 0),
            instruction(JUMP_IF_EQUAL, 1, 0, 129),
            instruction(JUMP_IF_AT_LEAST, 3, 2, 128),
            instruction(LOAD_HALF, 0, 0, 4),
            instruction(JUMP_IF_EQUAL, 0, 1, identifier),
            instruction(RETURN, 0, 0, WHOLE_PACKET),
            instruction(RETURN, 0, 0, 0),
        ]
    } else {
        // The packet starts with the IP header, which contains its own length.
        vec![
            instruction(LOAD_IP_HEADER_LEN_INTO_X, 0, 0, 0),
            instruction(LOAD_BYTE_AT_X_OFFSET, 0, 0, 0),
            instruction(JUMP_IF_EQUAL, 4, 0, 8),
            instruction(JUMP_IF_EQUAL, 0, 2, 0),
            instruction(LOAD_HALF_AT_X_OFFSET, 0, 0, 4),
            instruction(JUMP_IF_EQUAL, 0, 1, identifier),
            instruction(RETURN, 0, 0, WHOLE_PACKET),
            instruction(RETURN, 0, 0, 0),
        ]
    }
}
