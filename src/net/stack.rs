//! The network of one location.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::config::NetConfig;
use super::echo::EchoSockets;
use super::egress::EgressPolicy;
use super::error::NetConfigError;
use super::resolver::DnsResolver;
use super::socket::SourceBinding;
use super::tls::{RevocationCache, TlsContext};
use crate::domain::EgressPrincipal;
use crate::net::proxy::UpstreamProxy;
use crate::sync::RwLock;

/// The network of one location, for connections of one egress principal. It is rebuilt when settings change;
/// only certificates and named proxies change in between ([`Net::set_certificates`], [`Net::set_proxies`]).
#[derive(Clone, Debug)]
pub struct Net {
    /// What all `Net`s of the location share.
    pub(super) stack: Arc<NetStack>,
    /// On whose behalf connections are made.
    pub(super) egress_principal: EgressPrincipal,
    /// Whether TLS handshakes offer weak cipher suites of TLS 1.2 alone.
    pub(super) offers_only_weak_suites: bool,
}

/// The state of one location's network, shared by all its [`Net`]s.
#[derive(Debug)]
pub(super) struct NetStack {
    pub(super) resolver: DnsResolver,
    pub(super) egress_policy: EgressPolicy,
    pub(super) source_binding: SourceBinding,
    /// The proxy of connections that name none, except to loopback.
    pub(super) default_proxy: OnceLock<UpstreamProxy>,
    /// The proxies that endpoints name by id.
    pub(super) proxies_by_id: RwLock<BTreeMap<i64, Arc<UpstreamProxy>>>,
    pub(super) tls_context: TlsContext,
    pub(super) revocation_cache: RevocationCache,
    pub(super) echo_sockets: EchoSockets,
}

impl Net {
    /// Creates the network for connections of the operator. Reads the system's resolver configuration and certificates
    /// if `config` uses them.
    pub fn new(config: &NetConfig) -> Result<Self, NetConfigError> {
        let stack = NetStack {
            resolver: DnsResolver::new(&config.name_servers, &config.control_name, &config.source_binding)?,
            egress_policy: config.egress_policy.clone(),
            source_binding: config.source_binding.clone(),
            default_proxy: OnceLock::new(),
            proxies_by_id: RwLock::default(),
            tls_context: TlsContext::new(&config.trust_config)?,
            revocation_cache: RevocationCache::default(),
            echo_sockets: EchoSockets::default(),
        };
        Ok(Self {
            stack: Arc::new(stack),
            egress_principal: EgressPrincipal::Operator,
            offers_only_weak_suites: false,
        })
    }

    /// Returns the same network for connections on behalf of `principal`.
    #[must_use]
    pub fn with_egress_principal(&self, principal: EgressPrincipal) -> Self {
        Self { egress_principal: principal, ..self.clone() }
    }

    /// Returns the same network, whose TLS handshakes offer only the cipher suites of TLS 1.2 that the usual ones
    /// leave out: with CBC, or without forward secrecy. A build without the feature `legacy-tls` only finds out
    /// whether a server would accept them, and fails with
    /// [`TargetUnsupported`](crate::domain::FailureKind::TargetUnsupported) then.
    #[must_use]
    pub fn with_weak_suites(&self) -> Self {
        Self { offers_only_weak_suites: true, ..self.clone() }
    }

    /// Returns the source address and interface of connections.
    #[must_use]
    pub fn source_binding(&self) -> &SourceBinding {
        &self.stack.source_binding
    }
}
