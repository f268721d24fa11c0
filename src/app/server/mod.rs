//! The HTTP server: several addresses, TLS, bounded connections, bounded time for everything that a client can
//! be slow at, graceful end.

mod crowd;
mod stall;
#[cfg(test)]
mod tests;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crowd::{Crowd, Guest};
use stall::Stall;
pub(super) use tls::ServerTls;

/// Connections at once, over all addresses; more wait in the kernel's queue. One address gets half of them.
const CONNECTIONS: usize = 512;
/// Most time for the head of a request, also while a kept connection is idle, and for a TLS handshake.
const HEAD: Duration = Duration::from_secs(20);
/// Bytes of the head of a request.
const HEAD_BYTES: u32 = 64 * 1024;
/// Calls at once over one connection of HTTP/2.
const STREAMS: u32 = 64;
/// Time that open connections get at the end.
const END: Duration = Duration::from_secs(5);
/// Pause when no connection can be taken, as without descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// What is served how.
#[derive(Clone)]
pub(super) struct Service {
    /// Answers.
    pub(super) router: Router,
    /// Certificate and key; plain HTTP without.
    pub(super) tls: Option<Arc<ServerTls>>,
    /// Time until an answer begins.
    pub(super) request_time: Duration,
}

/// Takes every address, so that a port in use is told before anything else starts.
pub(super) async fn bind(addresses: &[SocketAddr]) -> anyhow::Result<Vec<TcpListener>> {
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

/// Serves on all `listeners` until `stop`, then lets open requests end.
pub(super) async fn serve(listeners: Vec<TcpListener>, service: Service, stop: CancellationToken) {
    let places = Places { all: Arc::new(Semaphore::new(CONNECTIONS)), crowd: Crowd::default() };
    let (doors, connections) = (TaskTracker::new(), TaskTracker::new());
    for listener in listeners {
        let (service, stop) = (service.clone(), stop.clone());
        let (places, connections) = (places.clone(), connections.clone());
        doors.spawn(async move {
            while let Some((stream, peer, place)) = next(&listener, &places, &stop).await {
                let (service, stop) = (service.clone(), stop.clone());
                connections.spawn(async move {
                    greet(stream, peer, service, stop).await;
                    drop(place);
                });
            }
        });
    }
    doors.close();
    doors.wait().await;
    connections.close();
    if tokio::time::timeout(END, connections.wait()).await.is_err() {
        tracing::debug!("connections were still open at the end");
    }
}

/// Places for connections.
#[derive(Clone)]
struct Places {
    all: Arc<Semaphore>,
    crowd: Crowd,
}

type Taken = (TcpStream, SocketAddr, (OwnedSemaphorePermit, Guest));

async fn next(listener: &TcpListener, places: &Places, stop: &CancellationToken) -> Option<Taken> {
    loop {
        let taken = async {
            let place = Arc::clone(&places.all).acquire_owned().await.map_err(io::Error::other)?;
            loop {
                let (stream, peer) = listener.accept().await?;
                if let Some(guest) = places.crowd.enter(peer.ip()) {
                    return io::Result::Ok((stream, peer, (place, guest)));
                }
                tracing::debug!(address = %peer, "it has all the connections that one address gets");
            }
        };
        tokio::select! {
            () = stop.cancelled() => return None,
            taken = taken => match taken {
                Ok(taken) => return Some(taken),
                Err(error) => {
                    tracing::warn!(error = %error, "cannot take a connection");
                    tokio::time::sleep(PAUSE).await;
                }
            },
        }
    }
}

/// The handshake where there is TLS, then the conversation.
async fn greet(stream: TcpStream, peer: SocketAddr, service: Service, stop: CancellationToken) {
    let patience = HEAD.min(service.request_time);
    let stream = Stall::new(stream, service.request_time + patience);
    let Some(tls) = &service.tls else {
        return converse(stream, peer, false, service, stop).await;
    };
    let handshake = tokio::time::timeout(patience, tls.acceptor().accept(stream));
    let shaken = tokio::select! {
        () = stop.cancelled() => return,
        shaken = handshake => shaken,
    };
    match shaken {
        Ok(Ok(stream)) => {
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            converse(stream, peer, http2, service, stop).await;
        }
        Ok(Err(error)) => tracing::debug!(error = %error, address = %peer, "a TLS handshake failed"),
        Err(_) => tracing::debug!(address = %peer, "a TLS handshake took too long"),
    }
}

async fn converse<S>(stream: S, peer: SocketAddr, http2: bool, service: Service, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let patience = HEAD.min(service.request_time);
    let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        service.router.clone().oneshot(request)
    });
    let http = protocol(http2, patience);
    let connection = http.serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error = %error, address = %peer, "a connection ended early");
    }
}

/// The version is known from ALPN; without TLS it is 1.1. To guess it from the first bytes would wait for them
/// without end.
fn protocol(http2: bool, patience: Duration) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(patience);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEAD_BYTES)
        .keep_alive_interval(patience)
        .keep_alive_timeout(patience);
    if http2 { http.http2_only() } else { http.http1_only() }
}
