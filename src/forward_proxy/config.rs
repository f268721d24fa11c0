//! Configuration of a forward proxy.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;

use super::allowed_clients::AllowedClients;
use super::blocked_hosts::BlockedHosts;
use crate::domain::TraceId;
use crate::net::{AddressFamily, TlsOptions};

/// Header field of the proxy's own error responses to requests in absolute form. Its value is the reason; it replaces
/// a response of the target. The proxy removes the field from responses of targets.
pub const PROXY_ERROR_HEADER: &str = "vigie-refused";

/// Concurrent connections of a browser; further ones wait in the backlog.
pub(super) const MAX_CONNECTIONS: usize = 256;

/// Configuration of a forward proxy.
#[derive(Clone, Debug)]
pub struct ForwardProxyConfig {
    /// Listening address; loopback unless the browser runs on another host.
    pub listen_address: IpAddr,
    /// Ports to listen on, one for each proxy; `None` for any free port.
    pub listen_ports: Option<RangeInclusive<u16>>,
    /// Clients that may use the proxy.
    pub allowed_clients: AllowedClients,
    /// Address families for connections to targets.
    pub address_family: AddressFamily,
    /// Id of the proxy from the settings to connect through.
    pub upstream_proxy_id: Option<i64>,
    /// Hosts that are refused (403).
    pub blocked_hosts: BlockedHosts,
    /// Options for TLS to targets when the proxy terminates TLS, for features that a browser does not support for a
    /// single session: a private authority and a client certificate. `None` leaves TLS between browser and target.
    pub tls_interception: Option<TlsOptions>,
    /// Id of the trace for requests to the site of [`set_trace_site`](super::proxy::ForwardProxy::set_trace_site).
    /// Requests over TLS carry it only where the proxy terminates TLS.
    pub trace_id: Option<TraceId>,
}

impl Default for ForwardProxyConfig {
    /// A proxy for processes of this user on this host, without further rules.
    fn default() -> Self {
        Self {
            listen_address: Ipv4Addr::LOCALHOST.into(),
            listen_ports: None,
            allowed_clients: AllowedClients::current_user(),
            address_family: AddressFamily::Any,
            upstream_proxy_id: None,
            blocked_hosts: BlockedHosts::default(),
            tls_interception: None,
            trace_id: None,
        }
    }
}
