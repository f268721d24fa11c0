//! What was found of a way: its hops, and how it ended.

use std::net::IpAddr;

use serde::Serialize;

use crate::domain::Failure;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TracerouteMethod {
    /// Datagrams to ports that nobody listens on, from 33434 on; the target says that they are closed.
    Udp,
    /// Echo requests.
    Icmp,
}

impl TracerouteMethod {
    /// What people read.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Icmp => "ICMP",
        }
    }
}

/// The way to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// Where it leads.
    pub address: IpAddr,
    /// What was sent.
    pub method: TracerouteMethod,
    /// Kind of the socket: `dgram` without privilege, `raw` with it.
    pub socket: &'static str,
    /// Its hops, the first router first. The last is where it ended.
    pub hops: Vec<RouteHop>,
    /// How it ended.
    pub end: RouteEnd,
}

/// One router, or several that take turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RouteHop {
    /// What came for each request, `None` for silence.
    pub answers: Vec<Option<HopReply>>,
}

/// What somebody said of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopReply {
    /// Who.
    pub from: IpAddr,
    /// Microseconds from the request to it.
    pub rtt_us: u64,
    /// Why the request went no further, when its hop limit was not the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'static str>,
    /// Whether it is the target's own.
    #[serde(skip)]
    pub(super) reached: bool,
}

/// How a way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteEnd {
    /// Time was up.
    OutOfTime,
    /// The last hops were silent.
    Silent,
    /// It is longer than was asked for.
    MostHops,
    /// Somebody said that it leads no further.
    Refused,
    /// The target answered.
    Reached,
}

impl RouteEnd {
    /// What people read.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutOfTime => "time was up before the way was known",
            Self::Silent => "nobody answers from here on",
            Self::MostHops => "the way is longer than was asked for",
            Self::Refused => "the way ends here",
            Self::Reached => "the target answered",
        }
    }
}

impl RouteHop {
    /// Whether nobody answered.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.answers.iter().all(Option::is_none)
    }
}

impl Route {
    /// How far it is known: the last hop that answered, from 1; 0 for none.
    #[must_use]
    pub fn known_hops(&self) -> usize {
        self.hops.iter().rposition(|hop| !hop.is_silent()).map_or(0, |at| at + 1)
    }

    /// The last answers, which say how it ended.
    pub(super) fn last_refused_reply(&self) -> Option<&HopReply> {
        self.hops.last()?.answers.iter().flatten().find(|answer| answer.refused.is_some())
    }
}

/// Of two ways the one that came further, and what the other came to. Fails when both could not be tried.
pub(super) fn choose_route(
    both: (Result<Route, Failure>, Result<Route, Failure>),
) -> Result<(Route, String), Failure> {
    let told = |route: &Route| format!("{}: {}", route.method.as_str(), route.summary());
    match both {
        (Ok(first), Ok(second)) => {
            let rank = |route: &Route| (route.end == RouteEnd::Reached, route.known_hops());
            let (shown, other) = if rank(&second) > rank(&first) { (second, first) } else { (first, second) };
            let other = told(&other);
            Ok((shown, other))
        }
        (Ok(only), Err(failure)) | (Err(failure), Ok(only)) => {
            let first_line = failure.detail.lines().next().unwrap_or_default().to_owned();
            Ok((only, first_line))
        }
        (Err(failure), Err(_)) => Err(failure),
    }
}
