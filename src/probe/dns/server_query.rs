//! One query to one address of a name server.

use std::net::SocketAddr;

use super::query_plan::Transport;
use crate::domain::{DnsFacts, Failure, FailureKind, HttpFacts, Phase};
use crate::net::ConnectTrace;
use crate::probe::contract::ProbeContext;
use crate::protocol::dns::{DnsQuery, DnsResponse, ReplyMatch, rcode_name};

/// Maximum number of records kept of a response.
const MAX_ANSWERS: usize = 100;

/// What an attempt has recorded so far, over all its queries.
#[derive(Default)]
pub(super) struct DnsState {
    pub(super) trace: ConnectTrace,
    pub(super) facts: DnsFacts,
    pub(super) http: Option<Box<HttpFacts>>,
    pub(super) notes: Vec<String>,
}

/// Records the facts of `response`.
pub(super) fn record_response(facts: &mut DnsFacts, response: &DnsResponse) {
    facts.rcode = rcode_name(response.rcode);
    facts.authoritative = response.authoritative;
    facts.authenticated = response.authenticated;
    facts.signed = response.is_signed();
    facts.recursion_available = response.recursion_available;
    facts.truncated |= response.truncated;
    facts.answer_bytes = u64::try_from(response.bytes).ok();
    facts.ttl = response.ttl();
    facts.answers = response.record_texts(MAX_ANSWERS);
}

/// A query to one address.
pub(super) struct ServerQuery<'a> {
    pub(super) question: &'a DnsQuery,
    pub(super) server: SocketAddr,
    /// The server's name, to verify its certificate.
    pub(super) host: &'a str,
    pub(super) cx: ProbeContext<'a>,
}

impl ServerQuery<'_> {
    pub(super) async fn over_udp_then_tcp(&self, state: &mut DnsState) -> Result<DnsResponse, Failure> {
        let response = self.over_udp(state).await?;
        if !response.truncated {
            return Ok(response);
        }
        record_response(&mut state.facts, &response);
        Transport::Tcp.label().clone_into(&mut state.facts.transport);
        let with_reason = |failure: Failure| Failure {
            detail: format!("over TCP, since the answer over UDP was cut: {}", failure.detail),
            ..failure
        };
        self.over_tcp(state).await.map_err(with_reason)
    }

    /// Parses the response in `message`. The connection serves this query only, so any other message is an error of the
    /// server.
    pub(super) fn parse_response(&self, message: &[u8]) -> Result<DnsResponse, Failure> {
        match self.question.match_reply(message) {
            ReplyMatch::Response(response) => Ok(*response),
            ReplyMatch::Malformed(what) => Err(malformed_failure(Phase::Transfer, &what)),
            ReplyMatch::Mismatch(mismatch) => {
                let detail = format!("the message does not answer the question: {mismatch}");
                Err(malformed_failure(Phase::Transfer, &detail))
            }
        }
    }

    pub(super) fn encode_query(&self) -> Result<Vec<u8>, Failure> {
        let encoded = self.question.encode();
        encoded.map_err(|error| Failure::new(Phase::Prepare, FailureKind::Internal, error))
    }
}

pub(super) fn malformed_failure(phase: Phase, what: &str) -> Failure {
    Failure::new(phase, FailureKind::ResponseInvalid, what)
}
