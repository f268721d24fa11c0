//! The probe of name servers.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;
use std::sync::Arc;

use hickory_proto::rr::RecordType;
use tokio::time::Instant;

use super::evaluate::{evaluate_response, has_no_records};
use super::query_plan::{QueryPlan, Transport};
use super::server_query::{DnsAttemptState, ServerQuery, record_response_facts};
use crate::domain::{Failure, FailureKind, Observation, Phase, WarningKind};
use crate::net::{Deadline, Endpoint, primary_failure};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::connect_settings::server_verification_options;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::probe::service_target::{build_endpoint, build_observation};
use crate::protocol::dns::DnsResponse;
use crate::schema::typed::connection::PortSettings;
use crate::schema::typed::name_server::NameServerSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};

#[derive(Debug)]
struct DnsProbe {
    endpoint: Endpoint,
    /// The query, or why this build cannot send it.
    plan: Result<QueryPlan, Failure>,
    /// Values that must be in the response; additional values do not matter.
    expected_values: Vec<String>,
}

/// Builds the probe of a validated `name-server` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match DnsProbe::new(document, context) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

impl DnsProbe {
    fn new(document: &MonitorDocument, context: &ProbeBuildContext) -> Result<Self, InvalidFieldValue> {
        let server_settings: NameServerSettings<'_> = document.deserialize()?;
        let port = document.deserialize::<PortSettings>()?.port.map(NonZeroU16::get);
        let default_port = Transport::from_settings(server_settings.transport).default_port();
        Ok(Self {
            endpoint: build_endpoint(
                server_settings.hostname,
                port.unwrap_or(default_port),
                &document.deserialize()?,
            ),
            plan: QueryPlan::new(&server_settings, server_verification_options(document)?, context),
            expected_values: server_settings.expected_answers.iter().map(|&value| value.to_owned()).collect(),
        })
    }
}

impl Probe for DnsProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        Some(&self.endpoint.host)
    }
}

impl DnsProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut state = DnsAttemptState::default();
        let query_result = match &self.plan {
            Ok(plan) => self.query_and_evaluate(plan, cx, &mut state).await,
            Err(failure) => Err(failure.clone()),
        };
        let mut observation = build_observation(started, state.connect_trace, query_result);
        if !state.dns_facts.query_name.is_empty() {
            observation.facts.dns = Some(Box::new(state.dns_facts));
        }
        observation.facts.http = state.http_facts;
        for note in state.warnings {
            observation.record_warning(WarningKind::Informational, note);
        }
        observation
    }

    async fn query_and_evaluate(
        &self,
        plan: &QueryPlan,
        cx: ProbeContext<'_>,
        state: &mut DnsAttemptState,
    ) -> Result<(), Failure> {
        let addresses = cx.net.resolve(&self.endpoint, cx.deadline, &mut state.connect_trace).await?;
        let addresses =
            cx.net.allowed_addresses(&addresses, Some(self.endpoint.port), &mut state.connect_trace)?;
        let server_addresses = sort_routed_first(cx, &addresses, self.endpoint.port);
        let mut record_type = plan.record_type;
        let (server, mut response) = self.query_until_response(plan, &server_addresses, cx, state).await?;
        if plan.falls_back_to_aaaa && has_no_records(&response, record_type) {
            record_type = RecordType::AAAA;
            response = self.query(plan, record_type, server, cx, state).await?;
        }
        let queried_types = if record_type == plan.record_type {
            record_type.to_string()
        } else {
            format!("{}` or `{record_type}", plan.record_type)
        };
        evaluate_response(&response, record_type, &queried_types, plan.require_dnssec, &self.expected_values)
    }

    /// Queries the addresses in order until one responds, whatever the response is. The remaining time is shared
    /// equally between the remaining addresses.
    async fn query_until_response(
        &self,
        plan: &QueryPlan,
        server_addresses: &[SocketAddr],
        cx: ProbeContext<'_>,
        state: &mut DnsAttemptState,
    ) -> Result<(SocketAddr, DnsResponse), Failure> {
        let (mut failures, mut failure_notes) = (Vec::new(), Vec::new());
        for (index, &server) in server_addresses.iter().enumerate() {
            state.connect_trace.peer_address = Some(server);
            let deadline = match u32::try_from(server_addresses.len() - index) {
                Ok(remaining) if remaining > 1 => Deadline::within(cx.deadline.remaining() / remaining),
                _ => cx.deadline,
            };
            match self.query(plan, plan.record_type, server, ProbeContext { deadline, ..cx }, state).await {
                Ok(response) => {
                    state.warnings.append(&mut failure_notes);
                    return Ok((server, response));
                }
                Err(failure) if is_retryable(failure.kind) => {
                    failure_notes.push(format!("`{server}` was queried first: {failure}"));
                    failures.push(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(if failures.len() == 1 { failures.remove(0) } else { primary_failure(failures) })
    }

    async fn query(
        &self,
        plan: &QueryPlan,
        record_type: RecordType,
        server_address: SocketAddr,
        cx: ProbeContext<'_>,
        state: &mut DnsAttemptState,
    ) -> Result<DnsResponse, Failure> {
        let dns_query = plan.build_query(record_type);
        state.dns_facts.query_name = plan.queried_name.to_string();
        state.dns_facts.record_type = record_type.to_string();
        state.dns_facts.truncated = false;
        plan.transport.label().clone_into(&mut state.dns_facts.transport);
        let server_query =
            ServerQuery { query: &dns_query, server_address, server_name: &self.endpoint.host, cx };
        let response = match plan.transport {
            Transport::Udp => server_query.over_udp_then_tcp(state).await,
            Transport::Tcp => server_query.over_tcp(state).await,
            Transport::Tls => server_query.over_tls(&plan.tls_options, state).await,
            Transport::Https => server_query.over_https(plan, state).await,
        }?;
        record_response_facts(&mut state.dns_facts, &response);
        if response.truncated {
            let detail =
                format!("received {} bytes over {}", response.message_bytes, state.dns_facts.transport);
            return Err(Failure::new(Phase::Transfer, FailureKind::DnsTruncated, detail));
        }
        Ok(response)
    }
}

/// Returns the addresses of the server, those with a route first: over UDP, addresses cannot be raced.
fn sort_routed_first(cx: ProbeContext<'_>, addresses: &[IpAddr], port: u16) -> Vec<SocketAddr> {
    let mut server_addresses: Vec<SocketAddr> =
        addresses.iter().map(|&ip| SocketAddr::new(ip, port)).collect();
    if server_addresses.len() > 1 {
        server_addresses.sort_by_cached_key(|&server| cx.net.open_udp_socket(server).is_err());
    }
    server_addresses
}

/// Whether another address of the server may succeed.
fn is_retryable(kind: FailureKind) -> bool {
    use FailureKind as Kind;
    matches!(
        kind,
        Kind::TimedOut
            | Kind::ConnectRefused
            | Kind::ConnectReset
            | Kind::Unreachable
            | Kind::NoRoute
            | Kind::NoSourceAddress
    )
}
