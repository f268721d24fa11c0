//! What a probe saw in one attempt. Always complete up to the phase that failed; failure is a field.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::capture::Capture;
use super::check_details::CheckDetails;
use super::failure::Failure;
use super::phase::{Phase, Phases};
use super::session_facts::{FtpFacts, MailFacts, RoundTripFacts};
use super::status::Status;
use super::time::Timestamp;

/// What one attempt saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// From the start of the attempt to its end.
    pub total: Duration,
    /// Durations by phase; over redirect hops, their sums.
    pub phases: Phases,
    /// The peer that was talked to last.
    pub address: Option<SocketAddr>,
    /// Why the attempt failed; `None` when it passed.
    pub failure: Option<Failure>,
    /// Reservations of an attempt that passed.
    pub warnings: Vec<Warning>,
    /// What was learned of the target.
    pub facts: Facts,
    /// How it went, piece by piece.
    pub details: CheckDetails,
    /// Evidence of a failure.
    pub captures: Vec<Capture>,
}

impl Observation {
    /// An attempt that failed with nothing learned.
    #[must_use]
    pub fn from_failure(failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Keeps the first failure; later ones are consequences of it.
    pub fn record_failure(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Adds a reservation.
    pub fn record_warning(&mut self, kind: WarningKind, detail: impl Into<String>) {
        self.warnings.push(Warning::new(kind, detail));
    }
}

/// Why an attempt passed with a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A 3xx that was not followed (status 8).
    RedirectNotFollowed,
    /// The certificate expires within the settled number of days.
    CertificateExpiring,
    /// The peer offered less than what was asked for and the check went on; the outcome stays.
    FellBack,
    /// An object of the page could not be loaded, is missing, new or of another size, and the monitor counts
    /// that as no error.
    PageObject,
    /// Something worth saying that leaves the outcome as it is.
    Note,
}

impl WarningKind {
    /// Whether it makes the outcome a warning.
    #[must_use]
    pub const fn affects_outcome(self) -> bool {
        matches!(self, Self::RedirectNotFollowed | Self::CertificateExpiring | Self::PageObject)
    }

    /// The status of the check that it leads to, when there is one in behaviour.md 3.
    #[must_use]
    pub const fn status(self) -> Option<Status> {
        match self {
            Self::RedirectNotFollowed => Some(Status::REDIRECTED),
            _ => None,
        }
    }
}

/// A reservation of an attempt that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// One line for people.
    pub detail: String,
    /// Status code of what it is about, where the kind alone does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "part")]
    pub part_status: Option<Status>,
}

impl Warning {
    /// A reservation of `kind`.
    pub fn new(kind: WarningKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), part_status: None }
    }

    /// The same failure as a reservation: it counts, with its status, and is no error.
    #[must_use]
    pub fn from_page_failure(failure: &Failure) -> Self {
        let detail = failure.to_string();
        Self { kind: WarningKind::PageObject, detail, part_status: Some(failure.status()) }
    }

    /// The status of the check that it leads to, when there is one in behaviour.md 3.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.part_status.or(self.kind.status())
    }
}

/// What was learned of the target, by protocol. Flattened in JSON (behaviour.md 9 `facts`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Of an HTTP exchange.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub http: Option<Box<HttpFacts>>,
    /// Of a TLS session.
    #[serde(flatten, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_tls")]
    pub tls: Option<Box<TlsFacts>>,
    /// Of a name server's answer.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub dns: Option<Box<DnsFacts>>,
    /// Of a series of echo requests.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub ping: Option<Box<PingFacts>>,
    /// Of a session with a mail server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub mail: Option<Box<MailFacts>>,
    /// Of a message's way through a mail server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Box<RoundTripFacts>>,
    /// Of a session with an FTP server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub ftp: Option<Box<FtpFacts>>,
    /// The addresses that the name resolved to, in the order in which they were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<std::net::IpAddr>,
}

/// None of the fields of [`TlsFacts`] has to be there: without any, there was no TLS session.
fn deserialize_tls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<TlsFacts>>, D::Error> {
    let read = Option::<Box<TlsFacts>>::deserialize(deserializer)?;
    Ok(read.filter(|facts| **facts != TlsFacts::default()))
}

/// Of the last HTTP exchange of an attempt, with the redirects that led to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HttpFacts {
    /// Status code, such as 200.
    pub http_status: u16,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    pub http_version: String,
    /// Reason phrase of HTTP/1, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_reason: Option<String>,
    /// Bytes of the body as they came over the wire, before any decompression.
    pub body_wire_bytes: u64,
    /// Bytes of the body after decompression.
    pub body_bytes: u64,
    /// Whether the page differs from that of the last good run at the same location, in size or in its visible
    /// text; set when the run is settled, where the monitor tells a change of the content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// SHA-256 of the visible text of the page, in lower-case hexadecimal; of monitors that tell a change of the
    /// content (`notify_on_content_change`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_sha256: Option<String>,
    /// That of the last good run at the same location, where it differs; set when the run is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_sha256_before: Option<String>,
    /// Media type and charset as the server said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The hops before the last exchange, first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<RedirectHop>,
    /// The URL that was answered last, without credentials.
    pub url: String,
}

/// One redirect that was followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedirectHop {
    /// The URL that was asked, without credentials.
    pub url: String,
    /// The 3xx that it answered with.
    pub http_status: u16,
    /// The peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// Durations of this hop alone.
    pub phases: Phases,
}

/// Of a TLS session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TlsFacts {
    /// `TLSv1.3`, `TLSv1.2`, and what a monitor pins: `TLSv1.1`, `TLSv1.0`, `SSLv3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_version: Option<String>,
    /// IANA name of the cipher suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_cipher: Option<String>,
    /// The chain as the peer sent it, its own certificate first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certificate>,
}

/// What a certificate says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Distinguished name, RFC 4514 style.
    pub subject: String,
    /// Distinguished name of the issuer.
    pub issuer: String,
    /// Names it is good for (DNS names and addresses of the subject alternative name).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// First instant of its life.
    pub not_before: Timestamp,
    /// Last instant of its life.
    pub not_after: Timestamp,
    /// SHA-256 of its DER form, in lower-case hexadecimal.
    pub sha256: String,
}

/// Of a name server's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsFacts {
    /// The name that was asked for.
    pub question: String,
    /// The type that was asked for last.
    pub record_type: String,
    /// RFC 6895 name of the response code; empty and left out when nothing was answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rcode: String,
    /// Records of the answer section without their signatures: type and value.
    pub answers: Vec<String>,
    /// `udp`, `tcp`, `tls` or `https`.
    pub transport: String,
    /// Whether the server has authority over the name (AA).
    pub authoritative: bool,
    /// Whether the server vouches for the answer by DNSSEC (AD).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub authenticated: bool,
    /// Whether signatures came with the answer; they come only when `require_dnssec` asks for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// Whether the server asks others on behalf of its clients (RA).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursion_available: bool,
    /// Whether the answer was cut (TC); over UDP it is then asked for again over TCP.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Bytes of the last message of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_bytes: Option<u64>,
    /// Seconds that the answer may be kept: the least of its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
}

/// Of a series of echo requests. Round trips in microseconds; none when all were lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PingFacts {
    /// Echo requests sent.
    pub sent: u32,
    /// Echo replies received in time.
    pub received: u32,
    /// Lost ones in percent of those sent.
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
    pub socket: String,
    /// What others said of lost requests by ICMP: who, what, and how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icmp_errors: Vec<String>,
}

impl Failure {
    /// The timeout passed in `phase`, after `after`.
    #[must_use]
    pub fn timed_out(phase: Phase, after: Duration) -> Self {
        Self::new(
            phase,
            super::failure::FailureKind::TimedOut,
            format!("nothing more came within {} s, in phase {}", after.as_secs_f64(), phase.name()),
        )
    }
}
