//! Listeners on free ports: the same port on each of several loopback addresses.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio_util::sync::CancellationToken;

/// Most connections that wait for an accept; load tests connect in bursts.
const ACCEPT_BACKLOG: u32 = 4096;
/// Attempts to find a port that is free on all addresses, as another process may use it on one of them.
const MAX_BIND_ATTEMPTS: usize = 16;

/// Returns the first `count` loopback addresses.
pub(super) fn loopback_addresses(count: u8) -> Vec<IpAddr> {
    (1..=count.clamp(1, 254)).map(|last_octet| Ipv4Addr::new(127, 0, 0, last_octet).into()).collect()
}

/// Binds stream listeners to one free port on all `ips`.
pub(super) async fn bind_tcp(ips: &[IpAddr]) -> io::Result<Vec<TcpListener>> {
    bind_same_port(ips, listen)
}

/// Binds a stream listener and a datagram socket to one free port on all `ips`.
pub(super) async fn bind_tcp_and_udp(ips: &[IpAddr]) -> io::Result<Vec<(TcpListener, UdpSocket)>> {
    bind_same_port(ips, |address| {
        let listener = listen(address)?;
        let socket = std::net::UdpSocket::bind(listener.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok((listener, UdpSocket::from_std(socket)?))
    })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(ACCEPT_BACKLOG)
}

/// One or more sockets that are bound to the same port.
trait BoundSocket {
    fn bound_port(&self) -> io::Result<u16>;
}

impl BoundSocket for TcpListener {
    fn bound_port(&self) -> io::Result<u16> {
        Ok(self.local_addr()?.port())
    }
}

impl BoundSocket for (TcpListener, UdpSocket) {
    fn bound_port(&self) -> io::Result<u16> {
        self.0.bound_port()
    }
}

fn bind_same_port<S: BoundSocket>(
    ips: &[IpAddr],
    bind: impl Fn(SocketAddr) -> io::Result<S>,
) -> io::Result<Vec<S>> {
    let mut last_error = io::Error::from(io::ErrorKind::InvalidInput);
    for _ in 0..MAX_BIND_ATTEMPTS {
        match bind_each_address(ips, &bind) {
            Ok(sockets) => return Ok(sockets),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

fn bind_each_address<S: BoundSocket>(
    ips: &[IpAddr],
    bind: impl Fn(SocketAddr) -> io::Result<S>,
) -> io::Result<Vec<S>> {
    let mut port = 0;
    let mut sockets = Vec::with_capacity(ips.len());
    for ip in ips {
        let socket = bind(SocketAddr::new(*ip, port))?;
        port = socket.bound_port()?;
        sockets.push(socket);
    }
    Ok(sockets)
}

/// Accepts from `listener` until `shutdown`. Each connection runs in a task of its own, which ends with `shutdown` too.
pub(super) fn spawn_accept_loop<F, R>(
    listener: TcpListener,
    shutdown: &CancellationToken,
    handle_connection: F,
) where
    F: Fn(TcpStream) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
            match accepted {
                Ok((stream, _)) => {
                    // Responses are small and must not wait for an acknowledgement.
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(shutdown.clone().run_until_cancelled_owned(handle_connection(stream)));
                }
                // Out of descriptors: other connections have to close first.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    });
}

/// First address of `listeners`.
pub(super) fn first_address(listeners: &[TcpListener]) -> SocketAddr {
    listeners.first().and_then(|listener| listener.local_addr().ok()).unwrap_or_else(unbound_address)
}

/// Address of a server without sockets; unreachable, since [`loopback_addresses`] returns at least one.
pub(super) fn unbound_address() -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)
}
