//! Options and result of a traceroute.

use std::time::Duration;

use serde::Serialize;

use super::route::{Route, TracerouteMethod};

/// Options of a traceroute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracerouteOptions {
    /// The method; `None` uses both and returns the route that got further.
    pub method: Option<TracerouteMethod>,
    /// The highest hop limit, 1 to 64.
    pub max_hops: u8,
    /// Requests per hop, 1 to 10.
    pub requests_per_hop: u8,
    /// How long a reply is waited for.
    pub reply_timeout: Duration,
    /// After this many silent hops in a row, the trace ends.
    pub max_silent_hops: u8,
}

impl Default for TracerouteOptions {
    fn default() -> Self {
        Self {
            method: None,
            max_hops: 30,
            requests_per_hop: 2,
            reply_timeout: Duration::from_secs(2),
            max_silent_hops: 5,
        }
    }
}

/// The traced route to a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracerouteResult {
    /// The host as requested.
    pub host: String,
    /// The route of the better method.
    #[serde(flatten)]
    pub route: Route,
    /// The result of the other method, in one line; empty when only one was used.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "other")]
    pub other_method_summary: String,
}
