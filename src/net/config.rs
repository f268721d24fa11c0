//! The network of one location, as settings describe it.

use super::egress::EgressPolicy;
use super::resolver::NameServers;
use super::socket::SourceBinding;
use crate::net::tls::TrustConfig;

/// The network of one location, as settings describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetConfig {
    /// Who is asked for names.
    pub name_servers: NameServers,
    /// Name whose NS records are asked for when the resolver is silent about a target. The root needs
    /// nobody else's name, and every resolver has it at hand.
    pub control_name: String,
    /// Which addresses may be talked to.
    pub egress: EgressPolicy,
    /// Where connections leave this host.
    pub source: SourceBinding,
    /// Who vouches for servers.
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
