//! Bounded reading and writing within a deadline, and the conversion of I/O errors to failures.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::deadline::Deadline;
use crate::domain::{Failure, FailureKind, Phase};

/// Reads once and appends to `buffer`, which never grows beyond `max_bytes` bytes. Returns the number of bytes read; 0
/// means that the peer closed. Fails with [`FailureKind::ResponseTooLarge`] when the buffer is full.
pub async fn read_more<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut Vec<u8>,
    max_bytes: usize,
    deadline: Deadline,
    phase: Phase,
) -> Result<usize, Failure> {
    let remaining = max_bytes.saturating_sub(buffer.len());
    if remaining == 0 {
        let detail = format!("received more than {max_bytes} bytes");
        return Err(Failure::new(phase, FailureKind::ResponseTooLarge, detail));
    }
    let mut limited_stream = stream.take(remaining as u64);
    deadline.enforce(phase, limited_stream.read_buf(buffer)).await?.map_err(|error| io_failure(phase, &error))
}

/// Reads until `buffer` has exactly `length` bytes. Fails with [`FailureKind::ResponseTruncated`] when the peer closes
/// before that, or with [`FailureKind::NoResponse`] when not one byte was received.
pub async fn read_to_len<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut Vec<u8>,
    length: usize,
    deadline: Deadline,
    phase: Phase,
) -> Result<(), Failure> {
    while buffer.len() < length {
        if read_more(stream, buffer, length, deadline, phase).await? == 0 {
            return Err(connection_closed_failure(phase, buffer.len()));
        }
    }
    Ok(())
}

/// Reads a line that ends in LF, removes it from `buffer` and returns it without its CR LF. Input after it stays in
/// `buffer`. The line may have `max_bytes` bytes at most.
pub async fn read_line<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut Vec<u8>,
    max_bytes: usize,
    deadline: Deadline,
    phase: Phase,
) -> Result<Vec<u8>, Failure> {
    let mut searched_bytes = 0;
    loop {
        if let Some(end) = buffer[searched_bytes..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map(|offset| searched_bytes + offset)
        {
            let mut line: Vec<u8> = buffer.drain(..=end).collect();
            line.pop();
            line.pop_if(|last| *last == b'\r');
            return Ok(line);
        }
        searched_bytes = buffer.len();
        if read_more(stream, buffer, max_bytes, deadline, phase).await? == 0 {
            return Err(connection_closed_failure(phase, buffer.len()));
        }
    }
}

/// Writes all of `bytes` and flushes.
pub async fn write_all<S: AsyncWrite + Unpin>(
    stream: &mut S,
    bytes: &[u8],
    deadline: Deadline,
) -> Result<(), Failure> {
    let write = async {
        stream.write_all(bytes).await?;
        stream.flush().await
    };
    deadline.enforce(Phase::Send, write).await?.map_err(|error| io_failure(Phase::Send, &error))
}

/// Returns the failure of a peer that closed after `received_bytes` bytes of a response.
#[must_use]
pub fn connection_closed_failure(phase: Phase, received_bytes: usize) -> Failure {
    if received_bytes == 0 {
        Failure::new(phase, FailureKind::NoResponse, "")
    } else {
        Failure::new(phase, FailureKind::ResponseTruncated, format!("closed after {received_bytes} bytes"))
    }
}

/// Converts an I/O error on an established connection to a failure.
#[must_use]
pub fn io_failure(phase: Phase, error: &io::Error) -> Failure {
    use io::ErrorKind as Io;
    // A TLS 1.3 server refuses a client certificate only after the handshake.
    let tls_error = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let kind = match error.kind() {
        _ if matches!(tls_error, Some(rustls::Error::AlertReceived(_))) => FailureKind::TlsHandshakeFailed,
        Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe => FailureKind::ResponseReset,
        Io::UnexpectedEof => FailureKind::ResponseTruncated,
        Io::TimedOut => FailureKind::TimedOut,
        Io::HostUnreachable | Io::NetworkUnreachable => FailureKind::Unreachable,
        Io::InvalidData => FailureKind::ResponseInvalid,
        Io::OutOfMemory => FailureKind::NoSocketLeft,
        _ => FailureKind::Internal,
    };
    Failure::new(phase, kind, super::tls::io_error_text(error))
}
