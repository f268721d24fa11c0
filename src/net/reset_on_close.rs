//! TCP connections that end with a reset: they leave no `TIME_WAIT` on this host or on a NAT gateway, and are finished
//! at once for the target. Only for connections whose data was read completely.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Makes `stream` end with a reset when it is dropped.
pub fn set_reset_on_close(stream: &TcpStream) {
    // On failure the normal close is used.
    let _ = stream.set_zero_linger();
}

/// A connection that ends with a reset, without a shutdown before: that would send another packet and wake the peer
/// twice.
#[derive(Debug)]
pub struct ResetOnClose(TcpStream);

impl ResetOnClose {
    /// Wraps `stream`.
    #[must_use]
    pub fn new(stream: TcpStream) -> Self {
        set_reset_on_close(&stream);
        Self(stream)
    }
}

impl AsyncRead for ResetOnClose {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ResetOnClose {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn the_peer_gets_a_reset_without_an_end_before_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut peer, _) = listener.accept().await.unwrap();
        let mut stream = ResetOnClose::new(stream);
        stream.write_all(b"ask").await.unwrap();
        peer.read_exact(&mut [0; 3]).await.unwrap();
        peer.write_all(b"answer").await.unwrap();
        stream.read_exact(&mut [0; 6]).await.unwrap();
        stream.shutdown().await.unwrap();
        drop(stream);
        let error = peer.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
