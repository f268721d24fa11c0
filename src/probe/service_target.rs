//! Targets with one host and port, and observations of sessions with them.

use std::net::IpAddr;
use std::num::NonZeroU16;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{Failure, Observation};
use crate::net::{AddressFamily, ConnectionTrace, Endpoint};
use crate::protocol::LineSession;
use crate::schema::typed::connection::AddressSettings;

/// Longest failure detail that is kept, in characters. Servers can send long texts.
const MAX_FAILURE_DETAIL_CHARS: usize = 400;

/// Returns the host and port of a monitor. With `resolve_dns` false, uses the address in `ipv4` instead of resolving
/// the name (behaviour.md 4, Addresses).
pub(super) fn build_endpoint(hostname: &str, port: u16, address_settings: &AddressSettings<'_>) -> Endpoint {
    let mut endpoint = Endpoint::new(hostname.trim(), port);
    endpoint.pinned_address = pinned_address(address_settings);
    endpoint.address_family = AddressFamily::Any;
    endpoint
}

fn pinned_address(address_settings: &AddressSettings<'_>) -> Option<IpAddr> {
    address_settings.ipv4.filter(|_| !address_settings.resolve_dns).and_then(|text| text.trim().parse().ok())
}

/// The target of a monitor whose host may carry a scheme and a port (behaviour.md 1).
#[derive(Debug)]
pub(super) struct ServiceEndpoint {
    /// Host and port, with the pinned address if there is one.
    pub(super) endpoint: Endpoint,
    /// Whether TLS is implicit, by the scheme or by the port.
    pub(super) implicit_tls: bool,
}

/// Parses the service in `hostname`. A port in the text has precedence over `port`, and both over the default of the
/// scheme: `default_ports` are those without and with implicit TLS. The last of `schemes` is that of implicit TLS.
pub(super) fn parse_service_endpoint(
    hostname: &str,
    port: Option<NonZeroU16>,
    address_settings: Option<&AddressSettings<'_>>,
    schemes: &'static [&'static str],
    default_ports: (u16, u16),
) -> ServiceEndpoint {
    let hostname = hostname.trim();
    let parsed = crate::syntax::text_format::parse_service_address(hostname, schemes);
    let scheme = parsed.as_ref().and_then(|service| service.scheme);
    let has_tls_scheme = scheme.is_some() && scheme == schemes.last().copied();
    let port = parsed.as_ref().and_then(|service| service.port).or(port.map(NonZeroU16::get));
    let port = port.unwrap_or(if has_tls_scheme { default_ports.1 } else { default_ports.0 });
    let mut endpoint = Endpoint::new(parsed.as_ref().map_or(hostname, |service| service.host), port);
    endpoint.pinned_address = address_settings.and_then(pinned_address);
    // An explicit scheme overrides the usual meaning of the port.
    ServiceEndpoint { endpoint, implicit_tls: has_tls_scheme || scheme.is_none() && port == default_ports.1 }
}

/// Like [`build_observation`], for a session: redacts the failure and adds the transcript.
pub(super) fn build_session_observation(
    started: Instant,
    session: LineSession<'_>,
    attempt_result: Result<(), Failure>,
) -> Observation {
    // Truncate last: a secret that is cut in two would not be found.
    let attempt_result = attempt_result.map_err(|failure| Failure {
        detail: truncate(&crate::domain::replace_control_chars(&session.transcript.redact(&failure.detail))),
        ..failure
    });
    let transcript = session.transcript.to_capture().filter(|_| attempt_result.is_err());
    let mut observation = build_observation(started, session.connect_trace, attempt_result);
    observation.captures.extend(transcript);
    // A failure in a phase that was not timed gets a duration of zero, so that results list the phase.
    if let Some(phase) = observation.failure.as_ref().map(|failure| failure.phase)
        && observation.phases.micros(phase).is_none()
    {
        observation.phases.set(phase, Duration::ZERO);
    }
    observation
}

/// Truncates `text` to [`MAX_FAILURE_DETAIL_CHARS`] characters.
fn truncate(text: &str) -> String {
    match text.char_indices().nth(MAX_FAILURE_DETAIL_CHARS) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Builds the observation of an attempt since `started`, with the connection of `trace` and the failure of
/// `attempt_result`.
pub(super) fn build_observation(
    started: Instant,
    trace: ConnectionTrace,
    attempt_result: Result<(), Failure>,
) -> Observation {
    let mut observation = Observation { failure: attempt_result.err(), ..Observation::default() };
    observation.phases = trace.phases;
    observation.address = trace.peer_address;
    if let Some(facts) = &trace.tls_facts {
        observation.record_tls_warnings(facts);
    }
    observation.facts.tls = trace.tls_facts;
    observation.may_need_weak_suites = trace.may_need_weak_suites;
    observation.facts.resolved_addresses = trace.resolved_addresses;
    observation.duration = started.elapsed();
    observation
}
