//! A traced route: its hops, and how it ended.

use std::net::IpAddr;

use serde::Serialize;

use crate::domain::Failure;

/// The method of a traceroute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TracerouteMethod {
    /// Datagrams to ports from 33434 on; the target reports that they are closed.
    Udp,
    /// Echo requests.
    Icmp,
}

impl TracerouteMethod {
    /// Returns the display name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Icmp => "ICMP",
        }
    }
}

/// The route to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The target address.
    #[serde(rename = "address")]
    pub target_address: IpAddr,
    /// The method.
    pub method: TracerouteMethod,
    /// Kind of the socket: `dgram` without privilege, `raw` with it.
    #[serde(rename = "socket")]
    pub socket_kind: &'static str,
    /// The hops, the first router first. The last is where the trace ended.
    pub hops: Vec<RouteHop>,
    /// How the trace ended.
    pub end: RouteEnd,
}

/// One router, or several that alternate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RouteHop {
    /// The reply to each request, `None` without reply.
    #[serde(rename = "answers")]
    pub replies: Vec<Option<HopReply>>,
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopReply {
    /// The sender.
    #[serde(rename = "from")]
    pub sender: IpAddr,
    /// Microseconds from the request to the reply.
    pub rtt_us: u64,
    /// Why the request was not forwarded, if its hop limit was not the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "refused")]
    pub refusal_reason: Option<&'static str>,
    /// Whether it shows that the request reached the target.
    #[serde(skip)]
    pub(super) is_from_target: bool,
}

/// How a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteEnd {
    /// The deadline was reached.
    #[serde(rename = "out_of_time")]
    TimedOut,
    /// The last hops did not reply.
    #[serde(rename = "silent")]
    NoReply,
    /// The route has more hops than requested.
    #[serde(rename = "most_hops")]
    MaxHops,
    /// A router refused to forward.
    Refused,
    /// The target replied.
    Reached,
}

impl RouteEnd {
    /// Returns the display text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "the deadline was reached before the route was complete",
            Self::NoReply => "no replies from here on",
            Self::MaxHops => "the route has more hops than requested",
            Self::Refused => "the route ends here",
            Self::Reached => "the target replied",
        }
    }
}

impl RouteHop {
    /// Whether no request was answered.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.replies.iter().all(Option::is_none)
    }
}

impl Route {
    /// Returns the number of the last hop that replied, from 1; 0 for none. Hops before it may be silent.
    #[must_use]
    pub fn last_replying_hop(&self) -> usize {
        self.hops.iter().rposition(|hop| !hop.is_silent()).map_or(0, |index| index + 1)
    }

    /// Returns the refusal of the last hop, which explains the end.
    pub(super) fn last_refusal(&self) -> Option<&HopReply> {
        self.hops.last()?.replies.iter().flatten().find(|reply| reply.refusal_reason.is_some())
    }
}

/// Returns the route that got further, and a summary of the other. Fails when both methods failed.
pub(super) fn choose_longer_route(
    results: (Result<Route, Failure>, Result<Route, Failure>),
) -> Result<(Route, String), Failure> {
    let summarise = |route: &Route| format!("{}: {}", route.method.as_str(), route.summary());
    match results {
        (Ok(first), Ok(second)) => {
            let rank = |route: &Route| (route.end == RouteEnd::Reached, route.last_replying_hop());
            let (better, other) =
                if rank(&second) > rank(&first) { (second, first) } else { (first, second) };
            let other = summarise(&other);
            Ok((better, other))
        }
        (Ok(only), Err(failure)) | (Err(failure), Ok(only)) => {
            let first_line = failure.detail.lines().next().unwrap_or_default().to_owned();
            Ok((only, first_line))
        }
        (Err(failure), Err(_)) => Err(failure),
    }
}
