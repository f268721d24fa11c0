//! A server that objects of a page are loaded from, and the connections to it.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use url::Url;

use super::site::same_site;
use crate::domain::Failure;
use crate::net::{Endpoint, TlsOptions, TlsSession};
use crate::protocol::http::client::is_same_origin;
use crate::protocol::http::{HeaderLimit, Http1Connection, MultiplexedConnection, RetryReason};

/// Connections to one server at most, as browsers have them (behaviour.md 4).
pub(super) const MAX_CONNECTIONS: usize = 6;

/// A server.
pub(super) struct OriginServer {
    /// The first URL that was found of it: those of its scheme, host and port belong to it.
    pub(super) url: Url,
    /// The page came from here.
    pub(super) is_same_origin: bool,
    /// The page came from the same site.
    pub(super) is_same_site: bool,
    /// Where it is.
    pub(super) endpoint: Endpoint,
    /// How it is spoken with.
    pub(super) protocol: OriginProtocol,
    /// Header fields that its answers may have.
    pub(super) header_limit: HeaderLimit,
    /// Objects that wait for it, in their order.
    pub(super) waiting: VecDeque<usize>,
    /// Known once its name was resolved.
    pub(super) addresses: Option<Arc<[IpAddr]>>,
    /// Its name is being resolved, or the first connection opened, which tells what it speaks.
    pub(super) is_resolving: bool,
    /// A connection stood once.
    pub(super) was_reached: bool,
    /// Connections that are idle.
    pub(super) idle: Vec<Http1Connection>,
    /// Connections that are open, idle ones included, or being opened.
    pub(super) open: usize,
    /// It speaks HTTP/2 or HTTP/3.
    pub(super) is_multiplexed: bool,
    /// The one connection of that, and its number.
    pub(super) shared: Option<(usize, MultiplexedConnection)>,
}

/// How a server is spoken with.
#[derive(Clone)]
pub(super) enum OriginProtocol {
    /// HTTP/1.1 in clear.
    Plain,
    /// HTTP/2 in clear, without asking.
    PlainHttp2,
    /// What is agreed on over TLS.
    Tls(Result<TlsSession, Failure>),
    /// HTTP/3.
    Quic(TlsOptions),
}

/// What can be done for the next object that waits.
pub(super) enum NextStep {
    /// Nothing before something else has landed.
    Wait,
    /// Its name has to be resolved.
    Resolve,
    /// A connection has to be opened.
    Open,
    /// It can go over this one.
    UseHttp1(Http1Connection),
    /// It can go over this one of this number, which others use too.
    UseMultiplexed(usize, MultiplexedConnection),
}

impl OriginServer {
    /// The server of `url`, where the page came from `page`.
    pub(super) fn new(url: &Url, page: &Url, endpoint: Endpoint, speech: OriginProtocol) -> Self {
        Self {
            url: url.clone(),
            is_same_origin: is_same_origin(url, page),
            is_same_site: same_site(url, page),
            endpoint,
            protocol: speech,
            header_limit: HeaderLimit::Default,
            waiting: VecDeque::new(),
            addresses: None,
            is_resolving: false,
            was_reached: false,
            idle: Vec::new(),
            open: 0,
            is_multiplexed: false,
            shared: None,
        }
    }

    pub(super) fn next_step(&mut self) -> NextStep {
        if self.addresses.is_none() {
            return if self.is_resolving { NextStep::Wait } else { NextStep::Resolve };
        }
        if let Some((number, _)) = self.shared.as_ref().filter(|(_, shared)| shared.is_closed()) {
            self.drop_multiplexed(*number);
        }
        if let Some((number, shared)) = &self.shared {
            return NextStep::UseMultiplexed(*number, shared.clone());
        }
        if let Some(connection) = self.idle.pop() {
            return NextStep::UseHttp1(connection);
        }
        // What is spoken is known from the first connection: HTTP/2 and HTTP/3 need no second one.
        let is_told = self.was_reached || matches!(self.protocol, OriginProtocol::Plain);
        let max = if is_told && !self.is_multiplexed { MAX_CONNECTIONS } else { 1 };
        if self.open < max { NextStep::Open } else { NextStep::Wait }
    }

    /// A connection brought no answer, for this reason; a shared one has a number. Those that are idle are no better.
    pub(super) fn on_connection_lost(&mut self, why: RetryReason, shared: Option<usize>) {
        if why == RetryReason::TooManyHeaders {
            self.header_limit = HeaderLimit::Maximum;
        }
        if let Some(number) = shared {
            self.drop_multiplexed(number);
        }
        // Those that are idle have waited as long, or have no more room as a rule.
        self.open = self.open.saturating_sub(self.idle.len());
        self.idle.clear();
    }

    /// Asks nothing more over the shared connection of this number.
    pub(super) fn drop_multiplexed(&mut self, number: usize) {
        if self.shared.as_ref().is_some_and(|(shared, _)| *shared == number) {
            self.shared = None;
            self.open = self.open.saturating_sub(1);
        }
    }
}
