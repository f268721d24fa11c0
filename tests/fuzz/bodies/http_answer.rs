//! Any bytes as the output of an HTTP server, in chunks of any size: the exchange ends with a response or a failure,
//! and a body never exceeds its limit.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{self, AsyncRead, AsyncWrite, ReadBuf};
use vigie::domain::{FailureKind, Phases};
use vigie::net::Deadline;
use vigie::protocol::http::{BodyRetention, HttpProtocol, send_request};

/// Longest body that is read, in bytes.
const LIMIT: u64 = 64 * 1024;

/// A peer that sends `left` in chunks of `piece` bytes, then closes, and accepts everything it is sent.
struct Peer {
    left: Vec<u8>,
    at: usize,
    piece: usize,
}

impl AsyncRead for Peer {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let end = self.left.len().min(self.at + self.piece.min(buf.remaining()));
        buf.put_slice(&self.left[self.at..end]);
        self.at = end;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Peer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

thread_local! {
    static RUNTIME: tokio::runtime::Runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
}

pub fn run(data: &[u8]) {
    let Some((&choice, left)) = data.split_first() else { return };
    let protocol = if choice & 1 == 0 { HttpProtocol::Http1 } else { HttpProtocol::Http2 };
    let keep = if choice & 2 == 0 { BodyRetention::All } else { BodyRetention::Discard };
    let method = if choice & 4 == 0 { "GET" } else { "HEAD" };
    let piece = if choice & 8 == 0 { usize::MAX / 2 } else { usize::from(choice >> 4) + 1 };
    let uri = if protocol == HttpProtocol::Http1 { "/" } else { "http://a.test/" };
    let request = http::Request::builder().method(method).uri(uri).header("host", "a.test");
    let request = request.body(http_body_util::Full::default()).expect("it is a request");
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            // The peer never waits, so the deadline must not be reached.
            let deadline = Deadline::within(Duration::from_secs(20));
            let mut phases = Phases::default();
            let peer = Peer { left: left.to_vec(), at: 0, piece };
            let failure = match send_request(peer, protocol, request, deadline, &mut phases).await {
                Ok((_, body)) => {
                    let content = body.read(keep, LIMIT, deadline, &mut phases).await;
                    assert!(content.bytes.len() as u64 <= LIMIT + 16 * 1024);
                    assert!(keep == BodyRetention::All || content.bytes.is_empty());
                    assert!(content.failure.is_some() || content.body_bytes <= LIMIT);
                    content.failure
                }
                Err(failure) => Some(failure),
            };
            if let Some(failure) = failure {
                assert!(failure.kind != FailureKind::TimedOut, "it waits for nothing: {failure:?}");
                assert!(
                    failure.kind != FailureKind::Internal,
                    "the peer's fault is called ours: {failure:?}"
                );
            }
        });
    });
}
