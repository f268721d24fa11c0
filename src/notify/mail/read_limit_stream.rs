//! A stream for lettre that limits how much it reads.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::notify::send_error::SendError;

/// Most bytes read from a mail server in one session. lettre parses a reply again from its first line with each
/// further line: without this limit, one server could keep a thread busy for hours.
const MAX_READ_BYTES: usize = 16 * 1024;
/// Replaces the greeting, which the server sent before TLS.
const SYNTHETIC_GREETING: &[u8] = b"220 ready\r\n";

/// A stream to a mail server.
#[derive(Debug)]
pub(super) struct ReadLimitStream<S> {
    inner: S,
    peer_address: SocketAddr,
    /// The rest of the synthetic greeting that is still to be read.
    pending_greeting: &'static [u8],
    /// How many bytes may still be read.
    remaining_bytes: usize,
}

impl ReadLimitStream<TcpStream> {
    /// Wraps an unencrypted stream.
    pub(super) fn from_tcp(stream: TcpStream) -> Result<Self, SendError> {
        let address = stream.peer_addr().map_err(|error| SendError::transient(error.to_string()))?;
        Ok(Self::new(stream, address, false))
    }
}

impl<S> ReadLimitStream<S> {
    /// Wraps `inner`; with `repeat_greeting`, reads start with a synthetic greeting, since the real one was read
    /// before TLS.
    pub(super) fn new(inner: S, address: SocketAddr, repeat_greeting: bool) -> Self {
        Self {
            inner,
            peer_address: address,
            pending_greeting: if repeat_greeting { SYNTHETIC_GREETING } else { b"" },
            remaining_bytes: MAX_READ_BYTES,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReadLimitStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.pending_greeting.is_empty() {
            let (put_bytes, remaining_greeting) =
                self.pending_greeting.split_at(self.pending_greeting.len().min(buffer.remaining()));
            buffer.put_slice(put_bytes);
            self.pending_greeting = remaining_greeting;
            return Poll::Ready(Ok(()));
        }
        if self.remaining_bytes == 0 {
            return Poll::Ready(Err(io::Error::other("the mail server sent too much data")));
        }
        let filled_before = buffer.filled().len();
        let read_result = Pin::new(&mut self.inner).poll_read(cx, buffer);
        self.remaining_bytes = self.remaining_bytes.saturating_sub(buffer.filled().len() - filled_before);
        read_result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ReadLimitStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

impl<S> AsyncTokioStream for ReadLimitStream<S>
where
    S: AsyncRead + AsyncWrite + Send + Sync + Unpin + std::fmt::Debug,
{
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer_address)
    }
}
