//! The network of one location, as its checks use it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::NetConfig;
use super::echo::Echoes;
use super::egress::EgressPolicy;
use super::error::NetError;
use super::names::Names;
use super::socket::Source;
use super::tls::Tls;
use crate::net::proxy::Proxy;
use crate::sync::RwLock;

/// The network of one location. Made anew when settings change; only certificates and named proxies come and go in
/// between ([`Net::bring_certificates`], [`Net::bring_proxies`]).
#[derive(Debug)]
pub struct Net {
    pub(super) names: Names,
    pub(super) egress: EgressPolicy,
    pub(super) source: Source,
    pub(super) proxy: Option<Proxy>,
    pub(super) proxies: RwLock<BTreeMap<i64, Arc<Proxy>>>,
    pub(super) tls: Tls,
    pub(super) echo: Echoes,
}

impl Net {
    /// Reads the system's resolver configuration and certificates where `config` asks for them.
    pub fn new(config: &NetConfig) -> Result<Self, NetError> {
        Ok(Self {
            names: Names::new(&config.name_servers, &config.control_name, &config.source)?,
            egress: config.egress.clone(),
            source: config.source.clone(),
            proxy: None,
            proxies: RwLock::default(),
            tls: Tls::new(&config.trust)?,
            echo: Echoes::default(),
        })
    }

    /// Which addresses may be talked to.
    #[must_use]
    pub fn egress(&self) -> &EgressPolicy {
        &self.egress
    }

    /// Where connections leave this host.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }
}
