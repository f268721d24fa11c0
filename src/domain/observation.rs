//! What a probe observed in one attempt, up to the phase that failed. A failure is a field, not an error.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::captured_file::CapturedFile;
use super::check_details::CheckDetails;
use super::failure::Failure;
use super::host_facts::HostFacts;
use super::phase::{Phase, Phases};
use super::protocol_facts::{FtpFacts, MailFacts, RoundTripFacts};
use super::security_scan::SecurityScanFacts;
use super::status::Status;
use super::time::Timestamp;

/// The observation of one attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Duration of the attempt.
    pub duration: Duration,
    /// Durations by phase, summed over redirect hops.
    pub phases: Phases,
    /// Address of the last peer.
    pub address: Option<SocketAddr>,
    /// Why the attempt failed; `None` when it passed.
    pub failure: Option<Failure>,
    /// Warnings of an attempt that passed.
    pub warnings: Vec<Warning>,
    /// Facts about the target.
    pub facts: Facts,
    /// Details of the attempt.
    pub details: CheckDetails,
    /// Files captured as evidence of a failure.
    pub captures: Vec<CapturedFile>,
    /// Whether the attempt may be repeated with weak cipher suites: the peer refused the TLS handshake like one that
    /// knows no others, and nothing else was done yet.
    pub may_need_weak_suites: bool,
}

impl Observation {
    /// Creates the observation of an attempt that failed and observed nothing else.
    #[must_use]
    pub fn from_failure(failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Records the first failure; later ones are consequences of it.
    pub fn record_failure(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Adds the `tls_warnings` of `facts` as warnings, each once.
    pub fn record_tls_warnings(&mut self, facts: &TlsFacts) {
        for detail in &facts.tls_warnings {
            if !self.warnings.iter().any(|warning| warning.detail == *detail) {
                self.record_warning(WarningKind::TlsWeakness, detail);
            }
        }
    }

    /// Adds a warning.
    pub fn record_warning(&mut self, kind: WarningKind, detail: impl Into<String>) {
        self.warnings.push(Warning::new(kind, detail));
    }
}

/// Why an attempt passed with a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A 3xx that was not followed (status 8).
    RedirectNotFollowed,
    /// The certificate expires within the configured number of days.
    CertificateExpiring,
    /// The TLS session or a certificate was accepted, but has a weakness that its operator should know.
    TlsWeakness,
    /// The peer offered less than requested and the check continued; the outcome stays.
    #[serde(rename = "fell_back")]
    CapabilityDowngrade,
    /// An object of the page failed to load, is missing, is new or has another size, and the monitor does not count
    /// that as an error.
    #[serde(rename = "page_object")]
    PageObjectProblem,
    /// A value of a host is beyond the bound of a warning (status 4030).
    HostValueBeyondBound,
    /// A security scan has a finding below `fail_severity`.
    SecurityFinding,
    /// A remark that leaves the outcome as it is.
    #[serde(rename = "note")]
    Informational,
}

impl WarningKind {
    /// Whether it makes the outcome a warning.
    #[must_use]
    pub const fn affects_outcome(self) -> bool {
        matches!(
            self,
            Self::RedirectNotFollowed
                | Self::CertificateExpiring
                | Self::TlsWeakness
                | Self::PageObjectProblem
                | Self::HostValueBeyondBound
                | Self::SecurityFinding
        )
    }

    /// Returns the status of the check that it leads to, if behaviour.md 3 has one.
    #[must_use]
    pub const fn status(self) -> Option<Status> {
        match self {
            Self::RedirectNotFollowed => Some(Status::REDIRECTED),
            Self::HostValueBeyondBound => Some(Status::HOST_WARNING),
            _ => None,
        }
    }
}

/// A warning of an attempt that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Kind of warning.
    pub kind: WarningKind,
    /// One line for people.
    pub detail: String,
    /// Status code of the cause, where the kind alone does not imply it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "part")]
    pub cause_status: Option<Status>,
}

impl Warning {
    /// Creates a warning of `kind`.
    pub fn new(kind: WarningKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), cause_status: None }
    }

    /// Converts a failure into a warning: it is recorded with its status and is not an error.
    #[must_use]
    pub fn from_page_object_failure(failure: &Failure) -> Self {
        let detail = failure.to_string();
        Self { kind: WarningKind::PageObjectProblem, detail, cause_status: Some(failure.status()) }
    }

    /// Returns the status of the check that it leads to, if behaviour.md 3 has one.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.cause_status.or(self.kind.status())
    }
}

/// Facts about the target, by protocol. Flattened in JSON (behaviour.md 9 `facts`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// From an HTTP exchange.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub http: Option<Box<HttpFacts>>,
    /// From a TLS session.
    #[serde(flatten, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_tls")]
    pub tls: Option<Box<TlsFacts>>,
    /// From the reply of a name server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub dns: Option<Box<DnsFacts>>,
    /// From a series of echo requests.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub ping: Option<Box<PingFacts>>,
    /// From a session with a mail server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub mail: Option<Box<MailFacts>>,
    /// From the round trip of a message through a mail server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Box<RoundTripFacts>>,
    /// From a session with an FTP server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub ftp: Option<Box<FtpFacts>>,
    /// From what a host reports or a job pushes.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<HostFacts>>,
    /// From a security scan.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub security: Option<Box<SecurityScanFacts>>,
    /// Addresses that the name resolved to, in the order in which they were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "resolved")]
    pub resolved_addresses: Vec<std::net::IpAddr>,
}

/// All fields of [`TlsFacts`] are optional: when none is set, there was no TLS session.
fn deserialize_tls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<TlsFacts>>, D::Error> {
    let decoded = Option::<Box<TlsFacts>>::deserialize(deserializer)?;
    Ok(decoded.filter(|facts| **facts != TlsFacts::default()))
}

/// Facts of the last HTTP exchange of an attempt, with the redirects that led to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HttpFacts {
    /// Status code, such as 200.
    pub http_status: u16,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    pub http_version: String,
    /// Reason phrase of HTTP/1, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_reason: Option<String>,
    /// Size of the body over the wire, before any decompression, in bytes.
    pub body_wire_bytes: u64,
    /// Size of the body after decompression, in bytes.
    pub body_bytes: u64,
    /// Whether the page differs from that of the last good run at the same location, in size or in its visible text.
    /// Set when the locations of the run are settled, for monitors that notify on content changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "changed")]
    pub content_changed: bool,
    /// SHA-256 of the visible text of the page, in lower-case hexadecimal; for monitors that notify on content changes
    /// (`notify_on_content_change`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_sha256: Option<String>,
    /// `text_sha256` of the last good run at the same location, where it differs; set when the run is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "text_sha256_before")]
    pub previous_text_sha256: Option<String>,
    /// Media type and charset as declared by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Redirect hops before the last exchange, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<RedirectHop>,
    /// URL of the last response, without credentials.
    pub url: String,
}

/// One redirect that was followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedirectHop {
    /// Requested URL, without credentials.
    pub url: String,
    /// The 3xx status of the response.
    pub http_status: u16,
    /// Address of the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// Durations of this hop alone.
    pub phases: Phases,
}

/// Facts of a TLS session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TlsFacts {
    /// `TLSv1.3`, `TLSv1.2`, and those that a monitor can pin: `TLSv1.1`, `TLSv1.0`, `SSLv3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_version: Option<String>,
    /// IANA name of the cipher suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_cipher: Option<String>,
    /// Certificate chain as the peer sent it, leaf first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certificate>,
    /// Weaknesses that were accepted; the probe records them as warnings.
    #[serde(skip)]
    pub tls_warnings: Vec<String>,
}

/// The fields of a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Distinguished name, RFC 4514 style.
    pub subject: String,
    /// Distinguished name of the issuer.
    pub issuer: String,
    /// DNS names and addresses that it is valid for (subject alternative name).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "names")]
    pub subject_alt_names: Vec<String>,
    /// Start of its validity.
    pub not_before: Timestamp,
    /// End of its validity.
    pub not_after: Timestamp,
    /// SHA-256 of its DER form, in lower-case hexadecimal.
    pub sha256: String,
}

/// Facts from the reply of a name server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsFacts {
    /// Queried name.
    #[serde(rename = "question")]
    pub query_name: String,
    /// Record type of the last query.
    pub record_type: String,
    /// RFC 6895 name of the response code; empty and left out without a reply.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rcode: String,
    /// Records of the answer section without their signatures: type and value.
    #[serde(rename = "answers")]
    pub answer_records: Vec<String>,
    /// `udp`, `tcp`, `tls` or `https`.
    pub transport: String,
    /// Whether the server is authoritative for the name (AA).
    pub authoritative: bool,
    /// Whether the server vouches for the reply by DNSSEC (AD).
    #[serde(rename = "authenticated", default, skip_serializing_if = "std::ops::Not::not")]
    pub authenticated_data: bool,
    /// Whether the reply has signatures; it only does when `require_dnssec` asks for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// Whether the server offers recursion (RA).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursion_available: bool,
    /// Whether the reply was truncated (TC); over UDP the query is then repeated over TCP.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Size of the last message of the server, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "answer_bytes")]
    pub response_bytes: Option<u64>,
    /// Seconds that the reply may be cached: the smallest TTL of its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ttl")]
    pub min_ttl_seconds: Option<u32>,
}

/// Facts from a series of echo requests. Round trips in microseconds; `None` when all were lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PingFacts {
    /// Echo requests sent.
    #[serde(rename = "sent")]
    pub requests_sent: u32,
    /// Echo replies received in time.
    #[serde(rename = "received")]
    pub replies_received: u32,
    /// Lost requests in percent of those sent.
    pub loss_percent: f64,
    /// Shortest round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_min_us: Option<u64>,
    /// Mean round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_avg_us: Option<u64>,
    /// Longest round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_max_us: Option<u64>,
    /// Standard deviation of the round trips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_stddev_us: Option<u64>,
    /// `dgram` for the unprivileged socket, `raw` for the privileged one.
    #[serde(rename = "socket")]
    pub socket_type: String,
    /// ICMP errors about lost requests: sender, error and count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icmp_errors: Vec<String>,
}

impl Failure {
    /// Creates the failure of an attempt whose timeout passed in `phase`, after `timeout`.
    #[must_use]
    pub fn timed_out(phase: Phase, timeout: Duration) -> Self {
        Self::new(
            phase,
            super::failure::FailureKind::TimedOut,
            format!("no data within {} s, in phase {}", timeout.as_secs_f64(), phase.name()),
        )
    }
}
