//! Connections through a proxy.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use super::fault::{broken, unusable};
use super::upstream::{Proxy, ProxyKind};
use super::{connect, socks};
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;
use crate::net::endpoint::{Endpoint, Trace};
use crate::net::socket;
use crate::net::stack::Net;

/// How long the proxy has to let us connect to it, and to say its first word where it speaks before it has
/// tried the target; of a short deadline, two thirds are taken at most.
const PATIENCE: Duration = Duration::from_secs(5);

impl Net {
    /// Lets TCP connections leave through `proxy` where they name none themselves; those to loopback go
    /// without it.
    #[must_use]
    pub fn through(mut self, proxy: Option<impl Into<Proxy>>) -> Self {
        self.proxy = proxy.map(Into::into);
        self
    }

    /// Knows proxies by the ids that endpoints name ([`Endpoint::proxy`]). Who names one means it: even a
    /// connection to loopback goes through it.
    #[must_use]
    pub fn with_proxies(self, proxies: BTreeMap<i64, Proxy>) -> Self {
        self.bring_proxies(proxies);
        self
    }

    /// Knows these proxies from now on, instead of those before. Connections that stand go on.
    pub fn bring_proxies(&self, proxies: BTreeMap<i64, Proxy>) {
        let proxies = proxies.into_iter().map(|(id, proxy)| (id, Arc::new(proxy))).collect();
        *self.proxies.write() = proxies;
    }

    /// The proxy that `to` names; `None` when it names none.
    ///
    /// # Errors
    /// [`FailureKind::NotConfigured`] (95) for an id that nobody gave.
    pub(in crate::net) fn named_proxy(&self, to: &Endpoint) -> Result<Option<Arc<Proxy>>, Failure> {
        let Some(id) = to.proxy else { return Ok(None) };
        let unknown = || {
            let detail = format!("`proxy_id`: the settings of this location have no proxy `{id}`");
            Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail)
        };
        let proxies = self.proxies.read();
        proxies.get(&id).cloned().map(Some).ok_or_else(unknown)
    }

    /// The proxy that a connection to `to` leaves through, which `named` this one.
    pub(in crate::net) fn proxy_towards<'a>(
        &'a self,
        to: SocketAddr,
        named: Option<&'a Proxy>,
    ) -> Option<&'a Proxy> {
        named.or_else(|| self.proxy.as_ref().filter(|_| !to.ip().to_canonical().is_loopback()))
    }

    /// A connection to `to` through `proxy`.
    pub(in crate::net) async fn tunnel(
        &self,
        proxy: &Proxy,
        to: SocketAddr,
        deadline: Deadline,
    ) -> Result<TcpStream, Failure> {
        let patience = Deadline::within(PATIENCE.min(deadline.left() * 2 / 3));
        let stream = self.reach(proxy, patience).await?;
        match proxy.kind {
            ProxyKind::Http => connect::ask(stream, proxy, to).await,
            ProxyKind::Socks5 => socks::ask(stream, proxy, to, patience).await,
        }
    }

    async fn reach(&self, proxy: &Proxy, deadline: Deadline) -> Result<TcpStream, Failure> {
        let mut unseen = Trace::default();
        let addresses = self.resolve(&proxy.at, deadline, &mut unseen).await;
        let addresses = addresses.map_err(|failure| unusable(proxy, &failure.to_string()))?;
        let allowed = self.permitted(&addresses, &mut unseen).map_err(|failure| {
            let detail = format!("the proxy {proxy}: {}", failure.detail);
            Failure { detail, ..failure }
        })?;
        let mut last = unusable(proxy, "its name has no address");
        for address in allowed {
            let at = SocketAddr::new(address, proxy.at.port);
            let connected = async { socket::tcp(self.source(), at)?.connect(at).await };
            match tokio::time::timeout_at(deadline.at, connected).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = broken(proxy, &error),
                Err(_) => return Err(unusable(proxy, "it does not answer")),
            }
        }
        Err(last)
    }
}
