//! What a `name-server` monitor asks, and how.

use std::str::FromStr;

use hickory_proto::rr::{Name, RecordType};
use serde_json::Value;

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::TlsOptions;
use crate::probe::settings::ProbeSettings;
use crate::probe::target::is_on;
use crate::protocol::dns::Question;
use crate::schema::Document;

/// How the question travels (fields.md 2, name-server `transport`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// Datagrams, and TCP when the answer is cut.
    Udp,
    /// RFC 7766.
    Tcp,
    /// RFC 7858.
    Tls,
    /// RFC 8484, by POST to `/dns-query` of the server: monitors have no field for another path.
    Https,
}

impl Transport {
    pub(super) fn of(document: &Document) -> Self {
        match document.text("transport").unwrap_or("udp") {
            "tcp" => Self::Tcp,
            "tls" => Self::Tls,
            "https" => Self::Https,
            _ => Self::Udp,
        }
    }

    /// The word in results.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Https => "https",
        }
    }

    /// Where such questions go when the monitor says nothing else.
    pub(super) const fn port(self) -> u16 {
        match self {
            Self::Udp | Self::Tcp => 53,
            Self::Tls => 853,
            Self::Https => 443,
        }
    }
}

/// What is asked, and how.
#[derive(Debug)]
pub(super) struct Inquiry {
    pub(super) name: Name,
    pub(super) kind: RecordType,
    pub(super) transport: Transport,
    /// Whether the server has to vouch for its answer (AD).
    pub(super) dnssec: bool,
    pub(super) tls: TlsOptions,
    /// What the check calls itself over HTTPS.
    pub(super) user_agent: String,
}

impl Inquiry {
    /// What `document` asks; the failure of its checks when this build cannot ask it.
    pub(super) fn of(document: &Document, settings: &ProbeSettings) -> Result<Self, Failure> {
        let fail = |kind, detail: String| Err(Failure::new(Phase::Prepare, kind, detail));
        let id = document.number("name_to_resolve_id");
        let listed =
            || usize::try_from(id).ok().and_then(|id| settings.dns_names.get(id)).map(String::as_str);
        let written = document.text("name_to_resolve").filter(|name| !name.is_empty());
        let Some(text) = written.or_else(listed) else {
            let detail = format!("`name_to_resolve_id` {id} is not in the setting `dns.names`");
            return fail(FailureKind::NotConfigured, detail);
        };
        let mut name = match Name::from_utf8(text) {
            Ok(name) => name,
            Err(error) => return fail(FailureKind::Unsupported, format!("`{text}` is no DNS name: {error}")),
        };
        name.set_fqdn(true);
        let record_type = document.text("record_type").unwrap_or("A");
        let Ok(kind) = RecordType::from_str(&record_type.to_ascii_uppercase()) else {
            let detail = format!("`record_type` `{record_type}` is unknown to this build");
            return fail(FailureKind::Unsupported, detail);
        };
        let transport = Transport::of(document);
        let tls = TlsOptions {
            verify: is_on(document, "verify_certificate"),
            ca: document.value("ca_cert_id").and_then(Value::as_i64),
            // RFC 8484 5.2 recommends HTTP/2; servers that speak HTTP/1.1 alone are asked in that.
            alpn: if transport == Transport::Https { &[b"h2", b"http/1.1"] } else { &[] },
            ..TlsOptions::default()
        };
        let dnssec = document.flag("require_dnssec");
        Ok(Self { name, kind, transport, dnssec, tls, user_agent: settings.user_agent.to_string() })
    }

    /// The question for records of `kind`.
    pub(super) fn question(&self, kind: RecordType) -> Question {
        let question = Question::new(self.name.clone(), kind);
        let question = if self.dnssec { question.with_dnssec() } else { question };
        if self.transport == Transport::Https { question.without_id() } else { question }
    }
}
