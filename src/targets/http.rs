//! The HTTP and HTTPS target.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::flaky_schedule::FlakySchedule;
use super::sockets;

/// Page at `/`; monitors look for its text.
const HEALTHY_PAGE: &str =
    "<!doctype html>\n<title>Vigie responder</title>\n<p>All is well on this watch.</p>\n";
/// Page at `/flaky` while it fails.
const FAILING_PAGE: &str =
    "<!doctype html>\n<title>Vigie responder</title>\n<p>This page fails now and then.</p>\n";
/// Idle clients are disconnected after this time.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// The pages that are served.
#[derive(Clone, Copy)]
pub(super) struct TargetPages {
    flaky_schedule: FlakySchedule,
    started_at: Instant,
}

impl TargetPages {
    /// Creates the pages; the period of `/flaky` starts now.
    pub(super) fn new(flaky: FlakySchedule) -> Self {
        Self { flaky_schedule: flaky, started_at: Instant::now() }
    }

    fn respond(self, path: &str) -> Response<Full<Bytes>> {
        match path {
            "/flaky" if self.flaky_schedule.is_down(self.started_at.elapsed()) => {
                html_response(StatusCode::INTERNAL_SERVER_ERROR, FAILING_PAGE)
            }
            "/" | "/flaky" => html_response(StatusCode::OK, HEALTHY_PAGE),
            "/redirect" => redirect_response(),
            other => {
                let status = other.strip_prefix("/status/").and_then(|code| code.parse().ok());
                html_response(status.unwrap_or(StatusCode::NOT_FOUND), "")
            }
        }
    }
}

fn html_response(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}

fn redirect_response() -> Response<Full<Bytes>> {
    let mut response = html_response(StatusCode::FOUND, "");
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
    response
}

/// Serves `pages` on `listeners` until `shutdown`, over TLS with `tls_acceptor`. Returns the first address.
pub(super) fn serve(
    listeners: Vec<TcpListener>,
    tls_acceptor: Option<TlsAcceptor>,
    pages: TargetPages,
    shutdown: &CancellationToken,
) -> SocketAddr {
    let first_address = sockets::first_address(&listeners);
    for listener in listeners {
        let tls_acceptor = tls_acceptor.clone();
        sockets::spawn_accept_loop(listener, shutdown, move |stream| {
            let tls_acceptor = tls_acceptor.clone();
            async move {
                match tls_acceptor {
                    None => serve_connection(stream, pages).await,
                    Some(acceptor) => {
                        if let Ok(Ok(stream)) =
                            tokio::time::timeout(IDLE_TIMEOUT, acceptor.accept(stream)).await
                        {
                            serve_connection(stream, pages).await;
                        }
                    }
                }
            }
        });
    }
    first_address
}

/// Serves one connection; errors concern only the client.
async fn serve_connection(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, pages: TargetPages) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = pages.respond(request.uri().path());
        std::future::ready(Ok::<_, Infallible>(response))
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(IDLE_TIMEOUT);
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}
