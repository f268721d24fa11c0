//! The forward proxy of one check.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::config::ForwardProxyConfig;
use super::target_log::{TargetConnection, TargetLog};
use super::tls_interception::TlsInterceptor;
use super::trace_context::TraceContext;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{ProtectedService, protect_local_port};

/// A forward proxy of one check.
#[derive(Debug)]
pub struct ForwardProxy {
    pub(super) listener: TcpListener,
    pub(super) listen_address: SocketAddr,
    pub(super) config: ForwardProxyConfig,
    pub(super) target_log: TargetLog,
    pub(super) tls_interceptor: Option<TlsInterceptor>,
    trace_context: Option<Arc<TraceContext>>,
    /// Prevents checks from connecting to its port.
    _port_protection: ProtectedService,
}

impl ForwardProxy {
    /// Listens on a free port. Connections wait until [`Self::serve`] is polled.
    ///
    /// # Errors
    /// [`FailureKind::NoSocketLeft`] when no port is free, [`FailureKind::NotConfigured`] when the address does not belong
    /// to this host.
    pub async fn bind(config: ForwardProxyConfig) -> Result<Self, Failure> {
        let bind_failure = |kind, reason: &dyn std::fmt::Display| {
            let detail = format!(
                "the forward proxy of the browser cannot listen on {}: {reason}",
                config.listen_address
            );
            Failure::new(Phase::Prepare, kind, detail)
        };
        let listener =
            TcpListener::bind((config.listen_address, 0)).await.map_err(|error| match error.kind() {
                std::io::ErrorKind::AddrNotAvailable => bind_failure(FailureKind::NotConfigured, &error),
                _ => bind_failure(FailureKind::NoSocketLeft, &error),
            })?;
        let address =
            listener.local_addr().map_err(|error| bind_failure(FailureKind::NoSocketLeft, &error))?;
        let interceptor = config.tls_interception.clone().map(TlsInterceptor::new).transpose()?;
        let trace_context = config.trace_id.map(|id| Arc::new(TraceContext::new(id)));
        Ok(Self {
            listener,
            listen_address: address,
            config,
            target_log: TargetLog::default(),
            tls_interceptor: interceptor,
            trace_context,
            _port_protection: protect_local_port(address.port()),
        })
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
