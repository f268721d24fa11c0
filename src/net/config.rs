//! Settings of the network of one location.

use super::egress::EgressPolicy;
use super::resolver::NameServers;
use super::socket::SourceBinding;
use crate::net::tls::TrustConfig;

/// Settings of the network of one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetConfig {
    /// The name servers to query.
    pub name_servers: NameServers,
    /// Name whose NS records are queried when the resolver gave no response for a target, to see whether the resolver
    /// works at all. The default is the root, which depends on no other domain, and which every resolver has cached.
    pub control_name: String,
    /// The addresses that may be contacted.
    pub egress_policy: EgressPolicy,
    /// The source address and interface of connections.
    pub source_binding: SourceBinding,
    /// The trusted certificates.
    pub trust_config: TrustConfig,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self {
            name_servers: NameServers::default(),
            control_name: ".".to_owned(),
            egress_policy: EgressPolicy::default(),
            source_binding: SourceBinding::default(),
            trust_config: TrustConfig::default(),
        }
    }
}
