//! Connections to drivers with a limit on the size of each response, since a page decides how large its scripts, logs
//! and screenshots are.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::BoxFuture;
use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tower::{BoxError, Service};

/// Longest response, in bytes: several times the size of the log of a busy step or of a screenshot of a large screen.
const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;

/// Connects to a driver through streams that limit the size of each response.
#[derive(Clone, Debug)]
pub(crate) struct ResponseLimitConnector(HttpConnector);

impl ResponseLimitConnector {
    pub(crate) fn new() -> Self {
        Self(HttpConnector::new())
    }
}

impl Service<Uri> for ResponseLimitConnector {
    type Response = TokioIo<ResponseLimitStream<TcpStream>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move { Ok(TokioIo::new(ResponseLimitStream::new(connecting.await?.into_inner()))) })
    }
}

/// Limits the bytes read since the last write, which are those of one response.
#[derive(Debug)]
pub(crate) struct ResponseLimitStream<S> {
    stream: S,
    /// Bytes of the response so far: those read since the last write.
    response_bytes: usize,
    max_response_bytes: usize,
}

impl<S> ResponseLimitStream<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, response_bytes: 0, max_response_bytes: MAX_RESPONSE_BYTES }
    }
}

impl Connection for ResponseLimitStream<TcpStream> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

impl Connection for ResponseLimitStream<UnixStream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ResponseLimitStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled_before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.response_bytes += buffer.filled().len() - filled_before;
        if self.response_bytes > self.max_response_bytes {
            let reason = format!("the driver's response has more than {} bytes", self.max_response_bytes);
            return Poll::Ready(Err(io::Error::other(reason)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ResponseLimitStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.response_bytes = 0;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn each_response_is_limited_separately() {
        let (client, mut server) = duplex(64);
        let mut limited = ResponseLimitStream { stream: client, response_bytes: 0, max_response_bytes: 10 };
        let mut response = [0; 10];
        for _ in 0..3 {
            limited.write_all(b"ask").await.unwrap();
            server.write_all(&[7; 10]).await.unwrap();
            limited.read_exact(&mut response).await.unwrap();
        }
        server.write_all(b"x").await.unwrap();
        let error = limited.read_exact(&mut response[..1]).await.unwrap_err();
        assert!(error.to_string().contains("more than 10 bytes"), "{error}");
    }
}
