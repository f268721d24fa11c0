//! What the kinds that ask one host and port have in common.

use serde_json::Value;
use tokio::time::Instant;

use crate::model::{Document, Failure, Observation};
use crate::net::{Endpoint, Family, Trace};

/// The host and port of `document`: `hostname`, and `port` or `default_port`. With `resolve_dns` false
/// the address in `ipv4` is used instead of asking for the name (behaviour.md 4, Addresses).
pub(super) fn endpoint(document: &Document, default_port: u16) -> Endpoint {
    let hostname = document.text("hostname").unwrap_or_default().trim();
    let port = u16::try_from(document.number("port")).ok().filter(|&port| port > 0).unwrap_or(default_port);
    let mut endpoint = Endpoint::new(hostname, port);
    if !is_on(document, "resolve_dns") {
        endpoint.pinned = document.text("ipv4").and_then(|text| text.trim().parse().ok());
    }
    endpoint.family = Family::Any;
    endpoint
}

/// Whether a switch that is on by default is on.
pub(super) fn is_on(document: &Document, field: &str) -> bool {
    document.value(field) != Some(&Value::Bool(false))
}

/// What was seen since `started`: the way in `trace`, and why it ended when it failed.
pub(super) fn observed(started: Instant, trace: Trace, outcome: Result<(), Failure>) -> Observation {
    let mut seen = Observation { failure: outcome.err(), ..Observation::default() };
    seen.phases = trace.phases;
    seen.address = trace.address;
    seen.facts.tls = trace.tls;
    seen.facts.resolved = trace.resolved;
    seen.total = started.elapsed();
    seen
}
