//! The settings of `name-server`.

use serde::Deserialize;

/// A question to a name server.
#[derive(Clone, Debug, Deserialize)]
pub struct NameServerSettings<'a> {
    /// The server.
    pub hostname: &'a str,
    /// Name that is asked for.
    pub name_to_resolve: Option<&'a str>,
    /// A name of the settings; 0 is the default one.
    pub name_to_resolve_id: usize,
    /// Type of record that is asked for.
    pub record_type: &'a str,
    /// Values that the answer has to have.
    #[serde(borrow)]
    pub expected_answers: Vec<&'a str>,
    /// How it is asked.
    pub transport: DnsTransport,
    /// Whether the server has to vouch for the answer by DNSSEC.
    pub require_dnssec: bool,
}

/// How a question travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DnsTransport {
    /// Datagrams, and TCP when the answer is cut.
    Udp,
    /// RFC 7766.
    Tcp,
    /// RFC 7858.
    Tls,
    /// RFC 8484.
    Https,
}
