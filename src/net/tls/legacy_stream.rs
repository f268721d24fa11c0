//! A connection under an old version of TLS, and the errors that its library reports.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use openssl::error::ErrorStack;
use openssl::ssl::{Error, ErrorCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_openssl::SslStream;

use crate::domain::replace_control_chars;

/// A connection under an old version.
#[derive(Debug)]
pub struct OldStream<S>(pub(super) SslStream<S>);

/// In the words of I/O: what the connection said, an end without farewell, or the reason of the protocol.
pub(super) fn told(error: Error) -> io::Error {
    match error.into_io_error() {
        Ok(error) => error,
        Err(error) if error.code() == ErrorCode::SYSCALL => io::ErrorKind::UnexpectedEof.into(),
        Err(error) => match error.ssl_error() {
            Some(stack) if cut_off(stack) => io::ErrorKind::UnexpectedEof.into(),
            Some(stack) => io::Error::new(io::ErrorKind::InvalidData, reason(stack)),
            None => io::ErrorKind::UnexpectedEof.into(),
        },
    }
}

fn cut_off(stack: &ErrorStack) -> bool {
    stack.errors().iter().any(|error| error.reason() == Some("unexpected eof while reading"))
}

pub(super) fn reason(stack: &ErrorStack) -> String {
    let reason = stack.errors().iter().find_map(openssl::error::Error::reason);
    replace_control_chars(reason.unwrap_or("it does not say why"))
}

/// The same for what goes wrong later.
fn later(error: io::Error) -> io::Error {
    match error.downcast::<Error>() {
        Ok(error) => told(error),
        Err(error) => error,
    }
}

impl<S> OldStream<S> {
    /// The connection below.
    pub(super) fn below(&self) -> &S {
        self.0.get_ref()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for OldStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer).map_err(later)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for OldStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes).map_err(later)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx).map_err(later)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx).map_err(later)
    }
}
