//! Serves one connection: TLS handshake, then HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::idle_timeout::IdleTimeoutStream;
use super::limits::{HEAD_TIMEOUT, MAX_HEAD_BYTES, MAX_HTTP2_STREAMS};
use super::tls::ServerTls;

/// The service and its parameters.
#[derive(Clone)]
pub(in crate::app) struct HttpService {
    /// Handles requests.
    pub(in crate::app) router: Router,
    /// Certificate and key; `None` for plain HTTP.
    pub(in crate::app) tls: Option<Arc<ServerTls>>,
    /// Time until a response must start.
    pub(in crate::app) response_start_timeout: Duration,
}

/// Performs the TLS handshake, if there is TLS, and serves HTTP.
pub(super) async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    service: HttpService,
    stop: CancellationToken,
) {
    let timeout = HEAD_TIMEOUT.min(service.response_start_timeout);
    let stream = IdleTimeoutStream::new(stream, service.response_start_timeout + timeout);
    let Some(tls) = &service.tls else {
        return serve_http(stream, peer, false, service, stop).await;
    };
    let handshake = tokio::time::timeout(timeout, tls.acceptor().accept(stream));
    let handshake_result = tokio::select! {
        () = stop.cancelled() => return,
        handshake_result = handshake => handshake_result,
    };
    match handshake_result {
        Ok(Ok(stream)) => {
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            serve_http(stream, peer, http2, service, stop).await;
        }
        Ok(Err(error)) => tracing::debug!(error = %error, address = %peer, "TLS handshake failed"),
        Err(_) => tracing::debug!(address = %peer, "TLS handshake timed out"),
    }
}

async fn serve_http<S>(
    stream: S,
    peer: SocketAddr,
    http2: bool,
    service: HttpService,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let timeout = HEAD_TIMEOUT.min(service.response_start_timeout);
    let handler = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        service.router.clone().oneshot(request)
    });
    let http = http_builder(http2, timeout);
    let connection = http.serve_connection(TokioIo::new(stream), handler);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error = %error, address = %peer, "connection closed early");
    }
}

/// Returns an HTTP builder for one version: that of ALPN, or 1.1 without TLS. Detecting the version from the first
/// bytes would wait for them without a limit.
fn http_builder(http2: bool, timeout: Duration) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(timeout);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_HTTP2_STREAMS)
        .max_header_list_size(MAX_HEAD_BYTES)
        .keep_alive_interval(timeout)
        .keep_alive_timeout(timeout);
    if http2 { http.http2_only() } else { http.http1_only() }
}
