//! The network of one location.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::NetConfig;
use super::echo::EchoSockets;
use super::egress::EgressPolicy;
use super::error::NetError;
use super::resolver::DnsResolver;
use super::socket::SourceBinding;
use super::tls::TlsContext;
use crate::net::proxy::UpstreamProxy;
use crate::sync::RwLock;

/// The network of one location. It is rebuilt when settings change; only certificates and named proxies change in
/// between ([`Net::set_certificates`], [`Net::set_proxies`]).
#[derive(Debug)]
pub struct Net {
    pub(super) resolver: DnsResolver,
    pub(super) egress: EgressPolicy,
    pub(super) source: SourceBinding,
    pub(super) proxy: Option<UpstreamProxy>,
    pub(super) proxies: RwLock<BTreeMap<i64, Arc<UpstreamProxy>>>,
    pub(super) tls: TlsContext,
    pub(super) echo_sockets: EchoSockets,
}

impl Net {
    /// Creates the network. Reads the system's resolver configuration and certificates if `config` uses them.
    pub fn new(config: &NetConfig) -> Result<Self, NetError> {
        Ok(Self {
            resolver: DnsResolver::new(&config.name_servers, &config.control_name, &config.source)?,
            egress: config.egress.clone(),
            source: config.source.clone(),
            proxy: None,
            proxies: RwLock::default(),
            tls: TlsContext::new(&config.trust)?,
            echo_sockets: EchoSockets::default(),
        })
    }

    /// Returns the egress policy.
    #[must_use]
    pub fn egress(&self) -> &EgressPolicy {
        &self.egress
    }

    /// Returns the source address and interface of connections.
    #[must_use]
    pub fn source(&self) -> &SourceBinding {
        &self.source
    }
}
