//! Runs traceroutes in the network of a location.

use std::net::IpAddr;

use super::options::{Traceroute, TracerouteOptions};
use super::route::{Route, TracerouteMethod, choose_longer_route};
use super::trace_socket::TraceSocket;
use super::tracer;
use crate::domain::{Capture, Failure};
use crate::net::deadline::Deadline;
use crate::net::endpoint::{ConnectionTrace, Endpoint};
use crate::net::stack::Net;

/// File name of a captured route.
const CAPTURE_FILE_NAME: &str = "traceroute.txt";

impl Net {
    /// Traces the route to `to`: to its pinned address, or to the first resolved address that the egress policy allows.
    /// At `deadline` returns the result so far. Fails like a check of `to` before the connection, and when the host
    /// permits no socket for `options`.
    pub async fn traceroute(
        &self,
        to: &Endpoint,
        options: TracerouteOptions,
        deadline: Deadline,
    ) -> Result<Traceroute, Failure> {
        let mut trace = ConnectionTrace::default();
        let addresses = self.resolve(to, deadline, &mut trace).await?;
        let address = self.allowed_addresses(&addresses, None, &mut trace)?[0].to_canonical();
        let trace_with = |method| self.trace_with_method(address, method, options, deadline);
        let (route, other) = match options.method {
            Some(method) => (trace_with(method).await?, String::new()),
            None => choose_longer_route(tokio::join!(
                trace_with(TracerouteMethod::Udp),
                trace_with(TracerouteMethod::Icmp)
            ))?,
        };
        Ok(Traceroute { host: to.host.to_string(), route, other_method_summary: other })
    }

    /// Runs [`Self::traceroute`] and returns its text, or its failure, as a file.
    pub async fn traceroute_to_capture(&self, to: &Endpoint, deadline: Deadline) -> Capture {
        let text = match self.traceroute(to, TracerouteOptions::default(), deadline).await {
            Ok(traceroute) => traceroute.to_string(),
            Err(failure) => format!("traceroute to {}: {failure}\n", to.host),
        };
        Capture::new(CAPTURE_FILE_NAME, "text/plain; charset=utf-8", text.as_bytes())
    }

    async fn trace_with_method(
        &self,
        to: IpAddr,
        method: TracerouteMethod,
        options: TracerouteOptions,
        deadline: Deadline,
    ) -> Result<Route, Failure> {
        let prober = TraceSocket::open(self.source_binding(), to, method).map_err(|error| match method {
            TracerouteMethod::Udp => self.socket_failure((to, 0).into(), &error),
            TracerouteMethod::Icmp => self.echo_socket_failure(to, &error),
        })?;
        tracer::trace(&prober, options, deadline)
            .await
            .map_err(|error| self.socket_failure((to, 0).into(), &error))
    }
}
