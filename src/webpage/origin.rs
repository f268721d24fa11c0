//! A server of objects of a page, and the connections to it.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use url::Url;

use crate::domain::Failure;
use crate::net::{Endpoint, TlsClient, TlsOptions};
use crate::protocol::http::client::is_same_origin;
use crate::protocol::http::{HeaderLimit, Http1Connection, MultiplexedConnection, RetryReason, is_same_site};

/// Maximum number of connections to one server, as in browsers (behaviour.md 4).
pub(super) const MAX_CONNECTIONS: usize = 6;

/// A server of objects, identified by scheme, host and port.
pub(super) struct OriginServer {
    /// The first URL found on it; all URLs with its scheme, host and port belong to it.
    pub(super) url: Url,
    /// Whether the page has this origin.
    pub(super) is_page_origin: bool,
    /// Whether the page belongs to the same site.
    pub(super) is_page_site: bool,
    /// Its host and port.
    pub(super) endpoint: Endpoint,
    /// Its protocol.
    pub(super) protocol: OriginProtocol,
    /// Maximum number of header fields of its responses.
    pub(super) header_limit: HeaderLimit,
    /// Objects that wait for it, in order.
    pub(super) waiting_objects: VecDeque<usize>,
    /// Its addresses, once resolved.
    pub(super) addresses: Option<Arc<[IpAddr]>>,
    /// Whether its name is being resolved.
    pub(super) is_resolving: bool,
    /// Whether a connection was established before.
    pub(super) was_connected: bool,
    /// Idle connections.
    pub(super) idle_connections: Vec<Http1Connection>,
    /// Number of connections that are open, including idle ones, or being opened.
    pub(super) connection_count: usize,
    /// Whether it uses HTTP/2 or HTTP/3.
    pub(super) is_multiplexed: bool,
    /// The HTTP/2 or HTTP/3 connection that all requests share, with its id.
    pub(super) multiplexed_connection: Option<(usize, MultiplexedConnection)>,
}

/// The protocol of a server.
#[derive(Clone)]
pub(super) enum OriginProtocol {
    /// HTTP/1.1 without TLS.
    Http1,
    /// HTTP/2 without TLS, with prior knowledge (h2c).
    H2c,
    /// HTTP/1.1 or HTTP/2 over TLS, as negotiated by ALPN.
    Tls(Result<TlsClient, Failure>),
    /// HTTP/3.
    Http3(TlsOptions),
}

/// What to do next for a waiting object.
pub(super) enum NextTask {
    /// Nothing before another task has finished.
    Wait,
    /// Resolve the name.
    Resolve,
    /// Open a connection.
    Connect,
    /// Use this connection.
    UseHttp1(Http1Connection),
    /// Use this shared connection with this id.
    UseMultiplexed(usize, MultiplexedConnection),
}

impl OriginServer {
    /// Creates the server of `url`, for a page from `page_url`.
    pub(super) fn new(url: &Url, page_url: &Url, endpoint: Endpoint, protocol: OriginProtocol) -> Self {
        Self {
            url: url.clone(),
            is_page_origin: is_same_origin(url, page_url),
            is_page_site: is_same_site(url, page_url),
            endpoint,
            protocol,
            header_limit: HeaderLimit::Default,
            waiting_objects: VecDeque::new(),
            addresses: None,
            is_resolving: false,
            was_connected: false,
            idle_connections: Vec::new(),
            connection_count: 0,
            is_multiplexed: false,
            multiplexed_connection: None,
        }
    }

    /// Returns what to do for the next waiting object; takes the idle connection that it returns.
    pub(super) fn next_task(&mut self) -> NextTask {
        if self.addresses.is_none() {
            return if self.is_resolving { NextTask::Wait } else { NextTask::Resolve };
        }
        if let Some((connection_id, _)) =
            self.multiplexed_connection.as_ref().filter(|(_, shared)| shared.is_closed())
        {
            self.drop_multiplexed(*connection_id);
        }
        if let Some((connection_id, shared)) = &self.multiplexed_connection {
            return NextTask::UseMultiplexed(*connection_id, shared.clone());
        }
        if let Some(connection) = self.idle_connections.pop() {
            return NextTask::UseHttp1(connection);
        }
        // The protocol is known from the first connection: HTTP/2 and HTTP/3 need no second one.
        let is_protocol_known = self.was_connected || matches!(self.protocol, OriginProtocol::Http1);
        let max_connections = if is_protocol_known && !self.is_multiplexed { MAX_CONNECTIONS } else { 1 };
        if self.connection_count < max_connections { NextTask::Connect } else { NextTask::Wait }
    }

    /// Handles a connection that ended without a response; a multiplexed one has an id. Idle connections are
    /// dropped too.
    pub(super) fn on_connection_lost(
        &mut self,
        reason: RetryReason,
        multiplexed_connection_id: Option<usize>,
    ) {
        if reason == RetryReason::TooManyHeaders {
            self.header_limit = HeaderLimit::Maximum;
        }
        if let Some(connection_id) = multiplexed_connection_id {
            self.drop_multiplexed(connection_id);
        }
        // Idle connections are probably closed by now as well, or have the same header limit.
        self.connection_count = self.connection_count.saturating_sub(self.idle_connections.len());
        self.idle_connections.clear();
    }

    /// Stops using the shared connection with this id.
    pub(super) fn drop_multiplexed(&mut self, connection_id: usize) {
        if self.multiplexed_connection.as_ref().is_some_and(|(current_id, _)| *current_id == connection_id) {
            self.multiplexed_connection = None;
            self.connection_count = self.connection_count.saturating_sub(1);
        }
    }
}
