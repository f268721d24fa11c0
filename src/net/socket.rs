//! Sockets as this location opens them, and what the kernel's errors mean.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::TcpSocket;

use crate::domain::FailureKind;

/// Where connections and echo requests of a location leave this host. Empty: as the routing table says.
/// Questions to the resolver leave from the address too; the interface does not bind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceBinding {
    /// Source address of IPv4 connections.
    pub v4: Option<Ipv4Addr>,
    /// Source address of IPv6 connections.
    pub v6: Option<Ipv6Addr>,
    /// Network interface (`SO_BINDTODEVICE`).
    pub interface: Option<String>,
}

impl SourceBinding {
    /// The address to bind to on the way to `to`, with port 0.
    #[must_use]
    pub fn bind_address_for(&self, to: IpAddr) -> Option<SocketAddr> {
        let address = match to {
            IpAddr::V4(_) => self.v4.map(IpAddr::V4),
            IpAddr::V6(_) => self.v6.map(IpAddr::V6),
        };
        address.map(|address| SocketAddr::new(address, 0))
    }
}

/// A TCP socket that leaves through `source`, with Nagle's algorithm off: a probe that writes twice would
/// else wait for the peer's delayed acknowledgement, 40 ms that are not the target's.
pub(super) fn tcp_socket(source: &SourceBinding, to: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_nodelay(true)?;
    if let Some(from) = source.bind_address_for(to.ip()) {
        // Without it the kernel reserves a port for every destination at once, and 28,000 checks a minute
        // would be all that one source address can do.
        setsockopt(&socket, sockopt::IpBindAddressNoPort, &true)?;
        socket.bind(from)?;
    }
    if let Some(interface) = &source.interface {
        SockRef::from(&socket).bind_device(Some(interface.as_bytes()))?;
    }
    Ok(socket)
}

/// A UDP socket towards `to` that leaves through `source`, from a port that the kernel draws at random. It
/// is connected: datagrams from anybody else do not arrive, and an ICMP error comes back as one of `recv`.
pub(super) fn udp_socket(source: &SourceBinding, to: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))?;
    if let Some(from) = source.bind_address_for(to.ip()) {
        socket.bind(&from.into())?;
    }
    if let Some(interface) = &source.interface {
        socket.bind_device(Some(interface.as_bytes()))?;
    }
    socket.set_nonblocking(true)?;
    socket.connect(&to.into())?;
    Ok(socket.into())
}

/// Whether this host itself knows a way to `to`. Connecting a UDP socket sends nothing, but asks the
/// routing table; so it tells a missing route of ours from an ICMP error that came from the network.
pub(super) fn check_local_route(source: &SourceBinding, to: SocketAddr) -> io::Result<()> {
    udp_socket(source, to).map(drop)
}

/// What an error of `socket`, `bind` or `connect` means; `None` for one that no rule speaks of. That an
/// address cannot be reached is [`FailureKind::Unreachable`] here, whoever said so.
pub(super) fn socket_failure_kind(error: &io::Error) -> Option<FailureKind> {
    Some(match Errno::from_raw(error.raw_os_error()?) {
        Errno::ECONNREFUSED => FailureKind::ConnectRefused,
        Errno::ECONNRESET | Errno::ECONNABORTED | Errno::EPIPE => FailureKind::ConnectReset,
        Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::EHOSTDOWN | Errno::ENETDOWN | Errno::ENONET => {
            FailureKind::Unreachable
        }
        Errno::ETIMEDOUT => FailureKind::TimedOut,
        Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM => FailureKind::NoSocket,
        Errno::EADDRNOTAVAIL | Errno::EADDRINUSE | Errno::ENODEV | Errno::EAGAIN => {
            FailureKind::NoSourceAddress
        }
        Errno::EACCES | Errno::EPERM => FailureKind::NoPermission,
        Errno::EAFNOSUPPORT | Errno::EINVAL => FailureKind::NoRoute,
        _ => return None,
    })
}
