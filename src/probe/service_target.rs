//! What the kinds that ask one host and port have in common.

use std::net::IpAddr;
use std::num::NonZeroU16;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{Failure, Observation};
use crate::net::{AddressFamily, ConnectTrace, Endpoint};
use crate::protocol::LineSession;
use crate::schema::typed::connection::AddressSettings;

/// Characters of a detail that are kept. Servers can be long-winded.
const DETAIL: usize = 400;

/// The host and port of a monitor. With `resolve_dns` false the address in `ipv4` is used instead of asking for the
/// name (behaviour.md 4, Addresses).
pub(super) fn endpoint(hostname: &str, port: u16, address: &AddressSettings<'_>) -> Endpoint {
    let mut endpoint = Endpoint::new(hostname.trim(), port);
    endpoint.pinned_address = pinned(address);
    endpoint.family = AddressFamily::Any;
    endpoint
}

fn pinned(address: &AddressSettings<'_>) -> Option<IpAddr> {
    address.ipv4.filter(|_| !address.resolve_dns).and_then(|text| text.trim().parse().ok())
}

/// Where a monitor of a service goes whose host may carry a scheme and a port (behaviour.md 1).
#[derive(Debug)]
pub(super) struct ServiceEndpoint {
    /// Host and port, with the address when it is pinned.
    pub(super) endpoint: Endpoint,
    /// Whether TLS comes first: by the scheme, or by the port.
    pub(super) implicit_tls: bool,
}

/// The service that `text` names. A port written behind the host goes before `port`, and that before the default of the
/// scheme: `ports` are those without and with implicit TLS. The last one of `schemes` is that of implicit TLS.
pub(super) fn parse_service(
    text: &str,
    port: Option<NonZeroU16>,
    address: Option<&AddressSettings<'_>>,
    schemes: &'static [&'static str],
    ports: (u16, u16),
) -> ServiceEndpoint {
    let text = text.trim();
    let written = crate::syntax::text_format::parse_service_address(text, schemes);
    let scheme = written.as_ref().and_then(|service| service.scheme);
    let secure_scheme = scheme.is_some() && scheme == schemes.last().copied();
    let port = written.as_ref().and_then(|service| service.port).or(port.map(NonZeroU16::get));
    let port = port.unwrap_or(if secure_scheme { ports.1 } else { ports.0 });
    let mut endpoint = Endpoint::new(written.as_ref().map_or(text, |service| service.host), port);
    endpoint.pinned_address = address.and_then(pinned);
    // A scheme that says otherwise goes before the usual meaning of the port.
    ServiceEndpoint { endpoint, implicit_tls: secure_scheme || scheme.is_none() && port == ports.1 }
}

/// As [`build_observation`], of a session: what failed is told without secrets, and with what was said.
pub(super) fn session_observation(
    started: Instant,
    session: LineSession<'_>,
    outcome: Result<(), Failure>,
) -> Observation {
    // Cut last: a secret that was cut in two would not be found.
    let outcome = outcome.map_err(|failure| Failure {
        detail: truncate(&crate::domain::replace_control_chars(&session.transcript.redact(&failure.detail))),
        ..failure
    });
    let transcript = session.transcript.to_capture().filter(|_| outcome.is_err());
    let mut observation = build_observation(started, session.trace, outcome);
    observation.captures.extend(transcript);
    // What fails by what was said before it has taken no time.
    if let Some(phase) = observation.failure.as_ref().map(|failure| failure.phase)
        && observation.phases.micros(phase).is_none()
    {
        observation.phases.set(phase, Duration::ZERO);
    }
    observation
}

/// `text` with at most [`DETAIL`] characters.
fn truncate(text: &str) -> String {
    match text.char_indices().nth(DETAIL) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// What was seen since `started`: the way in `trace`, and why it ended when it failed.
pub(super) fn build_observation(
    started: Instant,
    trace: ConnectTrace,
    outcome: Result<(), Failure>,
) -> Observation {
    let mut observation = Observation { failure: outcome.err(), ..Observation::default() };
    observation.phases = trace.phases;
    observation.address = trace.address;
    observation.facts.tls = trace.tls;
    observation.facts.resolved = trace.resolved;
    observation.total = started.elapsed();
    observation
}
