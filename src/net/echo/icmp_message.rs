//! Messages received on an echo socket: packets, and on a datagram socket its error queue.

use std::io;
use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;

use nix::libc::{SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6, sock_extended_err, sockaddr_in6};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use socket2::Type;
use surge_ping::{Icmpv4Packet, Icmpv6Packet};

use super::icmp_error::IcmpError;
use crate::net::icmp_socket::to_ip_addr;

/// A reply to an echo request, or an ICMP error about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IcmpMessage {
    /// The address that the request was sent to.
    pub(super) target: IpAddr,
    /// The identifier of the request; that of a datagram socket is set by the kernel.
    pub(super) identifier: u16,
    pub(super) sequence: u16,
    /// The ICMP error; `None` for a reply.
    pub(super) error: Option<IcmpError>,
}

const ECHO_REPLY_TYPE_V4: u8 = 0;
const ECHO_REPLY_TYPE_V6: u8 = 129;

/// Parses a packet from `sender`; returns `None` when it is not about an echo request. On a raw socket, IPv4 packets
/// start with the IP header.
pub(super) fn parse_icmp_packet(bytes: &[u8], sender: IpAddr, is_raw_socket: bool) -> Option<IcmpMessage> {
    match sender {
        IpAddr::V4(sender) => {
            let socket = if is_raw_socket { Type::RAW } else { Type::DGRAM };
            let packet = Icmpv4Packet::decode(bytes, socket, sender, sender).ok()?;
            let (icmp_type, icmp_code) = (packet.get_icmp_type().0, packet.get_icmp_code().0);
            let ip_header_len = if is_raw_socket { usize::from(bytes.first()? & 0x0f) * 4 } else { 0 };
            // RFC 1191 4: the lower half of the word after the checksum.
            let mtu = || {
                bytes
                    .get(ip_header_len + 6..ip_header_len + 8)
                    .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
            };
            let is_too_big = (icmp_type, icmp_code) == (3, 4);
            let is_error = IcmpError::is_delivery_error(false, icmp_type);
            (is_error || icmp_type == ECHO_REPLY_TYPE_V4).then(|| IcmpMessage {
                target: packet.get_real_dest().into(),
                identifier: packet.get_identifier().into_u16(),
                sequence: packet.get_sequence().into_u16(),
                error: is_error.then(|| IcmpError {
                    sender: sender.into(),
                    icmp_type,
                    icmp_code,
                    mtu: is_too_big.then(mtu).flatten(),
                }),
            })
        }
        IpAddr::V6(sender) => {
            let packet = Icmpv6Packet::decode(bytes, sender).ok()?;
            let (icmp_type, icmp_code) = (packet.get_icmpv6_type().0, packet.get_icmpv6_code().0);
            let mtu = || bytes.get(4..8)?.try_into().ok().map(u32::from_be_bytes);
            let is_error = IcmpError::is_delivery_error(true, icmp_type);
            (is_error || icmp_type == ECHO_REPLY_TYPE_V6).then(|| IcmpMessage {
                target: packet.get_real_dest().into(),
                identifier: packet.get_identifier().into_u16(),
                sequence: packet.get_sequence().into_u16(),
                error: is_error.then(|| IcmpError {
                    sender: sender.into(),
                    icmp_type,
                    icmp_code,
                    mtu: (icmp_type == 2).then(mtu).flatten(),
                }),
            })
        }
    }
}

/// Reads the next entry of the error queue of `socket`; returns `None` for one that is not about an echo request. The
/// data of an entry is the request itself, from its ICMP header on.
pub(super) fn read_error_queue(socket: &impl AsRawFd, is_ipv6: bool) -> io::Result<Option<IcmpMessage>> {
    let mut bytes = [0; SNAP_LEN];
    let mut io_slices = [IoSliceMut::new(&mut bytes)];
    let mut control_buffer = nix::cmsg_space!((sock_extended_err, sockaddr_in6));
    let received = recvmsg::<SockaddrStorage>(
        socket.as_raw_fd(),
        &mut io_slices,
        Some(&mut control_buffer),
        MsgFlags::MSG_ERRQUEUE,
    )?;
    let target = received.address.as_ref().and_then(to_ip_addr);
    let error_and_sender = received.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::Ipv4RecvErr(error, Some(sender)) => {
            Some((error, IpAddr::V4(Ipv4Addr::from_bits(u32::from_be(sender.sin_addr.s_addr)))))
        }
        ControlMessageOwned::Ipv6RecvErr(error, Some(sender)) => {
            Some((error, IpAddr::V6(Ipv6Addr::from(sender.sin6_addr.s6_addr))))
        }
        _ => None,
    });
    let length = received.bytes;
    let Some(((error, sender), target)) = error_and_sender.zip(target) else { return Ok(None) };
    let is_icmp = matches!(error.ee_origin, SO_EE_ORIGIN_ICMP | SO_EE_ORIGIN_ICMP6);
    if !is_icmp || !IcmpError::is_delivery_error(is_ipv6, error.ee_type) {
        return Ok(None);
    }
    let mut icmp_error = IcmpError { sender, icmp_type: error.ee_type, icmp_code: error.ee_code, mtu: None };
    icmp_error.mtu = icmp_error.is_too_big().then_some(error.ee_info);
    Ok(parse_echo_ids(bytes.get(..length).unwrap_or_default(), if is_ipv6 { 128 } else { 8 })
        .map(|(identifier, sequence)| IcmpMessage { target, identifier, sequence, error: Some(icmp_error) }))
}

/// Returns identifier and sequence of the echo request of type `icmp_type` at the start of `bytes`.
fn parse_echo_ids(bytes: &[u8], icmp_type: u8) -> Option<(u16, u16)> {
    let [packet_type, _, _, _, i, d, s, q, ..] = *bytes else { return None };
    (packet_type == icmp_type).then_some((u16::from_be_bytes([i, d]), u16::from_be_bytes([s, q])))
}

/// Bytes of a packet that are examined: the longest IPv4 header, the ICMP header, and for an error the same of the
/// packet that it is about.
pub(super) const SNAP_LEN: usize = 256;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn noise_is_never_parsed_as_a_reply() {
        for from in ["127.0.0.1", "::1"] {
            let from: IpAddr = from.parse().unwrap();
            for is_raw_socket in [true, false] {
                for length in 0..SNAP_LEN {
                    assert!(
                        parse_icmp_packet(&vec![0xff; length], from, is_raw_socket)
                            .is_none_or(|message| message.error.is_some())
                    );
                }
            }
        }
    }

    /// Returns an error of `icmp_type` about an echo request to 192.0.2.9 with identifier 7 and sequence 8, as a raw
    /// socket receives it.
    fn icmp_error_packet(icmp_type: u8, icmp_code: u8, mtu: u16) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
        bytes.extend([icmp_type, icmp_code, 0, 0, 0, 0]);
        bytes.extend(mtu.to_be_bytes());
        bytes.extend([0x45, 0, 0, 84, 0, 0, 0, 0, 64, 1, 0, 0, 192, 0, 2, 2, 192, 0, 2, 9]);
        bytes.extend([8, 0, 0, 0, 0, 7, 0, 8]);
        bytes
    }

    #[test]
    fn an_error_identifies_its_request_and_its_sender() {
        let router: IpAddr = "192.0.2.1".parse().unwrap();
        let message = parse_icmp_packet(&icmp_error_packet(3, 4, 1400), router, true).unwrap();
        assert_eq!(
            (message.target, message.identifier, message.sequence),
            ("192.0.2.9".parse().unwrap(), 7, 8)
        );
        assert_eq!(
            message.error,
            Some(IcmpError { sender: router, icmp_type: 3, icmp_code: 4, mtu: Some(1400) })
        );
        let expired = parse_icmp_packet(&icmp_error_packet(11, 0, 0), router, true).unwrap().error.unwrap();
        assert_eq!((expired.icmp_type, expired.mtu), (11, None));
    }

    #[test]
    fn a_redirect_is_not_a_loss() {
        // The packet that it is about was forwarded; a reply will arrive.
        for icmp_type in [4, 5] {
            assert_eq!(
                parse_icmp_packet(&icmp_error_packet(icmp_type, 1, 0), "192.0.2.1".parse().unwrap(), true),
                None
            );
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes: Vec<u8>, is_raw_socket: bool, v6: bool) {
            let from: IpAddr = if v6 { "2001:db8::1" } else { "192.0.2.1" }.parse().unwrap();
            let _ = (parse_icmp_packet(&bytes, from, is_raw_socket), parse_echo_ids(&bytes, 8));
        }
    }
}
