//! Binds addresses and accepts connections on them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{HttpService, serve_connection};
use super::connection_limiter::{ConnectionLimiter, ConnectionPermit};
use super::limits::{ACCEPT_RETRY_DELAY, MAX_CONNECTIONS, SHUTDOWN_GRACE_PERIOD};
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
    let slots = ConnectionSlots {
        total_semaphore: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        per_address: ConnectionLimiter::default(),
    };
    let (acceptors, connections) = (TaskTracker::new(), TaskTracker::new());
    for listener in listeners {
        let (service, stop) = (service.clone(), stop.clone());
        let (slots, connections) = (slots.clone(), connections.clone());
        let port_guard = listener.local_addr().map(|address| protect_local_port(address.port()));
        acceptors.spawn(async move {
            let _protected = port_guard;
            while let Some((stream, peer, permits)) = accept(&listener, &slots, &stop).await {
                let (service, stop) = (service.clone(), stop.clone());
                connections.spawn(async move {
                    serve_connection(stream, peer, service, stop).await;
                    drop(permits);
                });
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

/// Slots for connections.
#[derive(Clone)]
struct ConnectionSlots {
    total_semaphore: Arc<Semaphore>,
    per_address: ConnectionLimiter,
}

type AcceptedConnection = (TcpStream, SocketAddr, (OwnedSemaphorePermit, ConnectionPermit));

async fn accept(
    listener: &TcpListener,
    slots: &ConnectionSlots,
    stop: &CancellationToken,
) -> Option<AcceptedConnection> {
    loop {
        let accepted = async {
            let total_permit =
                Arc::clone(&slots.total_semaphore).acquire_owned().await.map_err(io::Error::other)?;
            loop {
                let (stream, peer) = listener.accept().await?;
                if let Some(address_permit) = slots.per_address.try_acquire(peer.ip()) {
                    return io::Result::Ok((stream, peer, (total_permit, address_permit)));
                }
                tracing::debug!(address = %peer, "connection refused: too many from this address");
            }
        };
        tokio::select! {
            () = stop.cancelled() => return None,
            accepted = accepted => match accepted {
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
