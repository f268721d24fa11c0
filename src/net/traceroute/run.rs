//! Runs traceroutes in the network of a location.

use std::net::IpAddr;

use super::options::{TracerouteOptions, TracerouteResult};
use super::route::{Route, TracerouteMethod, choose_longer_route};
use super::trace_socket::TraceSocket;
use super::tracer;
use crate::domain::{CapturedFile, Failure, TRACEROUTE_FILE_NAME};
use crate::net::deadline::Deadline;
use crate::net::endpoint::{ConnectionTrace, Endpoint};
use crate::net::stack::Net;

impl Net {
    /// Traces the route to `endpoint`: to its pinned address, or to the first resolved address that the egress policy
    /// allows. At `deadline` returns the result so far. Fails like a check of `endpoint` before the connection, and
    /// when the host permits no socket for `options`.
    pub async fn traceroute(
        &self,
        endpoint: &Endpoint,
        options: TracerouteOptions,
        deadline: Deadline,
    ) -> Result<TracerouteResult, Failure> {
        let mut trace = ConnectionTrace::default();
        let addresses = self.resolve(endpoint, deadline, &mut trace).await?;
        let address = self.allowed_addresses(&addresses, None, &mut trace)?[0].to_canonical();
        let trace_with = |method| self.trace_with_method(address, method, options, deadline);
        let (route, other_summary) = match options.method {
            Some(method) => (trace_with(method).await?, String::new()),
            None => choose_longer_route(tokio::join!(
                trace_with(TracerouteMethod::Udp),
                trace_with(TracerouteMethod::Icmp)
            ))?,
        };
        Ok(TracerouteResult { host: endpoint.host.to_string(), route, other_method_summary: other_summary })
    }

    /// Runs [`Self::traceroute`] and returns its text, or its failure, as a file.
    pub async fn traceroute_to_capture(&self, endpoint: &Endpoint, deadline: Deadline) -> CapturedFile {
        let text = match self.traceroute(endpoint, TracerouteOptions::default(), deadline).await {
            Ok(traceroute) => traceroute.to_string(),
            Err(failure) => format!("traceroute to {}: {failure}\n", endpoint.host),
        };
        CapturedFile::new(TRACEROUTE_FILE_NAME, "text/plain; charset=utf-8", text.as_bytes())
    }

    async fn trace_with_method(
        &self,
        target_address: IpAddr,
        method: TracerouteMethod,
        options: TracerouteOptions,
        deadline: Deadline,
    ) -> Result<Route, Failure> {
        let socket =
            TraceSocket::open(self.source_binding(), target_address, method).map_err(
                |error| match method {
                    TracerouteMethod::Udp => self.socket_failure((target_address, 0).into(), &error),
                    TracerouteMethod::Icmp => self.echo_socket_failure(target_address, &error),
                },
            )?;
        tracer::trace(&socket, options, deadline)
            .await
            .map_err(|error| self.socket_failure((target_address, 0).into(), &error))
    }
}
