//! One connection of a browser to its forward proxy.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::upgrade::OnUpgrade;
use tokio::net::TcpStream;

use super::http1_builders::HEAD_AND_CONNECT_TIMEOUT;
use super::proxy::ForwardProxy;
use super::upstream_connection::UpstreamConnection;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{ConnectionTrace, Deadline, Endpoint, Net};
use crate::sync::Mutex;

/// Body of a response to the browser.
pub(super) type ResponseBody = UnsyncBoxBody<Bytes, hyper::Error>;

/// State that the requests of one browser connection share.
pub(super) struct BrowserConnection<'a> {
    pub(super) proxy: &'a ForwardProxy,
    pub(super) location_net: &'a Net,
    /// The tunnel that the connection becomes after its exchange.
    pub(super) pending_tunnel: Mutex<Option<Tunnel>>,
    /// The idle connection to a target that the next request may use.
    pub(super) idle_upstream: Arc<Mutex<Option<UpstreamConnection>>>,
}

/// A connection that only copies bytes in both directions, after CONNECT or an upgrade.
pub(super) enum Tunnel {
    /// After `CONNECT`.
    Connect { browser: OnUpgrade, target: TcpStream, host: String, port: u16 },
    /// After `101 Switching Protocols`.
    Upgrade { browser: OnUpgrade, target: OnUpgrade, upstream: UpstreamConnection },
}

impl BrowserConnection<'_> {
    /// Connects to `host`, unless it is blocked or the egress policy denies it.
    pub(super) async fn connect_target(&self, host: &str, port: u16) -> Result<TcpStream, ProxyError> {
        let config = &self.proxy.config;
        let record_and_reject = |status, failure: Failure| {
            self.proxy.target_log.record_failure(host, port, &failure);
            ProxyError { status, reason: failure.to_string() }
        };
        if let Some(pattern) = config.blocked_hosts.matching_pattern(host) {
            let detail = format!("`{host}` is blocked by `{pattern}`");
            let failure = Failure::new(Phase::Prepare, FailureKind::NavigationFailed, detail);
            return Err(record_and_reject(StatusCode::FORBIDDEN, failure));
        }
        let mut endpoint = Endpoint::new(host, port);
        (endpoint.address_family, endpoint.proxy_id) = (config.address_family, config.upstream_proxy_id);
        let mut trace = ConnectionTrace::default();
        let connect_result = self
            .location_net
            .connect(&endpoint, Deadline::within(HEAD_AND_CONNECT_TIMEOUT), &mut trace)
            .await;
        let stream = connect_result.map_err(|failure| match failure.kind {
            FailureKind::EgressDenied => record_and_reject(StatusCode::FORBIDDEN, failure),
            _ => record_and_reject(StatusCode::BAD_GATEWAY, failure),
        })?;
        if stream.peer_addr().is_ok_and(|peer| peer == self.proxy.listen_address) {
            let detail = "the target is the forward proxy of the browser itself";
            let failure = Failure::new(Phase::Connect, FailureKind::EgressDenied, detail);
            return Err(record_and_reject(StatusCode::FORBIDDEN, failure));
        }
        self.proxy.target_log.record_connected(host, port, &trace);
        Ok(stream)
    }

    /// Sets the tunnel that starts after the current response.
    pub(super) fn set_pending_tunnel(&self, tunnel: Tunnel) {
        *self.pending_tunnel.lock() = Some(tunnel);
    }
}

/// Error response of the proxy, when the target gives no response.
pub(super) struct ProxyError {
    pub(super) status: StatusCode,
    pub(super) reason: String,
}

impl ProxyError {
    pub(super) fn bad_request(text: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, reason: text.to_owned() }
    }

    pub(super) fn to_response(&self) -> Response<ResponseBody> {
        let mut response = Response::new(text_body(&format!("{}\n", self.reason)));
        *response.status_mut() = self.status;
        let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
        let reason = HeaderValue::from_str(&self.reason).unwrap_or(HeaderValue::from_static("refused"));
        response.headers_mut().insert(super::config::PROXY_ERROR_HEADER, reason);
        response
    }
}

pub(super) fn text_body(text: &str) -> ResponseBody {
    Full::new(Bytes::copy_from_slice(text.as_bytes())).map_err(|never| match never {}).boxed_unsync()
}
