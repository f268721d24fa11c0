//! A connection with an old version of TLS, and the errors of its library.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use openssl::error::ErrorStack;
use openssl::ssl::{Error, ErrorCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_openssl::SslStream;

use crate::domain::replace_control_chars;

/// A connection with an old version of TLS.
#[derive(Debug)]
pub struct LegacyTlsStream<S>(pub(super) SslStream<S>);

/// Converts an error of OpenSSL. A close without TLS shutdown becomes `UnexpectedEof`.
pub(super) fn openssl_to_io_error(error: Error) -> io::Error {
    match error.into_io_error() {
        Ok(error) => error,
        Err(error) if error.code() == ErrorCode::SYSCALL => io::ErrorKind::UnexpectedEof.into(),
        Err(error) => match error.ssl_error() {
            Some(stack) if is_unexpected_eof(stack) => io::ErrorKind::UnexpectedEof.into(),
            Some(stack) => io::Error::new(io::ErrorKind::InvalidData, first_error_reason(stack)),
            None => io::ErrorKind::UnexpectedEof.into(),
        },
    }
}

fn is_unexpected_eof(stack: &ErrorStack) -> bool {
    stack.errors().iter().any(|error| error.reason() == Some("unexpected eof while reading"))
}

/// Returns the reason of the first error in `stack` that has one.
pub(super) fn first_error_reason(stack: &ErrorStack) -> String {
    let reason = stack.errors().iter().find_map(openssl::error::Error::reason);
    replace_control_chars(reason.unwrap_or("no reason given"))
}

/// Converts an I/O error that wraps an error of OpenSSL.
fn unwrap_openssl_error(error: io::Error) -> io::Error {
    match error.downcast::<Error>() {
        Ok(error) => openssl_to_io_error(error),
        Err(error) => error,
    }
}

impl<S> LegacyTlsStream<S> {
    /// Returns the underlying stream.
    pub(super) fn get_ref(&self) -> &S {
        self.0.get_ref()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for LegacyTlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer).map_err(unwrap_openssl_error)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LegacyTlsStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes).map_err(unwrap_openssl_error)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx).map_err(unwrap_openssl_error)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx).map_err(unwrap_openssl_error)
    }
}
