//! A stream that fails when it is idle for too long, so that a client that stops reading or sending does not hold its
//! slot forever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A stream with an idle timeout. Bytes in either direction count as activity.
pub(super) struct IdleTimeoutStream<S> {
    inner: S,
    idle_timeout: Duration,
    last_activity: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<S> IdleTimeoutStream<S> {
    /// Wraps `inner`, which fails once it was idle for `idle_timeout`.
    pub(super) fn new(inner: S, idle_timeout: Duration) -> Self {
        Self {
            inner,
            idle_timeout,
            last_activity: Instant::now(),
            timer: Box::pin(tokio::time::sleep(idle_timeout)),
        }
    }

    /// Passes on `poll`: a ready one counts as activity, a pending one fails once the stream was idle for too long.
    fn apply_idle_timeout<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.last_activity = Instant::now();
            return poll;
        }
        // The timer is reset only when it fires, which is cheaper than on every byte.
        while self.timer.as_mut().poll(cx).is_ready() {
            let deadline = self.last_activity + self.idle_timeout;
            if deadline <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_read(cx, buffer);
        self.apply_idle_timeout(cx, poll)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleTimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.apply_idle_timeout(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.apply_idle_timeout(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // With nothing to flush this is ready at once, which is not activity.
        let poll = Pin::new(&mut self.inner).poll_flush(cx);
        if poll.is_ready() { poll } else { self.apply_idle_timeout(cx, poll) }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.apply_idle_timeout(cx, poll)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_stops_reading_or_writing_times_out() {
        let (near, far) = tokio::io::duplex(8);
        let mut near = IdleTimeoutStream::new(near, IDLE_TIMEOUT);
        let error = near.write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "nobody reads");
        drop(far);
        let (near, _far) = tokio::io::duplex(8);
        let mut near = IdleTimeoutStream::new(near, IDLE_TIMEOUT);
        assert_eq!(near.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut, "nobody writes");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_but_active_peer_does_not_time_out() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = IdleTimeoutStream::new(near, IDLE_TIMEOUT);
        tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(IDLE_TIMEOUT.saturating_sub(Duration::from_secs(1))).await;
                far.write_u8(7).await.unwrap();
            }
        });
        for _ in 0..5 {
            assert_eq!(near.read_u8().await.unwrap(), 7);
        }
    }
}
