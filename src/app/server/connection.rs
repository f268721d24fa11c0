//! Serves one connection: TLS handshake, then HTTP.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::health_connections::serve_health_only;
use super::idle_timeout::IdleTimeoutStream;
use super::limits::{
    FIRST_BYTE_TIMEOUT, HEAD_TIMEOUT, HEALTH_HEAD_TIMEOUT, MAX_HEAD_BYTES, MAX_HTTP2_STREAMS,
};
use super::tls::ServerTls;
use crate::net::IpNetwork;

/// The service and its parameters.
#[derive(Clone)]
pub(in crate::app) struct HttpService {
    /// Handles requests.
    pub(in crate::app) router: Router,
    /// Certificate and key; `None` for plain HTTP.
    pub(in crate::app) tls: Option<Arc<ServerTls>>,
    /// Time until a response must start.
    pub(in crate::app) response_start_timeout: Duration,
    /// Networks of proxies that connect for all clients, so that the limit of each network does not apply.
    pub(in crate::app) trusted_proxies: Arc<[IpNetwork]>,
}

impl HttpService {
    /// Whether the limit of connections per network does not apply to `address`: this host and the trusted proxies.
    pub(super) fn is_exempt_from_network_limit(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_loopback() || self.trusted_proxies.iter().any(|network| network.contains(address))
    }

    /// Returns the service of a connection beyond the limit, which serves liveness and readiness only.
    pub(super) fn health_only(self) -> Self {
        Self {
            router: self.router.layer(middleware::from_fn(serve_health_only)),
            response_start_timeout: self.response_start_timeout.min(HEALTH_HEAD_TIMEOUT),
            ..self
        }
    }
}

/// Performs the TLS handshake, if there is TLS, and serves HTTP.
pub(super) async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    service: HttpService,
    stop: CancellationToken,
) {
    let mut peeked = [0];
    let first_byte = tokio::time::timeout(FIRST_BYTE_TIMEOUT, stream.peek(&mut peeked));
    let has_first_byte = tokio::select! {
        () = stop.cancelled() => return,
        first_byte = first_byte => matches!(first_byte, Ok(Ok(1))),
    };
    if !has_first_byte {
        tracing::debug!(address = %peer, "connection closed: it sent nothing");
        return;
    }
    let head_timeout = HEAD_TIMEOUT.min(service.response_start_timeout);
    let stream = IdleTimeoutStream::new(stream, service.response_start_timeout + head_timeout);
    let Some(tls) = &service.tls else {
        let is_http2 = false;
        return serve_http(stream, peer, is_http2, service, stop).await;
    };
    let handshake = tokio::time::timeout(head_timeout, tls.acceptor().accept(stream));
    let handshake_result = tokio::select! {
        () = stop.cancelled() => return,
        handshake_result = handshake => handshake_result,
    };
    match handshake_result {
        Ok(Ok(stream)) => {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            serve_http(stream, peer, is_http2, service, stop).await;
        }
        Ok(Err(error)) => tracing::debug!(error = %error, address = %peer, "TLS handshake failed"),
        Err(_) => tracing::debug!(address = %peer, "TLS handshake timed out"),
    }
}

async fn serve_http<S>(
    stream: S,
    peer: SocketAddr,
    is_http2: bool,
    service: HttpService,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let head_timeout = HEAD_TIMEOUT.min(service.response_start_timeout);
    let handler = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        service.router.clone().oneshot(request)
    });
    let builder = http_builder(is_http2, head_timeout);
    let connection = builder.serve_connection(TokioIo::new(stream), handler);
    let mut connection = std::pin::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(error = %error, address = %peer, "connection closed early");
    }
}

/// Returns an HTTP builder for one version: that of ALPN, or 1.1 without TLS. Detecting the version from the first
/// bytes would wait for them without a limit.
fn http_builder(is_http2: bool, head_timeout: Duration) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(head_timeout);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_HTTP2_STREAMS)
        .max_header_list_size(MAX_HEAD_BYTES)
        .keep_alive_interval(head_timeout)
        .keep_alive_timeout(head_timeout);
    if is_http2 { builder.http2_only() } else { builder.http1_only() }
}
