//! The socket of one traceroute: sends requests with a hop limit, and receives the replies and errors.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd as _;

use nix::libc::{sock_extended_err, sockaddr_in6};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::super::icmp_socket::{self, is_path_error, to_ip_addr};
use super::packet::{self, ResponseKind};
use super::route::TracerouteMethod;
use crate::net::socket::SourceBinding;

/// Port of the first datagram. Each further datagram goes to the next port, so that the port in an ICMP error tells
/// which datagram it is about.
const FIRST_UDP_PORT: u16 = 33_434;
/// Bytes of a packet that are examined.
const SNAP_LEN: usize = 128;
/// Maximum number of errors of earlier requests that are skipped: a later `send` returns each of them once.
const MAX_SKIPPED_ERRORS: usize = 64;

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HopResponse {
    /// The request.
    pub(super) request_index: u16,
    /// The sender.
    pub(super) sender: IpAddr,
    /// What happened to the request.
    pub(super) kind: ResponseKind,
}

/// A socket for requests to one address.
#[derive(Debug)]
pub(super) struct TraceSocket {
    socket: UdpSocket,
    target_address: IpAddr,
    method: TracerouteMethod,
    is_raw: bool,
    echo_identifier: u16,
}

impl TraceSocket {
    pub(super) fn open(
        source: &SourceBinding,
        target_address: IpAddr,
        method: TracerouteMethod,
    ) -> io::Result<Self> {
        let (socket, is_raw) = open_trace_socket(target_address, method)?;
        icmp_socket::enable_error_queue(&socket, target_address)?;
        if let Some(source_address) = source.bind_address_for(target_address) {
            socket.bind(&source_address.into())?;
        }
        if let Some(interface) = &source.interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        socket.set_nonblocking(true)?;
        if method == TracerouteMethod::Icmp {
            // The kernel then filters out replies of other addresses; errors of routers are still received.
            socket.connect(&SocketAddr::new(target_address, 0).into())?;
        }
        let mut random = [0; 2];
        aws_lc_rs::rand::fill(&mut random).map_err(|_| io::Error::other("no random numbers"))?;
        let identifier = u16::from_be_bytes(random);
        Ok(Self {
            socket: UdpSocket::from_std(socket.into())?,
            target_address,
            method,
            is_raw,
            echo_identifier: identifier,
        })
    }

    pub(super) const fn target_address(&self) -> IpAddr {
        self.target_address
    }

    pub(super) const fn method(&self) -> TracerouteMethod {
        self.method
    }

    pub(super) const fn socket_kind(&self) -> &'static str {
        if self.is_raw { "raw" } else { "dgram" }
    }

    /// Sends the request `request_index` with the hop limit `hop_limit`.
    pub(super) async fn send(&self, request_index: u16, hop_limit: u8) -> io::Result<()> {
        let socket = SockRef::from(&self.socket);
        if self.target_address.is_ipv4() {
            socket.set_ttl_v4(u32::from(hop_limit))?;
        } else {
            socket.set_unicast_hops_v6(u32::from(hop_limit))?;
        }
        let mut skipped_errors = 0;
        loop {
            let result = match self.method {
                TracerouteMethod::Udp => {
                    self.socket
                        .send_to(&[0; 32], (self.target_address, FIRST_UDP_PORT.wrapping_add(request_index)))
                        .await
                }
                TracerouteMethod::Icmp => {
                    self.socket
                        .send(&packet::build_echo_request(
                            self.target_address.is_ipv6(),
                            self.echo_identifier,
                            request_index,
                        ))
                        .await
                }
            };
            match result {
                Err(error) if skipped_errors < MAX_SKIPPED_ERRORS && is_path_error(&error) => {
                    skipped_errors += 1;
                }
                Err(error) => return Err(error),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Receives the next response to a request. Waits forever.
    pub(super) async fn receive_response(&self) -> io::Result<HopResponse> {
        loop {
            // Errors first: a pending error makes every read fail.
            let response = tokio::select! {
                biased;
                response = self.socket.async_io(Interest::ERROR, || self.read_error_queue()) => response?,
                response = self.socket.async_io(Interest::READABLE, || self.read_reply()) => response?,
            };
            if let Some(response) = response {
                return Ok(response);
            }
        }
    }

    /// Reads the next entry of the error queue; `None` for one that says nothing about the route.
    fn read_error_queue(&self) -> io::Result<Option<HopResponse>> {
        let is_ipv6 = self.target_address.is_ipv6();
        let mut bytes = [0; SNAP_LEN];
        let mut io_slices = [IoSliceMut::new(&mut bytes)];
        let mut control_buffer = nix::cmsg_space!((sock_extended_err, sockaddr_in6));
        let received = recvmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &mut io_slices,
            Some(&mut control_buffer),
            MsgFlags::MSG_ERRQUEUE,
        )?;
        let error_and_sender = received.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::Ipv4RecvErr(error, Some(sender)) => {
                Some((error, IpAddr::V4(Ipv4Addr::from_bits(u32::from_be(sender.sin_addr.s_addr)))))
            }
            ControlMessageOwned::Ipv6RecvErr(error, Some(sender)) => {
                Some((error, IpAddr::V6(Ipv6Addr::from(sender.sin6_addr.s6_addr))))
            }
            _ => None,
        });
        let port = received.address.as_ref().and_then(to_port);
        let length = received.bytes;
        let request_index = match self.method {
            TracerouteMethod::Udp => port.map(|port| port.wrapping_sub(FIRST_UDP_PORT)),
            TracerouteMethod::Icmp => self.own_request_index(packet::parse_echo_request_ids(
                is_ipv6,
                bytes.get(..length).unwrap_or_default(),
            )),
        };
        Ok(request_index.zip(error_and_sender).and_then(|(request_index, (error, sender))| {
            let kind = packet::response_kind_from_icmp_error(is_ipv6, error.ee_type, error.ee_code)?;
            Some(HopResponse { request_index, sender, kind })
        }))
    }

    /// Reads the next packet; `None` for one that does not belong to this trace.
    fn read_reply(&self) -> io::Result<Option<HopResponse>> {
        let mut bytes = [0; SNAP_LEN];
        let mut io_slices = [IoSliceMut::new(&mut bytes)];
        let received =
            recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut io_slices, None, MsgFlags::empty());
        let (length, address) = match received {
            Ok(received) => (received.bytes, received.address),
            Err(errno) if is_path_error(&errno.into()) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let request_index = match self.method {
            // A datagram came back, so the port is open; datagrams of other senders are ignored.
            TracerouteMethod::Udp => {
                let address = address.filter(|address| to_ip_addr(address) == Some(self.target_address));
                address.as_ref().and_then(to_port).map(|port| port.wrapping_sub(FIRST_UDP_PORT))
            }
            TracerouteMethod::Icmp => {
                let bytes = bytes.get(..length).unwrap_or_default();
                self.own_request_index(packet::parse_echo_reply_ids(
                    self.target_address.is_ipv6(),
                    self.is_raw,
                    bytes,
                ))
            }
        };
        Ok(request_index.map(|request_index| HopResponse {
            request_index,
            sender: self.target_address,
            kind: ResponseKind::TargetReached,
        }))
    }

    /// Returns the sequence number of a request of this trace. On a datagram socket the kernel sets the identifier, and
    /// filters by it.
    fn own_request_index(&self, identifier_and_sequence: Option<(u16, u16)>) -> Option<u16> {
        let (identifier, sequence) = identifier_and_sequence?;
        (!self.is_raw || identifier == self.echo_identifier).then_some(sequence)
    }
}

/// Opens a socket for requests to `target_address`, and returns whether it is a raw one.
fn open_trace_socket(target_address: IpAddr, method: TracerouteMethod) -> io::Result<(Socket, bool)> {
    if method == TracerouteMethod::Icmp {
        return icmp_socket::open_icmp_socket(target_address);
    }
    let domain = if target_address.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    Ok((Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?, false))
}

fn to_port(address: &SockaddrStorage) -> Option<u16> {
    let v4 = address.as_sockaddr_in().map(nix::sys::socket::SockaddrIn::port);
    v4.or_else(|| address.as_sockaddr_in6().map(nix::sys::socket::SockaddrIn6::port))
}
