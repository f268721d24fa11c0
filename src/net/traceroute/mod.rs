//! The way to an address, hop by hop, over UDP or ICMP echo (issue 4 "Traceroute on error").
//!
//! Requests leave with growing hop limits; routers that let one die say so, and the kernel hands what they say
//! to the socket that sent it (`IP_RECVERR`). So the UDP form needs no privilege, and the ICMP form none where
//! the sysctl `net.ipv4.ping_group_range` lets this process have a socket for echo requests.

mod packet;
mod prober;
mod route;
mod text;
mod walk;

use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use self::prober::Prober;
use self::route::better;
pub use self::route::{Answer, Hop, Route, RouteEnd, RouteMethod};
use super::{Deadline, Endpoint, Net, Trace};
use crate::domain::{Capture, Failure};

/// Name of the file that a route is kept in.
const FILE: &str = "traceroute.txt";

/// How a way is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteOptions {
    /// What is sent; `None` sends both and shows the one that came further.
    pub method: Option<RouteMethod>,
    /// The farthest hop that is asked, 1 to 64.
    pub most_hops: u8,
    /// Requests a hop, 1 to 10.
    pub queries: u8,
    /// Wait for an answer.
    pub wait: Duration,
    /// After so many silent hops in a row, what comes behind them counts as silent too.
    pub silent_hops: u8,
}

impl Default for RouteOptions {
    fn default() -> Self {
        Self { method: None, most_hops: 30, queries: 2, wait: Duration::from_secs(2), silent_hops: 5 }
    }
}

/// What was found of the way to a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Traced {
    /// The host as it was named.
    pub host: String,
    /// The way that is shown.
    #[serde(flatten)]
    pub route: Route,
    /// What the other method came to, in a line; empty when only one was asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub other: String,
}

impl Net {
    /// Traces the way to `to`: to its pinned address, or to the first that its name resolves to and the egress
    /// policy permits. What was found until `deadline` is answered then. Fails as a check does that does not
    /// get so far, and when the host permits no socket for what `options` ask for.
    pub async fn traceroute(
        &self,
        to: &Endpoint,
        options: RouteOptions,
        deadline: Deadline,
    ) -> Result<Traced, Failure> {
        let mut trace = Trace::default();
        let addresses = self.resolve(to, deadline, &mut trace).await?;
        let address = self.permitted(&addresses, &mut trace)?[0].to_canonical();
        let one = |method| self.route(address, method, options, deadline);
        let (route, other) = match options.method {
            Some(method) => (one(method).await?, String::new()),
            None => better(tokio::join!(one(RouteMethod::Udp), one(RouteMethod::Icmp)))?,
        };
        Ok(Traced { host: to.host.to_string(), route, other })
    }

    /// [`Self::traceroute`] as a file for people, also when it came to nothing: then it says why.
    pub async fn traceroute_file(&self, to: &Endpoint, deadline: Deadline) -> Capture {
        let text = match self.traceroute(to, RouteOptions::default(), deadline).await {
            Ok(traced) => traced.to_string(),
            Err(failure) => format!("traceroute to {}: {failure}\n", to.host),
        };
        Capture::new(FILE, "text/plain; charset=utf-8", text.as_bytes())
    }

    async fn route(
        &self,
        to: IpAddr,
        method: RouteMethod,
        options: RouteOptions,
        deadline: Deadline,
    ) -> Result<Route, Failure> {
        let prober = Prober::open(self.source(), to, method).map_err(|error| match method {
            RouteMethod::Udp => self.dial_failure((to, 0).into(), &error),
            RouteMethod::Icmp => self.echo_refused(to, &error),
        })?;
        walk::walk(&prober, options, deadline)
            .await
            .map_err(|error| self.dial_failure((to, 0).into(), &error))
    }
}
