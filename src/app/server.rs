//! The HTTP server: bounded connections, bounded time for a request's head, graceful end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// Connections at once; more wait in the kernel's queue.
const CONNECTIONS: usize = 512;
/// Time for the head of a request, also while a kept connection is idle.
const HEAD: Duration = Duration::from_secs(20);
/// Time that open connections get at the end.
const END: Duration = Duration::from_secs(5);
/// Pause when no connection can be taken, as without descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// Takes the port, so that a port in use is told before anything else starts.
pub(super) async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| match address.port() {
        0 => format!("cannot listen on `{address}`"),
        port => format!(
            "cannot listen on `{address}`; is another vigie running?\nhint: choose another port with `--listen {}:{}`, or port 0 for a free one",
            address.ip(),
            port.saturating_add(1)
        ),
    })
}

/// Serves `router` until `stop`, then lets open requests end.
pub(super) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let connections = TaskTracker::new();
    while let Some((stream, peer, place)) = next(&listener, &places, &stop).await {
        let (router, stop) = (router.clone(), stop.clone());
        connections.spawn(async move {
            converse(stream, peer, router, stop).await;
            drop(place);
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(END, connections.wait()).await.is_err() {
        tracing::debug!("connections were still open at the end");
    }
}

type Taken = (TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit);

async fn next(listener: &TcpListener, places: &Arc<Semaphore>, stop: &CancellationToken) -> Option<Taken> {
    loop {
        let taken = async {
            let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
            let (stream, peer) = listener.accept().await?;
            io::Result::Ok((stream, peer, place))
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

async fn converse(stream: TcpStream, peer: SocketAddr, router: Router, stop: CancellationToken) {
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let connection = http.serve_connection(TokioIo::new(stream), service);
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
