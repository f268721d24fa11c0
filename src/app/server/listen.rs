//! Binds addresses and accepts connections on them.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{HttpService, serve_connection};
use super::connection_limiter::ConnectionLimiter;
use super::health_connections::HealthConnections;
use super::limits::{ACCEPT_RETRY_DELAY, SHUTDOWN_GRACE_PERIOD};
use crate::net::protect_local_port;

/// Binds all addresses, so that a port in use is reported before anything else starts.
pub(in crate::app) async fn bind_all(addresses: &[SocketAddr]) -> anyhow::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    for address in addresses {
        listeners.push(bind_one(*address).await?);
    }
    Ok(listeners)
}

async fn bind_one(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| match address.port() {
        0 => format!("cannot listen on `{address}`"),
        port => format!(
            "cannot listen on `{address}`; is another vigie running?\nhint: choose another port with `--listen {}`, or port 0 for a free one",
            SocketAddr::new(address.ip(), port.saturating_add(1))
        ),
    })
}

/// Serves on all `listeners` until `stop`, then lets open requests finish.
pub(in crate::app) async fn serve(
    listeners: Vec<TcpListener>,
    service: HttpService,
    stop: CancellationToken,
) {
    let limits = ConnectionLimits::default();
    let (acceptors, connections) = (TaskTracker::new(), TaskTracker::new());
    for listener in listeners {
        let (service, stop) = (service.clone(), stop.clone());
        let (limits, connections) = (limits.clone(), connections.clone());
        let port_guard = listener.local_addr().map(|address| protect_local_port(address.port()));
        acceptors.spawn(async move {
            let _protected = port_guard;
            while let Some((stream, peer)) = accept(&listener, &stop).await {
                connections.spawn(serve_fully_or_health_only(
                    stream,
                    peer,
                    service.clone(),
                    &limits,
                    stop.clone(),
                ));
            }
        });
    }
    acceptors.close();
    acceptors.wait().await;
    connections.close();
    if tokio::time::timeout(SHUTDOWN_GRACE_PERIOD, connections.wait()).await.is_err() {
        tracing::debug!("closed connections that were still open at shutdown");
    }
}

/// Limits of the connections of all listeners.
#[derive(Clone, Default)]
struct ConnectionLimits {
    limiter: ConnectionLimiter,
    health_connections: HealthConnections,
}

/// Serves a connection; one beyond the limits gets liveness and readiness only.
fn serve_fully_or_health_only(
    stream: TcpStream,
    peer: SocketAddr,
    service: HttpService,
    limits: &ConnectionLimits,
    stop: CancellationToken,
) -> impl Future<Output = ()> + Send + use<> {
    let permit = limits.limiter.try_acquire(peer.ip(), service.is_exempt_from_network_limit(peer.ip()));
    let health_connection = permit.is_none().then(|| limits.health_connections.add());
    async move {
        let Some(health_connection) = health_connection else {
            serve_connection(stream, peer, service, stop).await;
            return drop(permit);
        };
        tracing::debug!(address = %peer, "too many connections: this one gets liveness and readiness only");
        tokio::select! {
            () = serve_connection(stream, peer, service.health_only(), stop) => {}
            () = health_connection.replaced.cancelled() => {}
        }
    }
}

async fn accept(listener: &TcpListener, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
    loop {
        tokio::select! {
            () = stop.cancelled() => return None,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => return Some(accepted),
                Err(error) => {
                    tracing::warn!(error = %error, "failed to accept a connection");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            },
        }
    }
}

#[cfg(test)]
#[path = "listen_tests.rs"]
mod tests;
