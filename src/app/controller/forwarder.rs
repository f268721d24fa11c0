//! Hands requests on to the controller that leads.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, Uri, Version, header};
use axum::response::{IntoResponse, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::RootCertStore;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower::Service;

use crate::api;
use crate::forward_proxy::strip_hop_by_hop;
use crate::net::pinned_or_issued;
use crate::store::ControllerAddress;
use crate::sync::Mutex;

/// How long a connection to the leader may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection is kept for the next request: shorter than the leader keeps it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

type LeaderClient = Client<LeaderConnector, Body>;

/// Hands requests on to the controller that leads.
#[derive(Default)]
pub(super) struct Forwarder {
    /// The client of the leader that was last asked.
    client: Mutex<Option<(ControllerAddress, LeaderClient)>>,
}

impl Forwarder {
    /// Sends `request` to `leader`; returns its response, as it arrives.
    pub(super) async fn forward(&self, leader: &ControllerAddress, mut request: Request) -> Response {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let Ok(uri) = format!("{}{path}", leader.url.trim_end_matches('/')).parse::<Uri>() else {
            return unavailable(&format!("The controller {} leads, and its URL is not one", leader.name));
        };
        // HTTP/2 has the host in its URI.
        if let Some(authority) = request.uri().authority().cloned()
            && !request.headers().contains_key(header::HOST)
            && let Ok(host) = authority.as_str().parse()
        {
            request.headers_mut().insert(header::HOST, host);
        }
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        strip_hop_by_hop(request.headers_mut());
        let client = match self.client_for(leader) {
            Ok(client) => client,
            Err(error) => {
                tracing::error!(controller = leader.name, %error, "the certificate of the controller that leads cannot be expected");
                return unavailable(&format!(
                    "The controller {} leads and cannot be reached; try again",
                    leader.name
                ));
            }
        };
        match client.request(request).await {
            Ok(response) => {
                let mut response = response.map(Body::new);
                strip_hop_by_hop(response.headers_mut());
                *response.version_mut() = Version::default();
                response
            }
            Err(error) => {
                let message: &dyn std::error::Error = &error;
                let error = message.source().map_or_else(|| error.to_string(), ToString::to_string);
                tracing::warn!(controller = leader.name, error, "the controller that leads does not reply");
                unavailable(&format!("The controller {} leads and does not reply; try again", leader.name))
            }
        }
    }

    fn client_for(&self, leader: &ControllerAddress) -> Result<LeaderClient, rustls::Error> {
        let mut client = self.client.lock();
        if let Some((address, client)) = client.as_ref()
            && address == leader
        {
            return Ok(client.clone());
        }
        let config =
            leader.certificate_sha256.map(|sha256| pinned_or_issued(Some(sha256), RootCertStore::empty()));
        let connector = LeaderConnector { tls: config.transpose()?.map(|config| Arc::new(config).into()) };
        let new = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector);
        *client = Some((leader.clone(), new.clone()));
        Ok(new)
    }
}

/// Returns the response to a request that cannot be handed on.
pub(super) fn unavailable(message: &str) -> Response {
    let mut response = api::ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    response
}

/// Connects to the leader, whose certificate the lease names.
#[derive(Clone)]
struct LeaderConnector {
    /// Expects that certificate; `None` for plain HTTP.
    tls: Option<TlsConnector>,
}

impl Service<Uri> for LeaderConnector {
    type Response = TokioIo<LeaderStream>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let tls = self.tls.clone();
        Box::pin(async move {
            let connected = tokio::time::timeout(CONNECT_TIMEOUT, connect(&uri, tls)).await;
            let timed_out = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
            Ok(TokioIo::new(LeaderStream(connected.map_err(timed_out)??)))
        })
    }
}

async fn connect(uri: &Uri, tls: Option<TlsConnector>) -> std::io::Result<Box<dyn LeaderIo>> {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = uri.port_u16().unwrap_or(if tls.is_some() { 443 } else { 80 });
    let stream = match host.parse() {
        Ok(address) => TcpStream::connect(SocketAddr::new(address, port)).await?,
        Err(_) => TcpStream::connect((host.as_str(), port)).await?,
    };
    stream.set_nodelay(true)?;
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let name = ServerName::try_from(host).map_err(std::io::Error::other)?;
    Ok(Box::new(tls.connect(name, stream).await?))
}

/// A connection with or without TLS.
trait LeaderIo: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> LeaderIo for S {}

struct LeaderStream(Box<dyn LeaderIo>);

impl Connection for LeaderStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for LeaderStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for LeaderStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
