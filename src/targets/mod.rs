//! Built-in targets on loopback: HTTP, HTTPS with a CA of its own, TCP and DNS. What `vigie serve --demo`
//! watches and what `vigie load` checks, so that both work without a network.
//!
//! | Server | Answers |
//! |---|---|
//! | HTTP, HTTPS | `/` 200 with a short page, `/flaky` 500 now and then, `/redirect` 302 to `/`, `/status/NNN` that status, else 404 |
//! | TCP | whatever it is sent |
//! | DNS (UDP and TCP) | A 127.0.0.1 and AAAA ::1 for any name, NXDOMAIN for names whose first label is `missing` |

mod authority;
mod dns;
mod echo;
mod http;
mod sockets;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio_util::sync::{CancellationToken, DropGuard};

use authority::Authority;

/// Where the targets listen and how one of them fails.
#[derive(Clone, Debug)]
pub struct ResponderConfig {
    /// How many addresses from 127.0.0.1 on each server listens on, all with the same port: more of them
    /// widen the space of local ports that connections can come from. At least 1.
    pub spread: u8,
    /// When `/flaky` fails.
    pub flaky: Flaky,
}

impl Default for ResponderConfig {
    fn default() -> Self {
        Self { spread: 1, flaky: Flaky::default() }
    }
}

/// A target that fails at known times after the start: down for `down` out of each `period`, from `after` on.
#[derive(Clone, Copy, Debug)]
pub struct Flaky {
    /// Length of one round of up and down.
    pub period: Duration,
    /// Begin of the failing part in each round.
    pub after: Duration,
    /// Length of the failing part.
    pub down: Duration,
}

impl Default for Flaky {
    /// Down for one minute in five, first after one minute: a newcomer sees a failure and a recovery soon.
    fn default() -> Self {
        Self { period: Duration::from_mins(5), after: Duration::from_mins(1), down: Duration::from_mins(1) }
    }
}

impl Flaky {
    /// Whether the target fails when `elapsed` has passed since the start.
    #[must_use]
    pub fn fails(&self, elapsed: Duration) -> bool {
        let period = self.period.as_micros().max(1);
        let at = elapsed.as_micros() % period;
        (self.after.as_micros()..self.after.as_micros() + self.down.as_micros()).contains(&at)
    }
}

/// Where each server listens: the first of its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// Plain HTTP/1 and, by prior knowledge, HTTP/2.
    pub http: SocketAddr,
    /// HTTPS, HTTP/1.1 and HTTP/2 by ALPN, for `localhost` and the addresses that it listens on.
    pub https: SocketAddr,
    /// Echoes what it is sent.
    pub tcp: SocketAddr,
    /// UDP and TCP.
    pub dns: SocketAddr,
}

/// The running targets. They stop when this is dropped.
#[derive(Debug)]
pub struct Responder {
    addresses: Addresses,
    ca_pem: String,
    _stop: DropGuard,
}

impl Responder {
    /// Binds all servers to free ports and starts them on the current runtime.
    ///
    /// # Errors
    /// When a socket cannot be bound or the certificates cannot be made.
    pub async fn start(config: ResponderConfig) -> io::Result<Self> {
        let ips = sockets::loopback(config.spread);
        let authority = Authority::new(&ips)?;
        let stop = CancellationToken::new();
        let page = http::Page::new(config.flaky);
        let addresses = Addresses {
            http: http::serve(sockets::streams(&ips).await?, None, page, &stop),
            https: http::serve(sockets::streams(&ips).await?, Some(authority.acceptor()), page, &stop),
            tcp: echo::serve(sockets::streams(&ips).await?, &stop),
            dns: dns::serve(sockets::pairs(&ips).await?, &stop),
        };
        Ok(Self { addresses, ca_pem: authority.ca_pem().to_owned(), _stop: stop.drop_guard() })
    }

    /// Where the servers listen.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// The certificate of the CA behind the HTTPS server, as PEM.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }
}

/// The `index`th address of a server that is spread over `spread` addresses.
#[must_use]
pub fn spread_address(first: SocketAddr, index: usize, spread: u8) -> SocketAddr {
    let last = 1 + index % usize::from(spread.max(1));
    let octet = u8::try_from(last).unwrap_or(u8::MAX);
    SocketAddr::new(Ipv4Addr::new(127, 0, 0, octet).into(), first.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flaky_target_is_down_one_minute_in_five() {
        let flaky = Flaky::default();
        let down: Vec<u64> = (0..600).filter(|&second| flaky.fails(Duration::from_secs(second))).collect();
        assert_eq!(down.len(), 120);
        assert_eq!((down[0], down[59], down[60]), (60, 119, 360));
    }

    #[test]
    fn targets_go_round_over_the_spread() {
        let first = "127.0.0.1:80".parse().unwrap();
        let texts: Vec<_> = (0..4).map(|i| spread_address(first, i, 3).to_string()).collect();
        assert_eq!(texts, ["127.0.0.1:80", "127.0.0.2:80", "127.0.0.3:80", "127.0.0.1:80"]);
    }
}
