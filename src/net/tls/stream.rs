//! A TLS connection of either library.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream as Rustls;

#[cfg(feature = "legacy-tls")]
use super::legacy_stream::LegacyTlsStream;
use crate::domain::Failure;

/// A TLS connection, created by [`Net::tls_handshake`](crate::net::stack::Net::tls_handshake).
#[derive(Debug)]
#[cfg_attr(feature = "legacy-tls", allow(clippy::large_enum_variant, reason = "few are of the small one"))]
pub enum TlsStream<S> {
    /// TLS 1.2 or 1.3.
    Rustls(Rustls<S>),
    /// An older version.
    #[cfg(feature = "legacy-tls")]
    Legacy(LegacyTlsStream<S>),
}

impl<S> TlsStream<S> {
    /// Returns the underlying stream.
    #[must_use]
    pub fn get_ref(&self) -> &S {
        match self {
            Self::Rustls(stream) => stream.get_ref().0,
            #[cfg(feature = "legacy-tls")]
            Self::Legacy(stream) => stream.get_ref(),
        }
    }

    /// Returns the negotiated application protocol (RFC 7301). Old versions use none.
    #[must_use]
    pub fn alpn_protocol(&self) -> Option<&[u8]> {
        match self {
            Self::Rustls(stream) => stream.get_ref().1.alpn_protocol(),
            #[cfg(feature = "legacy-tls")]
            Self::Legacy(_) => None,
        }
    }

    /// Returns the rustls connection; `None` for old versions.
    #[must_use]
    pub fn rustls_connection(&self) -> Option<&rustls::ClientConnection> {
        match self {
            Self::Rustls(stream) => Some(stream.get_ref().1),
            #[cfg(feature = "legacy-tls")]
            Self::Legacy(_) => None,
        }
    }
}

/// Calls the same method of either stream.
macro_rules! with_inner_stream {
    ($this:expr, $stream:ident => $call:expr) => {
        match $this.get_mut() {
            TlsStream::Rustls(inner) => {
                let $stream = Pin::new(inner);
                $call
            }
            #[cfg(feature = "legacy-tls")]
            TlsStream::Legacy(inner) => {
                let $stream = Pin::new(inner);
                $call
            }
        }
    };
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with_inner_stream!(self, stream => stream.poll_read(cx, buffer))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        with_inner_stream!(self, stream => stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with_inner_stream!(self, stream => stream.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Rustls(stream) => stream.is_write_vectored(),
            #[cfg(feature = "legacy-tls")]
            Self::Legacy(_) => false,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_inner_stream!(self, stream => stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_inner_stream!(self, stream => stream.poll_shutdown(cx))
    }
}

/// The result of a handshake: a timeout, an error or a connection, with the negotiated parameters.
pub(super) struct HandshakeResult<S> {
    /// Outer error: the deadline came. Inner error: the handshake failed.
    pub(super) result: Result<io::Result<TlsStream<S>>, Failure>,
    /// Name of the negotiated version; `None` unless it succeeded. The same holds for the cipher suite.
    pub(super) tls_version: Option<String>,
    pub(super) tls_cipher: Option<String>,
}
