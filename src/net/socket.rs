//! Creates the sockets of a location, and classifies errors of the kernel.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::TcpSocket;

use crate::domain::FailureKind;

/// Source address and interface of connections and echo requests of a location; if empty, the routing table decides.
/// Resolver queries use the address, but not the interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceBinding {
    /// Source address of IPv4 connections.
    pub ipv4: Option<Ipv4Addr>,
    /// Source address of IPv6 connections.
    pub ipv6: Option<Ipv6Addr>,
    /// Network interface (`SO_BINDTODEVICE`).
    pub interface: Option<String>,
}

impl SourceBinding {
    /// Returns the address to bind to for a connection to `destination`, with port 0.
    #[must_use]
    pub fn bind_address_for(&self, destination: IpAddr) -> Option<SocketAddr> {
        let address = match destination {
            IpAddr::V4(_) => self.ipv4.map(IpAddr::V4),
            IpAddr::V6(_) => self.ipv6.map(IpAddr::V6),
        };
        address.map(|address| SocketAddr::new(address, 0))
    }
}

/// Creates a TCP socket bound to `source`, without Nagle's algorithm: a probe that writes twice would otherwise wait
/// for the peer's delayed acknowledgement, 40 ms that are not the target's.
pub(super) fn create_tcp_socket(source: &SourceBinding, destination: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if destination.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_nodelay(true)?;
    if let Some(source_address) = source.bind_address_for(destination.ip()) {
        // Without it the kernel reserves a port for all destinations at once, which limits a source address to 28,000
        // checks a minute.
        setsockopt(&socket, sockopt::IpBindAddressNoPort, &true)?;
        socket.bind(source_address)?;
    }
    if let Some(interface) = &source.interface {
        SockRef::from(&socket).bind_device(Some(interface.as_bytes()))?;
    }
    Ok(socket)
}

/// Creates a UDP socket connected to `destination` and bound to `source`, with a random port. Datagrams from other
/// senders are not received, and ICMP errors are returned by `recv`.
pub(super) fn create_connected_udp_socket(
    source: &SourceBinding,
    destination: SocketAddr,
) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(destination), Type::DGRAM, Some(Protocol::UDP))?;
    if let Some(source_address) = source.bind_address_for(destination.ip()) {
        socket.bind(&source_address.into())?;
    }
    if let Some(interface) = &source.interface {
        socket.bind_device(Some(interface.as_bytes()))?;
    }
    socket.set_nonblocking(true)?;
    socket.connect(&destination.into())?;
    Ok(socket.into())
}

/// Checks whether this host has a route to `destination`. Connecting a UDP socket sends nothing, but uses the routing
/// table; this distinguishes a missing local route from an ICMP error of the network.
pub(super) fn check_local_route(source: &SourceBinding, destination: SocketAddr) -> io::Result<()> {
    create_connected_udp_socket(source, destination).map(drop)
}

/// Classifies an error of `socket`, `bind` or `connect`; `None` for other errors. An unreachable address is
/// [`FailureKind::Unreachable`] here, whatever host reported it.
pub(super) fn socket_failure_kind(error: &io::Error) -> Option<FailureKind> {
    Some(match Errno::from_raw(error.raw_os_error()?) {
        Errno::ECONNREFUSED => FailureKind::ConnectRefused,
        Errno::ECONNRESET | Errno::ECONNABORTED | Errno::EPIPE => FailureKind::ConnectReset,
        Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::EHOSTDOWN | Errno::ENETDOWN | Errno::ENONET => {
            FailureKind::Unreachable
        }
        Errno::ETIMEDOUT => FailureKind::TimedOut,
        Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM => FailureKind::NoSocketLeft,
        Errno::EADDRNOTAVAIL | Errno::EADDRINUSE | Errno::ENODEV | Errno::EAGAIN => {
            FailureKind::NoSourceAddress
        }
        Errno::EACCES | Errno::EPERM => FailureKind::NoPermission,
        Errno::EAFNOSUPPORT | Errno::EINVAL => FailureKind::NoRoute,
        _ => return None,
    })
}
