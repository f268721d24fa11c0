//! One query to one address of a name server.

use std::net::SocketAddr;

use super::query_plan::Transport;
use crate::domain::{DnsFacts, Failure, FailureKind, HttpFacts, Phase};
use crate::net::ConnectionTrace;
use crate::probe::probe_trait::ProbeContext;
use crate::protocol::dns::{DnsQuery, DnsResponse, ReplyMatch, rcode_name};

/// Maximum number of records kept of a response.
const MAX_RECORDS: usize = 100;

/// What an attempt has recorded so far, over all its queries.
#[derive(Default)]
pub(super) struct DnsAttemptState {
    pub(super) connect_trace: ConnectionTrace,
    pub(super) dns_facts: DnsFacts,
    pub(super) http_facts: Option<Box<HttpFacts>>,
    pub(super) warnings: Vec<String>,
}

/// Records the facts of `response`.
pub(super) fn record_response_facts(facts: &mut DnsFacts, response: &DnsResponse) {
    facts.rcode = rcode_name(response.rcode);
    facts.authoritative = response.authoritative;
    facts.authenticated_data = response.authenticated_data;
    facts.signed = response.is_signed();
    facts.recursion_available = response.recursion_available;
    facts.truncated |= response.truncated;
    facts.response_bytes = u64::try_from(response.message_bytes).ok();
    facts.min_ttl_seconds = response.min_ttl();
    facts.answer_records = response.record_texts(MAX_RECORDS);
}

/// A query to one address.
pub(super) struct ServerQuery<'a> {
    pub(super) query: &'a DnsQuery,
    pub(super) server_address: SocketAddr,
    /// The server's name, to verify its certificate.
    pub(super) server_name: &'a str,
    pub(super) cx: ProbeContext<'a>,
}

impl ServerQuery<'_> {
    pub(super) async fn over_udp_then_tcp(
        &self,
        state: &mut DnsAttemptState,
    ) -> Result<DnsResponse, Failure> {
        let response = self.over_udp(state).await?;
        if !response.truncated {
            return Ok(response);
        }
        record_response_facts(&mut state.dns_facts, &response);
        Transport::Tcp.label().clone_into(&mut state.dns_facts.transport);
        let with_reason = |failure: Failure| Failure {
            detail: format!("over TCP, since the answer over UDP was cut: {}", failure.detail),
            ..failure
        };
        self.over_tcp(state).await.map_err(with_reason)
    }

    /// Parses the response in `message`. The connection serves this query only, so any other message is an error of the
    /// server.
    pub(super) fn parse_response(&self, message: &[u8]) -> Result<DnsResponse, Failure> {
        match self.query.match_reply(message) {
            ReplyMatch::Response(response) => Ok(*response),
            ReplyMatch::Malformed(problem) => Err(invalid_response_failure(Phase::Transfer, &problem)),
            ReplyMatch::Mismatch(mismatch) => {
                let detail = format!("the message does not answer the question: {mismatch}");
                Err(invalid_response_failure(Phase::Transfer, &detail))
            }
        }
    }

    pub(super) fn encode_query(&self) -> Result<Vec<u8>, Failure> {
        let encoded = self.query.encode();
        encoded.map_err(|error| Failure::new(Phase::Prepare, FailureKind::Internal, error))
    }
}

pub(super) fn invalid_response_failure(phase: Phase, reason: &str) -> Failure {
    Failure::new(phase, FailureKind::ResponseInvalid, reason)
}
