//! Opens the echo sockets of a location when they are first needed.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::sockets::EchoSocket;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::stack::Net;

impl Net {
    /// Returns the socket for echo requests to `address`: the unprivileged kind where the host permits it, otherwise a
    /// raw one. Fails with [`FailureKind::NoPermission`] (status 95) when neither is permitted.
    pub async fn echo_socket(&self, address: IpAddr) -> Result<&EchoSocket, Failure> {
        let cell = if address.is_ipv4() { &self.stack.echo_sockets.v4 } else { &self.stack.echo_sockets.v6 };
        cell.get_or_try_init(async || EchoSocket::open(&self.stack.source_binding, address))
            .await
            .map_err(|error| self.echo_socket_failure(address, &error))
    }

    /// Returns the failure of `sendto` for an echo request.
    #[must_use]
    pub fn echo_send_failure(&self, address: IpAddr, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::PermissionDenied {
            let detail = format!(
                "echo requests to {address}: {error}; forbidden by a route or firewall rule of this host"
            );
            return Failure::new(Phase::Connect, FailureKind::NoPermission, detail);
        }
        self.socket_failure(SocketAddr::new(address, 0), error)
    }

    /// Returns the failure of `socket` for echo requests.
    pub(in crate::net) fn echo_socket_failure(&self, address: IpAddr, error: &io::Error) -> Failure {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return self.socket_failure(SocketAddr::new(address, 0), error);
        }
        let detail = format!(
            "echo requests to {address}: {error}\nhint: put a group of this process into the range of the sysctl \
             `net.ipv4.ping_group_range`, or give the process the capability `CAP_NET_RAW`"
        );
        Failure::new(Phase::Prepare, FailureKind::NoPermission, detail)
    }
}
