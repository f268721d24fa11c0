//! Queries over UDP.

use std::io;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::Instant;

use super::server_query::{DnsAttemptState, ServerQuery, invalid_response_failure};
use crate::domain::{Failure, Phase};
use crate::protocol::dns::{DnsResponse, MAX_UDP_PAYLOAD, ReplyMatch, ReplyMismatch};

/// Shortest wait before the query is sent again.
const MIN_RESEND_INTERVAL: Duration = Duration::from_secs(1);
/// Receive buffer for a datagram, in bytes; larger than the advertised size, since some servers send more.
const RECEIVE_BUFFER_BYTES: usize = 4096;
const _: () = assert!(RECEIVE_BUFFER_BYTES > MAX_UDP_PAYLOAD as usize);

/// Received datagrams that are no response to the query.
#[derive(Default)]
struct MismatchedDatagrams {
    count: u32,
    last: Option<ReplyMismatch>,
}

impl ServerQuery<'_> {
    /// Sends the query repeatedly until a response arrives. Other datagrams are ignored, since they may be forged; the
    /// socket itself accepts datagrams of the server only. The whole time counts as waiting for the response.
    pub(super) async fn over_udp(&self, state: &mut DnsAttemptState) -> Result<DnsResponse, Failure> {
        let query = self.encode_query()?;
        let started = Instant::now();
        let socket = self
            .cx
            .net
            .open_udp_socket(self.server_address)
            .map_err(|failure| Failure { phase: Phase::Send, ..failure });
        state.connect_trace.phases.add(Phase::Send, started.elapsed());
        let started = Instant::now();
        let response = self.query_udp(&socket?, &query, &mut state.warnings).await;
        state.connect_trace.phases.add(Phase::FirstByte, started.elapsed());
        response
    }

    async fn query_udp(
        &self,
        socket: &UdpSocket,
        query: &[u8],
        warnings: &mut Vec<String>,
    ) -> Result<DnsResponse, Failure> {
        let deadline = self.cx.deadline;
        let to_failure = |error: &io::Error| Failure {
            phase: Phase::FirstByte,
            ..self.cx.net.socket_failure(self.server_address, error)
        };
        let resend_interval = MIN_RESEND_INTERVAL.max(deadline.remaining() / 3);
        let mut buffer = vec![0; RECEIVE_BUFFER_BYTES];
        let (mut send_count, mut mismatches) = (0_u32, MismatchedDatagrams::default());
        while !deadline.is_expired() {
            socket.send(query).await.map_err(|error| to_failure(&error))?;
            send_count += 1;
            let resend_at = deadline.at.min(Instant::now() + resend_interval);
            while let Ok(received) = tokio::time::timeout_at(resend_at, socket.recv(&mut buffer)).await {
                let length = received.map_err(|error| to_failure(&error))?;
                match self.query.match_reply(&buffer[..length]) {
                    ReplyMatch::Mismatch(mismatch) => {
                        mismatches.count = mismatches.count.saturating_add(1);
                        mismatches.last = Some(mismatch);
                    }
                    ReplyMatch::Malformed(problem) => {
                        return Err(invalid_response_failure(Phase::FirstByte, &problem));
                    }
                    ReplyMatch::Response(response) => {
                        if send_count > 1 {
                            warnings.push(format!(
                                "the answer came after the question was sent {send_count} times"
                            ));
                        }
                        return Ok(*response);
                    }
                }
            }
        }
        Err(self.no_response_failure(send_count, &mismatches))
    }

    fn no_response_failure(&self, send_count: u32, mismatches: &MismatchedDatagrams) -> Failure {
        let mut failure = self.cx.deadline.timeout_failure(Phase::FirstByte);
        let times = if send_count == 1 { "once".to_owned() } else { format!("{send_count} times") };
        failure.detail = format!("{}; the question was sent {times}", failure.detail);
        if let Some(mismatch) = &mismatches.last {
            let (count, subject) = match mismatches.count {
                1 => ("1 datagram".to_owned(), ""),
                count => (format!("{count} datagrams"), "the last one "),
            };
            let mismatches = format!("{count} of the server did not answer it, {subject}because {mismatch}");
            failure.detail = format!("{}; {mismatches}", failure.detail);
        }
        failure
    }
}
