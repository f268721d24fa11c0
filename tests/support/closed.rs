//! A loopback port that refuses connections.

use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A port that is bound but not listened on, so that no other process gets it while this value exists.
pub struct ClosedPort {
    _socket: Socket,
    pub at: SocketAddr,
}

impl ClosedPort {
    pub fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        let at = socket.local_addr().unwrap().as_socket().unwrap();
        Self { _socket: socket, at }
    }
}
