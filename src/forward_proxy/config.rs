//! What a forward proxy lets through.

use std::net::{IpAddr, Ipv4Addr};

use super::allowed_clients::AllowedClients;
use super::blocked_hosts::BlockedHosts;
use super::trace_context::TraceId;
use crate::net::{AddressFamily, TlsOptions};

/// The field of answers to requests in absolute form that are the proxy's own, and say why there is no other. Answers
/// of targets come without it.
pub const REFUSED_HEADER: &str = "vigie-refused";

/// What a forward proxy lets through.
#[derive(Clone, Debug)]
pub struct ForwardProxyConfig {
    /// The address that it listens on; loopback unless the browser runs on another host.
    pub listen: IpAddr,
    /// Who may use it.
    pub allowed_clients: AllowedClients,
    /// Families of addresses to reach.
    pub family: AddressFamily,
    /// Id of the proxy of the settings to go through.
    pub upstream_proxy_id: Option<i64>,
    /// Hosts that are refused (403).
    pub blocked_hosts: BlockedHosts,
    /// How TLS to targets is spoken here instead of by the browser: for what a browser cannot be given for one
    /// session, a private authority and a client certificate. `None` leaves TLS between browser and target.
    pub intercept_tls: Option<TlsOptions>,
    /// The trace that requests to the site of [`ForwardProxy::trace`](super::proxy::ForwardProxy::set_trace_site) carry. Requests over TLS
    /// carry it only where that is spoken here.
    pub trace: Option<TraceId>,
}

impl Default for ForwardProxyConfig {
    /// For processes of this user on this host, without further rules.
    fn default() -> Self {
        Self {
            listen: Ipv4Addr::LOCALHOST.into(),
            allowed_clients: AllowedClients::current_user(),
            family: AddressFamily::Any,
            upstream_proxy_id: None,
            blocked_hosts: BlockedHosts::default(),
            intercept_tls: None,
            trace: None,
        }
    }
}
