//! One connection of a browser to its forward proxy.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::upgrade::OnUpgrade;
use tokio::net::TcpStream;

use super::http1_builders::CONNECT_TIMEOUT;
use super::proxy::ForwardProxy;
use super::upstream::UpstreamConnection;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{ConnectTrace, Deadline, Endpoint, Net};
use crate::sync::Mutex;

/// The body of an answer to the browser.
pub(super) type ResponseBody = UnsyncBoxBody<Bytes, hyper::Error>;

/// What one connection of the browser shares among its requests.
pub(super) struct ProxyConnection<'a> {
    pub(super) forward: &'a ForwardProxy,
    pub(super) net: &'a Net,
    /// What the connection turns into when its exchange is over.
    pub(super) pending_tunnel: Mutex<Option<Tunnel>>,
    /// The connection to a target that the next request may use.
    pub(super) idle: Arc<Mutex<Option<UpstreamConnection>>>,
}

/// Bytes both ways, from an exchange that ended in one.
pub(super) enum Tunnel {
    /// After `CONNECT`.
    Connected { browser: OnUpgrade, target: TcpStream, host: String, port: u16 },
    /// After `101 Switching Protocols`.
    Switched { browser: OnUpgrade, target: OnUpgrade, upstream: UpstreamConnection },
}

impl ProxyConnection<'_> {
    /// A connection to `host`, when the rules and the network of the location let it be.
    pub(super) async fn connect_target(&self, host: &str, port: u16) -> Result<TcpStream, ProxyError> {
        let rules = &self.forward.rules;
        let refused = |status, failure: Failure| {
            self.forward.target_log.record_failure(host, port, &failure);
            ProxyError { status, text: failure.to_string() }
        };
        if let Some(rule) = rules.blocked_hosts.matching_pattern(host) {
            let detail = format!("`{host}` is blocked by `{rule}`");
            let failure = Failure::new(Phase::Prepare, FailureKind::PageUnloadable, detail);
            return Err(refused(StatusCode::FORBIDDEN, failure));
        }
        let mut to = Endpoint::new(host, port);
        (to.family, to.proxy_id) = (rules.family, rules.upstream_proxy_id);
        let mut trace = ConnectTrace::default();
        let connected = self.net.connect(&to, Deadline::within(CONNECT_TIMEOUT), &mut trace).await;
        let stream = connected.map_err(|failure| match failure.kind {
            FailureKind::EgressDenied => refused(StatusCode::FORBIDDEN, failure),
            _ => refused(StatusCode::BAD_GATEWAY, failure),
        })?;
        if stream.peer_addr().is_ok_and(|peer| peer == self.forward.address) {
            let detail = "it is the forward proxy of the browser itself";
            let failure = Failure::new(Phase::Connect, FailureKind::EgressDenied, detail);
            return Err(refused(StatusCode::FORBIDDEN, failure));
        }
        self.forward.target_log.record_connected(host, port, &trace);
        Ok(stream)
    }

    /// Lets the connection go on as `tunnel` after the answer that is being made.
    pub(super) fn upgrade_to(&self, tunnel: Tunnel) {
        *self.pending_tunnel.lock() = Some(tunnel);
    }
}

/// Why the browser gets no answer of the target.
pub(super) struct ProxyError {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

impl ProxyError {
    pub(super) fn bad_request(text: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: text.to_owned() }
    }

    pub(super) fn to_response(&self) -> Response<ResponseBody> {
        let mut response = Response::new(text_body(&format!("{}\n", self.text)));
        *response.status_mut() = self.status;
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
        let why = HeaderValue::from_str(&self.text).unwrap_or(HeaderValue::from_static("refused"));
        response.headers_mut().insert(super::config::REFUSED_HEADER, why);
        response
    }
}

pub(super) fn text_body(text: &str) -> ResponseBody {
    Full::new(Bytes::copy_from_slice(text.as_bytes())).map_err(|never| match never {}).boxed_unsync()
}
