//! Connections through an upstream proxy.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use super::failure::{proxy_failure, proxy_io_failure};
use super::proxy_config::{ProxyProtocol, UpstreamProxy};
use super::{http_connect, socks5};
use crate::domain::{EgressPrincipal, Failure, FailureKind, Phase};
use crate::net::deadline::Deadline;
use crate::net::endpoint::{ConnectionTrace, Endpoint};
use crate::net::socket;
use crate::net::stack::Net;

/// Limit for connecting to the proxy, and for its first reply where that comes before it tries the target. At most two
/// thirds of the remaining deadline.
const PROXY_TIMEOUT: Duration = Duration::from_secs(5);

impl Net {
    /// Sets the default proxy of TCP connections, once. Connections to loopback do not use it.
    #[must_use]
    pub fn with_default_proxy(self, proxy: Option<impl Into<UpstreamProxy>>) -> Self {
        if let Some(proxy) = proxy {
            let _ = self.stack.default_proxy.set(proxy.into());
        }
        self
    }

    /// Sets the proxies that endpoints name by id ([`Endpoint::proxy_id`]). A named proxy is used even for loopback.
    #[must_use]
    pub fn with_proxies(self, proxies: BTreeMap<i64, UpstreamProxy>) -> Self {
        self.set_proxies(proxies);
        self
    }

    /// Replaces the proxies named by id. Existing connections continue.
    pub fn set_proxies(&self, proxies: BTreeMap<i64, UpstreamProxy>) {
        let proxies = proxies.into_iter().map(|(id, proxy)| (id, Arc::new(proxy))).collect();
        *self.stack.proxies_by_id.write() = proxies;
    }

    /// Returns the proxy that `endpoint` names; `None` when it names none.
    ///
    /// # Errors
    /// Fails with [`FailureKind::NotConfigured`] (status 95) when the id does not exist, or is not for this account.
    pub(in crate::net) fn named_proxy(
        &self,
        endpoint: &Endpoint,
    ) -> Result<Option<Arc<UpstreamProxy>>, Failure> {
        let Some(id) = endpoint.proxy_id else { return Ok(None) };
        let failure = |detail| Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail);
        let Some(proxy) = self.stack.proxies_by_id.read().get(&id).cloned() else {
            return Err(failure(format!("`proxy_id`: the settings of this location have no proxy `{id}`")));
        };
        if !proxy.allowed_accounts.allows_principal(self.egress_principal) {
            return Err(failure(format!(
                "`proxy_id`: proxy `{id}` is not for this account; add the account to its `accounts` in the setting `proxies`"
            )));
        }
        Ok(Some(proxy))
    }

    /// Returns the proxy of a connection to `target_address`: the `named_proxy` one, or the default.
    pub(in crate::net) fn proxy_for_address<'a>(
        &'a self,
        target_address: SocketAddr,
        named_proxy: Option<&'a UpstreamProxy>,
    ) -> Option<&'a UpstreamProxy> {
        named_proxy.or_else(|| {
            self.stack.default_proxy.get().filter(|_| !target_address.ip().to_canonical().is_loopback())
        })
    }

    /// Opens a connection to `target_address` through `proxy`.
    pub(in crate::net) async fn connect_through_proxy(
        &self,
        proxy: &UpstreamProxy,
        target_address: SocketAddr,
        deadline: Deadline,
    ) -> Result<TcpStream, Failure> {
        let proxy_deadline = Deadline::within(PROXY_TIMEOUT.min(deadline.remaining() * 2 / 3));
        let stream = self.connect_to_proxy(proxy, proxy_deadline).await?;
        match proxy.protocol {
            ProxyProtocol::Http => http_connect::connect(stream, proxy, target_address).await,
            ProxyProtocol::Socks5 => socks5::connect(stream, proxy, target_address, proxy_deadline).await,
        }
    }

    /// Opens the connection to the proxy itself, on behalf of the operator; tries its addresses one by one.
    async fn connect_to_proxy(
        &self,
        proxy: &UpstreamProxy,
        deadline: Deadline,
    ) -> Result<TcpStream, Failure> {
        let mut trace = ConnectionTrace::default();
        let addresses = self.resolve(&proxy.endpoint, deadline, &mut trace).await;
        let addresses = addresses.map_err(|failure| proxy_failure(proxy, &failure.to_string()))?;
        // The settings name the proxy, so it may be on this host.
        let operator_net = self.with_egress_principal(EgressPrincipal::Operator);
        let port = proxy.endpoint.port;
        let allowed_addresses =
            operator_net.allowed_addresses(&addresses, Some(port), &mut trace).map_err(|failure| {
                let detail = format!("the proxy {proxy}: {}", failure.detail);
                Failure { detail, ..failure }
            })?;
        let mut last_failure = proxy_failure(proxy, "its name has no address");
        for address in allowed_addresses {
            let proxy_address = SocketAddr::new(address, port);
            let connection = async {
                socket::create_tcp_socket(self.source_binding(), proxy_address)?.connect(proxy_address).await
            };
            match tokio::time::timeout_at(deadline.at, connection).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last_failure = proxy_io_failure(proxy, &error),
                Err(_) => return Err(proxy_failure(proxy, "it does not respond")),
            }
        }
        Err(last_failure)
    }
}
