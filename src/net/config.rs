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
    /// Name whose NS records are queried when the resolver does not respond about a target. The root depends on no
    /// other domain, and every resolver has it cached.
    pub control_name: String,
    /// The addresses that may be contacted.
    pub egress: EgressPolicy,
    /// The source address and interface of connections.
    pub source: SourceBinding,
    /// The trusted certificates.
    pub trust: TrustConfig,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self {
            name_servers: NameServers::default(),
            control_name: ".".to_owned(),
            egress: EgressPolicy::default(),
            source: SourceBinding::default(),
            trust: TrustConfig::default(),
        }
    }
}
