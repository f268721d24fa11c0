//! The forward proxy of one check.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, UnixStream};
use tokio::sync::mpsc;

use super::allowed_clients::SocketOwner;
use super::config::{ForwardProxyConfig, MAX_CONNECTIONS};
use super::target_log::{TargetConnection, TargetLog};
use super::tls_interception::TlsInterceptor;
use super::trace_context::TraceContext;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{ProtectedService, protect_local_port};
use crate::sync::Mutex;

/// Passes connections of a browser to its forward proxy that did not come over its listener.
#[derive(Clone, Debug)]
pub struct ConnectionRelay(mpsc::Sender<UnixStream>);

impl ConnectionRelay {
    /// Hands over a connection; it is closed when the proxy has too many already.
    pub fn send(&self, stream: UnixStream) {
        if self.0.try_send(stream).is_err() {
            tracing::debug!("connection of a hosted browser closed: its forward proxy has too many");
        }
    }
}

/// A forward proxy of one check.
#[derive(Debug)]
pub struct ForwardProxy {
    pub(super) listener: TcpListener,
    pub(super) listen_address: SocketAddr,
    pub(super) config: ForwardProxyConfig,
    pub(super) target_log: TargetLog,
    pub(super) tls_interceptor: Option<TlsInterceptor>,
    trace_context: Option<Arc<TraceContext>>,
    /// The processes of the browser; set when its driver has started.
    socket_owner: Mutex<Option<Arc<dyn SocketOwner>>>,
    /// The sender for `relayed_connections`.
    relay: ConnectionRelay,
    /// Connections of a hosted browser: they come over the socket of its host, not over the listener.
    pub(super) relayed_connections: tokio::sync::Mutex<mpsc::Receiver<UnixStream>>,
    /// Prevents checks from connecting to its port.
    _port_protection: ProtectedService,
}

impl ForwardProxy {
    /// Listens on a free port, of [`ForwardProxyConfig::listen_ports`] if there are any. Connections wait until
    /// [`Self::serve`] is polled.
    ///
    /// # Errors
    /// [`FailureKind::NoSocketLeft`] when no port is free, [`FailureKind::NotConfigured`] when the address does not
    /// belong to this host.
    pub async fn bind(config: ForwardProxyConfig) -> Result<Self, Failure> {
        let bind_failure = |kind, reason: &dyn std::fmt::Display| {
            let detail = format!(
                "the forward proxy of the browser cannot listen on {}: {reason}",
                config.listen_address
            );
            Failure::new(Phase::Prepare, kind, detail)
        };
        let listener = bind_free_port(&config).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrNotAvailable => bind_failure(FailureKind::NotConfigured, &error),
            std::io::ErrorKind::AddrInUse => {
                bind_failure(FailureKind::NoSocketLeft, &"all `forward_ports` are in use")
            }
            _ => bind_failure(FailureKind::NoSocketLeft, &error),
        })?;
        let address =
            listener.local_addr().map_err(|error| bind_failure(FailureKind::NoSocketLeft, &error))?;
        let interceptor = config.tls_interception.clone().map(TlsInterceptor::new).transpose()?;
        let (relay, relayed_connections) = mpsc::channel(MAX_CONNECTIONS);
        let trace_context = config.trace_id.map(|id| Arc::new(TraceContext::new(id)));
        Ok(Self {
            listener,
            listen_address: address,
            config,
            target_log: TargetLog::default(),
            tls_interceptor: interceptor,
            trace_context,
            socket_owner: Mutex::new(None),
            relay: ConnectionRelay(relay),
            relayed_connections: tokio::sync::Mutex::new(relayed_connections),
            _port_protection: protect_local_port(address.port()),
        })
    }

    /// Sets the processes whose connections [`AllowedClients::LocalBrowser`](super::AllowedClients::LocalBrowser)
    /// allows.
    pub fn set_socket_owner(&self, socket_owner: Arc<dyn SocketOwner>) {
        *self.socket_owner.lock() = Some(socket_owner);
    }

    pub(super) fn socket_owner(&self) -> Option<Arc<dyn SocketOwner>> {
        self.socket_owner.lock().clone()
    }

    /// Returns where a browser host passes on the connections of its browser.
    #[must_use]
    pub fn relay(&self) -> ConnectionRelay {
        self.relay.clone()
    }

    /// Sets the site whose requests carry the configured trace: a registrable domain, which includes all hosts below
    /// it, or a host. Only the first call has an effect.
    pub fn set_trace_site(&self, site: &str) {
        if let Some(trace_context) = &self.trace_context {
            trace_context.set_site(site);
        }
    }

    /// Returns the trace context, if requests to `host` carry it.
    pub(super) fn trace_context_for(&self, host: &str) -> Option<&Arc<TraceContext>> {
        self.trace_context.as_ref().filter(|trace_context| trace_context.applies_to(host))
    }

    /// Returns the listening address.
    #[must_use]
    pub fn listen_address(&self) -> SocketAddr {
        self.listen_address
    }

    /// Why the last connection to `host` on `port` failed; `None` when it succeeded, or was never tried.
    #[must_use]
    pub fn last_failure(&self, host: &str, port: u16) -> Option<Failure> {
        self.target_log.last_failure(host, port)
    }

    /// Whether the blocked hosts or the egress policy deny connections to `host` on `port`.
    #[must_use]
    pub fn is_denied(&self, host: &str, port: u16) -> bool {
        let is_denied = |failure: Failure| failure.kind == FailureKind::EgressDenied;
        self.config.blocked_hosts.matching_pattern(host).is_some()
            || self.last_failure(host, port).is_some_and(is_denied)
    }

    /// Returns the first successful connection to `host` on `port`.
    #[must_use]
    pub fn target_connection(&self, host: &str, port: u16) -> Option<TargetConnection> {
        self.target_log.first_connection(host, port)
    }
}

/// Binds the first free port of the configuration.
async fn bind_free_port(config: &ForwardProxyConfig) -> std::io::Result<TcpListener> {
    let Some(ports) = config.listen_ports.clone() else {
        return TcpListener::bind((config.listen_address, 0)).await;
    };
    let mut error = std::io::Error::from(std::io::ErrorKind::AddrInUse);
    for port in ports {
        match TcpListener::bind((config.listen_address, port)).await {
            Ok(listener) => return Ok(listener),
            Err(bind_error) => error = bind_error,
        }
        if error.kind() != std::io::ErrorKind::AddrInUse {
            break;
        }
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_proxy_takes_a_free_port_of_its_range() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = ForwardProxyConfig { listen_ports: Some(free..=free), ..ForwardProxyConfig::default() };
        let first = ForwardProxy::bind(config.clone()).await.unwrap();
        assert_eq!(first.listen_address().port(), free);
        let failure = ForwardProxy::bind(config.clone()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoSocketLeft);
        assert!(failure.detail.contains("all `forward_ports` are in use"), "{failure}");
        drop(first);
        assert!(ForwardProxy::bind(config).await.is_ok());
    }
}
