//! A port of loopback that refuses connections.

use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// It, for as long as this is there: bound and not listened on, so that nobody else is given its number meanwhile.
pub struct ClosedPort {
    _held: Socket,
    pub at: SocketAddr,
}

impl ClosedPort {
    pub fn new() -> Self {
        let held = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        held.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        let at = held.local_addr().unwrap().as_socket().unwrap();
        Self { _held: held, at }
    }
}
