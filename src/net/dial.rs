//! TCP connections: egress policy, happy eyeballs (RFC 8305), and whose fault a failure is.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use std::{fmt, io};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use socket2::SockRef;
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::Instant;

use super::deadline::Deadline;
use super::egress::check_not_protected;
use super::endpoint::{ConnectionTrace, Endpoint};
use super::proxy::UpstreamProxy;
use super::socket;
use super::stack::Net;
use crate::domain::{EgressPrincipal, Failure, FailureKind, Fault, Phase};

/// How long an address is tried alone before the next one is tried in parallel (RFC 8305 8).
pub const CONNECTION_ATTEMPT_DELAY: Duration = Duration::from_millis(250);

impl Net {
    /// Opens a TCP connection to `endpoint`: resolves it, applies the egress policy, and tries all addresses in
    /// order, each [`CONNECTION_ATTEMPT_DELAY`] after the previous one or as soon as that failed; the first
    /// connection wins. It is new and has `TCP_NODELAY` set.
    pub async fn connect(
        &self,
        endpoint: &Endpoint,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<TcpStream, Failure> {
        let proxy = self.named_proxy(endpoint)?;
        let addresses = self.resolve(endpoint, deadline, trace).await?;
        self.connect_via(proxy.as_deref(), &addresses, endpoint.port, deadline, trace).await
    }

    /// Connects like [`Self::connect`] to `endpoint`, already resolved to `addresses`.
    pub async fn connect_resolved(
        &self,
        endpoint: &Endpoint,
        addresses: &[IpAddr],
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<TcpStream, Failure> {
        self.connect_via(self.named_proxy(endpoint)?.as_deref(), addresses, endpoint.port, deadline, trace)
            .await
    }

    /// Connects to `port` of one of the resolved `addresses`, through the default proxy, if any: without an endpoint,
    /// no other proxy is named.
    pub async fn connect_without_named_proxy(
        &self,
        addresses: &[IpAddr],
        port: u16,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<TcpStream, Failure> {
        self.connect_via(None, addresses, port, deadline, trace).await
    }

    /// Connects to one of `addresses` that the egress policy allows: through `named_proxy`, else through the default
    /// proxy, if any.
    async fn connect_via(
        &self,
        named_proxy: Option<&UpstreamProxy>,
        addresses: &[IpAddr],
        port: u16,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<TcpStream, Failure> {
        let allowed_addresses = self.allowed_addresses(addresses, Some(port), trace)?;
        let started = Instant::now();
        let socket_addresses: Vec<SocketAddr> =
            allowed_addresses.iter().map(|&ip| SocketAddr::new(ip, port)).collect();
        let race = happy_eyeballs(&socket_addresses, deadline, |to| {
            trace.peer_address = Some(to);
            self.connect_to_address(to, named_proxy, deadline)
        });
        let race_result = race.await;
        trace.phases.add(Phase::Connect, started.elapsed());
        match race_result {
            RaceResult::Connected(target, stream) => {
                trace.peer_address = Some(target);
                Ok(stream)
            }
            RaceResult::AllFailed(failures) => Err(primary_failure(failures)),
            RaceResult::TimedOut(failures) => {
                let used_proxy =
                    socket_addresses.first().and_then(|&to| self.proxy_for_address(to, named_proxy));
                Err(connect_timeout_failure(&socket_addresses, used_proxy, failures, deadline))
            }
        }
    }

    /// Returns those of `addresses` that the egress policy allows and at which no service of Vigie listens on `port`
    /// (`None` for protocols without ports). Fails (status 95) with the reason and the address when there are none.
    pub fn allowed_addresses(
        &self,
        addresses: &[IpAddr],
        port: Option<u16>,
        trace: &mut ConnectionTrace,
    ) -> Result<Vec<IpAddr>, Failure> {
        let mut denials = Vec::new();
        let mut allowed = Vec::with_capacity(addresses.len());
        for &address in addresses {
            let decision =
                self.stack.egress_policy.check(self.egress_principal, address).and_then(|()| match port {
                    Some(port) if self.egress_principal != EgressPrincipal::Vigie => {
                        check_not_protected(SocketAddr::new(address, port))
                    }
                    _ => Ok(()),
                });
            match decision {
                Ok(()) => allowed.push(address),
                Err(denial) => denials.push(denial),
            }
        }
        if allowed.is_empty() {
            trace.peer_address = denials.first().map(|denial| SocketAddr::new(denial.address(), 0));
            let detail = join_first_items(&denials, "; ");
            return Err(Failure::new(Phase::Connect, FailureKind::EgressDenied, detail));
        }
        Ok(allowed)
    }

    /// Opens a UDP socket that exchanges datagrams with `address` only, from a random port. The caller must have
    /// checked [`Self::allowed_addresses`].
    pub fn open_udp_socket(&self, address: SocketAddr) -> Result<UdpSocket, Failure> {
        socket::create_connected_udp_socket(&self.stack.source_binding, address)
            .and_then(UdpSocket::from_std)
            .map_err(|error| self.socket_failure(address, &error))
    }

    /// Returns the failure of `socket`, `bind` or `connect` towards `address`, and whose fault it is.
    #[must_use]
    pub fn socket_failure(&self, address: SocketAddr, error: &io::Error) -> Failure {
        let has_no_local_route = || socket::check_local_route(&self.stack.source_binding, address).is_err();
        let kind = match socket::socket_failure_kind(error) {
            Some(FailureKind::Unreachable) if has_no_local_route() => FailureKind::NoRoute,
            Some(kind) => kind,
            None => FailureKind::Internal,
        };
        Failure::new(Phase::Connect, kind, format!("{address}: {error}"))
    }

    /// Opens one connection, directly or through the proxy for `address`; returns `address` with its outcome.
    async fn connect_to_address(
        &self,
        address: SocketAddr,
        named_proxy: Option<&UpstreamProxy>,
        deadline: Deadline,
    ) -> (SocketAddr, Result<TcpStream, Failure>) {
        if let Some(proxy) = self.proxy_for_address(address, named_proxy) {
            // On the heap, since few connections use a proxy; the others need no space for it.
            return (address, Box::pin(self.connect_through_proxy(proxy, address, deadline)).await);
        }
        let connection =
            async { socket::create_tcp_socket(&self.stack.source_binding, address)?.connect(address).await };
        (address, connection.await.map_err(|error| self.socket_failure(address, &error)))
    }
}

/// Makes the kernel acknowledge data on `stream` at once. It would otherwise wait 40 ms for data to send along; a peer
/// with Nagle's algorithm sends nothing meanwhile, and that time is not the target's.
pub fn enable_quick_ack(stream: &TcpStream) {
    // If this fails, the kernel's default remains.
    let _ = SockRef::from(stream).set_tcp_quickack(true);
}

/// How a race between addresses ended.
pub(super) enum RaceResult<T> {
    /// One of them connected.
    Connected(SocketAddr, T),
    /// All of them failed.
    AllFailed(Vec<Failure>),
    /// The deadline came before the last one failed; contains the earlier failures.
    TimedOut(Vec<Failure>),
}

/// Tries all `addresses` in order, each [`CONNECTION_ATTEMPT_DELAY`] after the previous one or as soon as that failed;
/// the first success wins, and the others are dropped.
pub(super) async fn happy_eyeballs<T, F>(
    addresses: &[SocketAddr],
    deadline: Deadline,
    mut connect: impl FnMut(SocketAddr) -> F,
) -> RaceResult<T>
where
    F: Future<Output = (SocketAddr, Result<T, Failure>)>,
{
    if let [address] = *addresses {
        // A single address needs no race.
        return match tokio::time::timeout_at(deadline.at, connect(address)).await {
            Ok((connected_address, Ok(connection))) => RaceResult::Connected(connected_address, connection),
            Ok((_, Err(failure))) => RaceResult::AllFailed(vec![failure]),
            Err(_) => RaceResult::TimedOut(Vec::new()),
        };
    }
    let mut untried_addresses = addresses.iter().copied();
    let mut attempts = FuturesUnordered::new();
    let mut failures: Vec<Failure> = Vec::new();
    let mut next_attempt_at = Instant::now();
    loop {
        if attempts.is_empty() || next_attempt_at <= Instant::now() {
            if let Some(address) = untried_addresses.next() {
                attempts.push(connect(address));
                next_attempt_at = Instant::now() + CONNECTION_ATTEMPT_DELAY;
            } else if attempts.is_empty() {
                return RaceResult::AllFailed(failures);
            }
        }
        let wait_until =
            if untried_addresses.len() > 0 { next_attempt_at.min(deadline.at) } else { deadline.at };
        match tokio::time::timeout_at(wait_until, attempts.next()).await {
            Ok(Some((address, Ok(connection)))) => return RaceResult::Connected(address, connection),
            Ok(Some((_, Err(failure)))) => {
                failures.push(failure);
                next_attempt_at = Instant::now();
            }
            Err(_) if deadline.is_expired() => return RaceResult::TimedOut(failures),
            Ok(None) | Err(_) => {}
        }
    }
}

/// Returns the most informative of several failures: one of the target first, since it shows that the path works,
/// then one of the network, then one of Vigie. The details of the others are added.
#[must_use]
pub fn primary_failure(mut failures: Vec<Failure>) -> Failure {
    failures.sort_by_key(|failure| match failure.fault {
        Fault::Target => 0,
        Fault::Network => 1,
        Fault::Vigie => 2,
    });
    let details = join_first_items(failures.iter().map(|failure| &failure.detail), "; ");
    match failures.into_iter().next() {
        Some(first) => Failure { detail: details, ..first },
        None => Failure::new(Phase::Connect, FailureKind::Internal, "no address to connect to"),
    }
}

/// Returns the failure of a deadline that came before any of `addresses` connected, with the `failures` before it.
fn connect_timeout_failure(
    addresses: &[SocketAddr],
    proxy: Option<&UpstreamProxy>,
    failures: Vec<Failure>,
    deadline: Deadline,
) -> Failure {
    let mut failure = deadline.timeout_failure(Phase::Connect);
    failure.detail = format!("{}; addresses: {}", failure.detail, join_first_items(addresses, ", "));
    if let Some(proxy) = proxy {
        failure.detail = format!("{}, through the proxy {proxy}", failure.detail);
    }
    if !failures.is_empty() {
        let other_details = join_first_items(failures.iter().map(|other| &other.detail), "; ");
        failure.detail = format!("{}; {other_details}", failure.detail);
    }
    failure
}

/// Joins the first of `items` in one line; a name can have thousands of addresses.
pub(super) fn join_first_items<T: fmt::Display>(
    items: impl IntoIterator<Item = T>,
    separator: &str,
) -> String {
    const MAX_ITEMS: usize = 8;
    let mut items = items.into_iter();
    let mut listed: Vec<String> = items.by_ref().take(MAX_ITEMS).map(|item| item.to_string()).collect();
    match items.count() {
        0 => {}
        omitted => listed.push(format!("{omitted} more")),
    }
    listed.join(separator)
}
