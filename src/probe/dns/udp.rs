//! A question over UDP.

use std::io;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::Instant;

use super::server_query::{DnsState, ServerQuery, malformed_failure};
use crate::domain::{Failure, Phase};
use crate::protocol::dns::{DnsResponse, MAX_UDP_PAYLOAD, Mismatch, ReplyMatch};

/// Shortest wait before the question is sent again.
const MIN_RESEND_INTERVAL: Duration = Duration::from_secs(1);
/// Bytes of a datagram that are read; more than is asked for, as some servers send more.
const BUFFER_BYTES: usize = 4096;
const _: () = assert!(BUFFER_BYTES > MAX_UDP_PAYLOAD as usize);

/// Datagrams that came and answered nothing.
#[derive(Default)]
struct MismatchCount {
    count: u32,
    last: Option<Mismatch>,
}

impl ServerQuery<'_> {
    /// Sends the question until it is answered. Whatever is no answer to it is passed over, as it may have
    /// come from somebody who guesses; the socket itself takes datagrams of the server only. All of it is the
    /// wait for the answer.
    pub(super) async fn over_udp(&self, state: &mut DnsState) -> Result<DnsResponse, Failure> {
        let query = self.encode_query()?;
        let started = Instant::now();
        let socket =
            self.cx.net.udp_socket(self.server).map_err(|failure| Failure { phase: Phase::Send, ..failure });
        state.trace.phases.add(Phase::Send, started.elapsed());
        let started = Instant::now();
        let response = self.query_udp(&socket?, &query, &mut state.notes).await;
        state.trace.phases.add(Phase::FirstByte, started.elapsed());
        response
    }

    async fn query_udp(
        &self,
        socket: &UdpSocket,
        query: &[u8],
        notes: &mut Vec<String>,
    ) -> Result<DnsResponse, Failure> {
        let deadline = self.cx.deadline;
        let lost = |error: &io::Error| Failure {
            phase: Phase::FirstByte,
            ..self.cx.net.dial_failure(self.server, error)
        };
        let timeout = MIN_RESEND_INTERVAL.max(deadline.remaining() / 3);
        let mut buffer = vec![0; BUFFER_BYTES];
        let (mut sent, mut strays) = (0_u32, MismatchCount::default());
        while !deadline.is_expired() {
            socket.send(query).await.map_err(|error| lost(&error))?;
            sent += 1;
            let until = deadline.at.min(Instant::now() + timeout);
            while let Ok(received) = tokio::time::timeout_at(until, socket.recv(&mut buffer)).await {
                let length = received.map_err(|error| lost(&error))?;
                match self.question.match_reply(&buffer[..length]) {
                    ReplyMatch::Mismatch(stray) => {
                        strays.count = strays.count.saturating_add(1);
                        strays.last = Some(stray);
                    }
                    ReplyMatch::Malformed(what) => return Err(malformed_failure(Phase::FirstByte, &what)),
                    ReplyMatch::Response(answer) => {
                        if sent > 1 {
                            notes.push(format!("the answer came after the question was sent {sent} times"));
                        }
                        return Ok(*answer);
                    }
                }
            }
        }
        Err(self.unanswered_failure(sent, &strays))
    }

    fn unanswered_failure(&self, sent: u32, strays: &MismatchCount) -> Failure {
        let mut failure = self.cx.deadline.timed_out(Phase::FirstByte);
        let times = if sent == 1 { "once".to_owned() } else { format!("{sent} times") };
        failure.detail = format!("{}; the question was sent {times}", failure.detail);
        if let Some(stray) = &strays.last {
            let (count, which) = match strays.count {
                1 => ("1 datagram".to_owned(), ""),
                count => (format!("{count} datagrams"), "the last one "),
            };
            let strays = format!("{count} of the server did not answer it, {which}because {stray}");
            failure.detail = format!("{}; {strays}", failure.detail);
        }
        failure
    }
}
