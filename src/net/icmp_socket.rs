//! Sockets for echo requests, and their ICMP errors.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::socket::{SockaddrStorage, setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};

/// Opens a socket for echo requests to `address`, and returns whether it is a raw one. The unprivileged kind is tried
/// first.
pub(super) fn open_icmp_socket(address: IpAddr) -> io::Result<(Socket, bool)> {
    let (domain, protocol) = match address {
        IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4),
        IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6),
    };
    match Socket::new(domain, Type::DGRAM, Some(protocol)) {
        Ok(socket) => Ok((socket, false)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok((Socket::new(domain, Type::RAW, Some(protocol))?, true))
        }
        Err(error) => Err(error),
    }
}

/// Makes the kernel queue the ICMP errors for requests of `socket` to `address`.
pub(super) fn enable_error_queue(socket: &impl AsFd, address: IpAddr) -> nix::Result<()> {
    if address.is_ipv4() {
        setsockopt(socket, sockopt::Ipv4RecvErr, &true)
    } else {
        setsockopt(socket, sockopt::Ipv6RecvErr, &true)
    }
}

/// Returns the IP address of a socket address; `None` for other families.
pub(super) fn to_ip_addr(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
}

/// Whether `error` may be the ICMP error of a router for an earlier request, or an error of this host about its own
/// link.
pub(super) fn is_path_error(error: &io::Error) -> bool {
    let Some(errno) = error.raw_os_error().map(Errno::from_raw) else { return false };
    matches!(
        errno,
        Errno::EHOSTUNREACH
            | Errno::ENETUNREACH
            | Errno::ECONNREFUSED
            | Errno::EHOSTDOWN
            | Errno::ENONET
            | Errno::EPROTO
            | Errno::ENOPROTOOPT
            | Errno::EOPNOTSUPP
            | Errno::EACCES
            | Errno::EMSGSIZE
    )
}
