//! One query and what came of it.

use std::net::SocketAddr;

use super::query_plan::Transport;
use crate::domain::{DnsFacts, Failure, FailureKind, HttpFacts, Phase};
use crate::net::ConnectTrace;
use crate::probe::contract::ProbeContext;
use crate::protocol::dns::{DnsQuery, DnsResponse, ReplyMatch, rcode_name};

/// Records that are kept of an answer.
const MAX_ANSWERS: usize = 100;

/// What an attempt has learned so far.
#[derive(Default)]
pub(super) struct DnsState {
    pub(super) trace: ConnectTrace,
    pub(super) facts: DnsFacts,
    pub(super) http: Option<Box<HttpFacts>>,
    pub(super) notes: Vec<String>,
}

/// Keeps what `answer` tells.
pub(super) fn record_response(facts: &mut DnsFacts, answer: &DnsResponse) {
    facts.rcode = rcode_name(answer.rcode);
    facts.authoritative = answer.authoritative;
    facts.authenticated = answer.authenticated;
    facts.signed = answer.is_signed();
    facts.recursion_available = answer.recursion_available;
    facts.truncated |= answer.truncated;
    facts.answer_bytes = u64::try_from(answer.bytes).ok();
    facts.ttl = answer.ttl();
    facts.answers = answer.record_texts(MAX_ANSWERS);
}

/// One question to one address.
pub(super) struct ServerQuery<'a> {
    pub(super) question: &'a DnsQuery,
    pub(super) server: SocketAddr,
    /// The server's name, for its certificate.
    pub(super) host: &'a str,
    pub(super) cx: ProbeContext<'a>,
}

impl ServerQuery<'_> {
    pub(super) async fn over_udp_then_tcp(&self, state: &mut DnsState) -> Result<DnsResponse, Failure> {
        let answer = self.over_udp(state).await?;
        if !answer.truncated {
            return Ok(answer);
        }
        record_response(&mut state.facts, &answer);
        Transport::Tcp.label().clone_into(&mut state.facts.transport);
        let cut = |failure: Failure| Failure {
            detail: format!("over TCP, since the answer over UDP was cut: {}", failure.detail),
            ..failure
        };
        self.over_tcp(state).await.map_err(cut)
    }

    /// The answer in `message`, which came over a connection of its own: whatever else comes on it is a fault
    /// of the server.
    pub(super) fn parse_response(&self, message: &[u8]) -> Result<DnsResponse, Failure> {
        match self.question.match_reply(message) {
            ReplyMatch::Response(answer) => Ok(*answer),
            ReplyMatch::Malformed(what) => Err(malformed_failure(Phase::Transfer, &what)),
            ReplyMatch::Mismatch(stray) => {
                let detail = format!("the message does not answer the question: {stray}");
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
