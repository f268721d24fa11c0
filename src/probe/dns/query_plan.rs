//! The query of a `name-server` monitor and its transport.

use std::str::FromStr;

use hickory_proto::rr::{Name, RecordType};

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::TlsOptions;
use crate::probe::build_context::ProbeBuildContext;
use crate::protocol::dns::DnsQuery;
use crate::schema::typed::name_server::{DnsTransport, NameServerSettings};

/// The transport of a query (fields.md 2, name-server `transport`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// UDP, and TCP when the response is truncated.
    Udp,
    /// TCP (RFC 7766).
    Tcp,
    /// TLS (RFC 7858).
    Tls,
    /// HTTPS (RFC 8484), by POST to `/dns-query`: monitors have no field for another path.
    Https,
}

impl Transport {
    pub(super) const fn from_settings(transport: DnsTransport) -> Self {
        match transport {
            DnsTransport::Udp => Self::Udp,
            DnsTransport::Tcp => Self::Tcp,
            DnsTransport::Tls => Self::Tls,
            DnsTransport::Https => Self::Https,
        }
    }

    /// Returns the name used in results.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Https => "https",
        }
    }

    /// Returns the port used when the monitor sets none.
    pub(super) const fn default_port(self) -> u16 {
        match self {
            Self::Udp | Self::Tcp => 53,
            Self::Tls => 853,
            Self::Https => 443,
        }
    }
}

/// The query, its transport and options.
#[derive(Debug)]
pub(super) struct QueryPlan {
    pub(super) queried_name: Name,
    /// The type that is queried first.
    pub(super) record_type: RecordType,
    /// Whether AAAA is queried when there is no A; an explicit type is queried alone.
    pub(super) falls_back_to_aaaa: bool,
    pub(super) transport: Transport,
    /// Whether the server must authenticate its response (AD).
    pub(super) require_dnssec: bool,
    pub(super) tls_options: TlsOptions,
    /// The `User-Agent` over HTTPS.
    pub(super) user_agent: String,
}

impl QueryPlan {
    /// Creates the plan of a monitor. The error is the failure of all its checks, if this build cannot send the query.
    /// `verification_options` say how the server certificate is verified.
    pub(super) fn new(
        name_server_settings: &NameServerSettings<'_>,
        verification_options: TlsOptions,
        context: &ProbeBuildContext,
    ) -> Result<Self, Failure> {
        let fail = |kind, detail: String| Err(Failure::new(Phase::Prepare, kind, detail));
        let name_index = name_server_settings.name_to_resolve_id;
        let configured_name = || context.dns_query_names.get(name_index).map(String::as_str);
        let own_name = name_server_settings.name_to_resolve.filter(|name| !name.is_empty());
        let Some(query_name) = own_name.or_else(configured_name) else {
            let detail = format!("`name_to_resolve_id` {name_index} is not in the setting `dns.names`");
            return fail(FailureKind::NotConfigured, detail);
        };
        let mut name = match Name::from_utf8(query_name) {
            Ok(name) => name,
            Err(error) => {
                return fail(
                    FailureKind::ProbeUnsupported,
                    format!("`{query_name}` is not a DNS name: {error}"),
                );
            }
        };
        name.set_fqdn(true);
        let record_type = name_server_settings.record_type;
        let is_auto = record_type.eq_ignore_ascii_case("auto");
        let first_type = if is_auto { "A" } else { record_type };
        let Ok(first_record_type) = RecordType::from_str(&first_type.to_ascii_uppercase()) else {
            let detail = format!("`record_type` `{record_type}` is unknown to this build");
            return fail(FailureKind::ProbeUnsupported, detail);
        };
        let transport = Transport::from_settings(name_server_settings.transport);
        let tls_options = TlsOptions {
            // RFC 8484 5.2 recommends HTTP/2; servers without it are queried over HTTP/1.1.
            alpn_protocols: if transport == Transport::Https { &[b"h2", b"http/1.1"] } else { &[] },
            ..verification_options
        };
        let require_dnssec = name_server_settings.require_dnssec;
        Ok(Self {
            queried_name: name,
            record_type: first_record_type,
            falls_back_to_aaaa: is_auto,
            transport,
            require_dnssec,
            tls_options,
            user_agent: context.user_agent.to_string(),
        })
    }

    /// Returns the query for records of `record_type`.
    pub(super) fn build_query(&self, record_type: RecordType) -> DnsQuery {
        let query = DnsQuery::new(self.queried_name.clone(), record_type);
        let query = if self.require_dnssec { query.with_dnssec() } else { query };
        if self.transport == Transport::Https { query.without_id() } else { query }
    }
}
