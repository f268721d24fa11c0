//! Queries over a TCP (RFC 7766) or TLS (RFC 7858) connection, one connection for each query.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::server_query::{DnsAttemptState, ServerQuery, invalid_response_failure};
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{TlsOptions, TlsStream, enable_quick_ack, read_to_len, set_reset_on_close, write_all};
use crate::protocol::dns::DnsResponse;

impl ServerQuery<'_> {
    pub(super) async fn over_tcp(&self, state: &mut DnsAttemptState) -> Result<DnsResponse, Failure> {
        let mut stream = self.connect_with_reset_on_close(state).await?;
        self.send_query(&mut stream, state).await?;
        self.read_response(&mut stream, state).await
    }

    pub(super) async fn over_tls(
        &self,
        tls_options: &TlsOptions,
        state: &mut DnsAttemptState,
    ) -> Result<DnsResponse, Failure> {
        let mut stream = self.connect_tls(tls_options, state).await?;
        self.send_query(&mut stream, state).await?;
        // Some servers hold the response back until the preceding session tickets are acknowledged.
        enable_quick_ack(stream.get_ref());
        self.read_response(&mut stream, state).await
    }

    pub(super) async fn connect_tls(
        &self,
        tls_options: &TlsOptions,
        state: &mut DnsAttemptState,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let stream = self.connect_with_reset_on_close(state).await?;
        self.cx
            .net
            .tls_handshake(stream, self.server_name, tls_options, self.cx.deadline, &mut state.connect_trace)
            .await
    }

    /// Opens a connection that is closed with a reset, which is safe since the response is read before.
    async fn connect_with_reset_on_close(&self, state: &mut DnsAttemptState) -> Result<TcpStream, Failure> {
        let (ip, port) = (self.server_address.ip(), self.server_address.port());
        let stream = self
            .cx
            .net
            .connect_without_named_proxy(&[ip], port, self.cx.deadline, &mut state.connect_trace)
            .await?;
        set_reset_on_close(&stream);
        Ok(stream)
    }

    /// Sends the query with its length before it (RFC 1035 4.2.2).
    async fn send_query<S: AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        state: &mut DnsAttemptState,
    ) -> Result<(), Failure> {
        let query = self.encode_query()?;
        let length = u16::try_from(query.len())
            .map_err(|_| invalid_response_failure(Phase::Prepare, "the question is too long"))?;
        let mut frame = length.to_be_bytes().to_vec();
        frame.extend_from_slice(&query);
        let started = Instant::now();
        let send_result = write_all(stream, &frame, self.cx.deadline).await;
        state.connect_trace.phases.add(Phase::Send, started.elapsed());
        send_result
    }

    /// Reads one message with its length before it.
    async fn read_response<S: AsyncRead + Unpin>(
        &self,
        stream: &mut S,
        state: &mut DnsAttemptState,
    ) -> Result<DnsResponse, Failure> {
        let (deadline, phases) = (self.cx.deadline, &mut state.connect_trace.phases);
        let started = Instant::now();
        let mut prefix = Vec::with_capacity(2);
        let prefix_read = read_to_len(stream, &mut prefix, 2, deadline, Phase::FirstByte).await;
        phases.add(Phase::FirstByte, started.elapsed());
        prefix_read?;
        let length = usize::from(u16::from_be_bytes([prefix[0], prefix[1]]));
        let started = Instant::now();
        let mut message = Vec::with_capacity(length);
        let read_result = read_to_len(stream, &mut message, length, deadline, Phase::Transfer).await;
        phases.add(Phase::Transfer, started.elapsed());
        read_result.map_err(|failure| truncated_failure(failure, message.len(), length))?;
        self.parse_response(&message)
    }
}

/// Returns the failure of a message that ends too early. It counts as truncated even when nothing but its length was
/// received.
fn truncated_failure(failure: Failure, received_bytes: usize, announced_bytes: usize) -> Failure {
    let kind = match failure.kind {
        FailureKind::NoResponse => FailureKind::ResponseTruncated,
        other => other,
    };
    match kind {
        FailureKind::ResponseTruncated => {
            let detail = format!("closed after {received_bytes} of {announced_bytes} announced bytes");
            Failure::new(failure.phase, kind, detail)
        }
        FailureKind::TimedOut => {
            let detail =
                format!("{}; {received_bytes} of {announced_bytes} bytes were received", failure.detail);
            Failure { detail, ..failure }
        }
        _ => failure,
    }
}
