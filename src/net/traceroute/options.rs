//! How a route is traced, and what comes of it.

use std::time::Duration;

use serde::Serialize;

use super::route::{Route, TracerouteMethod};

/// How a way is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracerouteOptions {
    /// What is sent; `None` sends both and shows the one that came further.
    pub method: Option<TracerouteMethod>,
    /// The farthest hop that is asked, 1 to 64.
    pub max_hops: u8,
    /// Requests a hop, 1 to 10.
    pub queries: u8,
    /// Wait for an answer.
    pub reply_timeout: Duration,
    /// After so many silent hops in a row, what comes behind them counts as silent too.
    pub max_silent_hops: u8,
}

impl Default for TracerouteOptions {
    fn default() -> Self {
        Self {
            method: None,
            max_hops: 30,
            queries: 2,
            reply_timeout: Duration::from_secs(2),
            max_silent_hops: 5,
        }
    }
}

/// What was found of the way to a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Traceroute {
    /// The host as it was named.
    pub host: String,
    /// The way that is shown.
    #[serde(flatten)]
    pub route: Route,
    /// What the other method came to, in a line; empty when only one was asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub other: String,
}
