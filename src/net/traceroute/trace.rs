//! Traceroutes over the network of a location.

use std::net::IpAddr;

use super::options::{RouteOptions, Traced};
use super::prober::Prober;
use super::route::{Route, RouteMethod, better};
use super::walk;
use crate::domain::{Capture, Failure};
use crate::net::deadline::Deadline;
use crate::net::endpoint::{Endpoint, Trace};
use crate::net::stack::Net;

/// Name of the file that a route is kept in.
const FILE: &str = "traceroute.txt";

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
