//! The running built-in targets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::certificate_authority::CertificateAuthority;
use super::flaky_schedule::FlakySchedule;
use super::http::TargetPages;
use super::{dns, http, sockets, tcp_echo};

/// Listening addresses, and the failure times of one target.
#[derive(Clone, Debug)]
pub struct BuiltInTargetConfig {
    /// Number of addresses, from 127.0.0.1 on, that each server listens on, all with the same port. More addresses
    /// widen the space of local ports for connections. At least 1.
    pub address_count: u8,
    /// Failure times of `/flaky`.
    pub flaky_schedule: FlakySchedule,
}

impl Default for BuiltInTargetConfig {
    fn default() -> Self {
        Self { address_count: 1, flaky_schedule: FlakySchedule::default() }
    }
}

/// Listening addresses: the first one of each server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltInTargetAddresses {
    /// Plain HTTP/1 and, by prior knowledge, HTTP/2.
    pub http: SocketAddr,
    /// HTTPS, with HTTP/1.1 and HTTP/2 by ALPN, for `localhost` and the listening addresses.
    pub https: SocketAddr,
    /// Echo over TCP.
    pub tcp: SocketAddr,
    /// DNS over UDP and TCP.
    pub dns: SocketAddr,
}

/// The running targets, which stop when this is dropped.
#[derive(Debug)]
pub struct BuiltInTargets {
    addresses: BuiltInTargetAddresses,
    ca_pem: String,
    _stop_on_drop: DropGuard,
}

impl BuiltInTargets {
    /// Binds all servers to free ports and starts them on the current runtime.
    ///
    /// # Errors
    /// When a socket cannot be bound or the certificates cannot be created.
    pub async fn start(config: BuiltInTargetConfig) -> io::Result<Self> {
        let listen_addresses = sockets::loopback_addresses(config.address_count);
        let authority = CertificateAuthority::new(&listen_addresses)?;
        let shutdown = CancellationToken::new();
        let pages = TargetPages::new(config.flaky_schedule);
        let addresses = BuiltInTargetAddresses {
            http: http::serve(sockets::bind_tcp(&listen_addresses).await?, None, pages, &shutdown),
            https: http::serve(
                sockets::bind_tcp(&listen_addresses).await?,
                Some(authority.tls_acceptor()),
                pages,
                &shutdown,
            ),
            tcp: tcp_echo::serve(sockets::bind_tcp(&listen_addresses).await?, &shutdown),
            dns: dns::serve(sockets::bind_tcp_and_udp(&listen_addresses).await?, &shutdown),
        };
        Ok(Self { addresses, ca_pem: authority.ca_pem().to_owned(), _stop_on_drop: shutdown.drop_guard() })
    }

    /// Listening addresses of the servers.
    #[must_use]
    pub fn addresses(&self) -> BuiltInTargetAddresses {
        self.addresses
    }

    /// Certificate of the CA of the HTTPS server, in PEM.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }
}

/// Returns address `index` of a server that listens on `address_count` addresses; the index wraps around.
#[must_use]
pub fn nth_target_address(first_address: SocketAddr, index: usize, address_count: u8) -> SocketAddr {
    let last_octet = 1 + index % usize::from(address_count.max(1));
    let octet = u8::try_from(last_octet).unwrap_or(u8::MAX);
    SocketAddr::new(Ipv4Addr::new(127, 0, 0, octet).into(), first_address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_addresses_repeat_after_the_last_one() {
        let first = "127.0.0.1:80".parse().unwrap();
        let texts: Vec<_> = (0..4).map(|i| nth_target_address(first, i, 3).to_string()).collect();
        assert_eq!(texts, ["127.0.0.1:80", "127.0.0.2:80", "127.0.0.3:80", "127.0.0.1:80"]);
    }
}
