//! The settings of `name-server`.

use serde::Deserialize;

/// A query to a name server.
#[derive(Clone, Debug, Deserialize)]
pub struct NameServerSettings<'a> {
    /// The server.
    pub hostname: &'a str,
    /// Name to query.
    pub name_to_resolve: Option<&'a str>,
    /// Index of a name of the settings; 0 for the default.
    pub name_to_resolve_id: usize,
    /// Record type to query; `auto` is A, then AAAA when there is no A.
    pub record_type: &'a str,
    /// Values that the reply must contain.
    #[serde(borrow)]
    pub expected_answers: Vec<&'a str>,
    /// Transport of the query.
    pub transport: DnsTransport,
    /// Whether the server must have validated the reply with DNSSEC (the AD bit).
    pub require_dnssec: bool,
}

/// Transport of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DnsTransport {
    /// UDP, and TCP when the reply is truncated.
    Udp,
    /// TCP (RFC 7766).
    Tcp,
    /// DNS over TLS (RFC 7858).
    Tls,
    /// DNS over HTTPS (RFC 8484).
    Https,
}
