//! A stream that fails when nothing moves for too long, so that a client that stops reading or sending does not
//! hold its place for good.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Bytes in either direction count as movement.
pub(super) struct IdleTimeoutStream<S> {
    inner: S,
    timeout: Duration,
    last_activity: Instant,
    sleep: Pin<Box<Sleep>>,
}

impl<S> IdleTimeoutStream<S> {
    /// Fails once nothing moved for `patience`.
    pub(super) fn new(inner: S, idle_timeout: Duration) -> Self {
        Self {
            inner,
            timeout: idle_timeout,
            last_activity: Instant::now(),
            sleep: Box::pin(tokio::time::sleep(idle_timeout)),
        }
    }

    fn check_idle<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.last_activity = Instant::now();
            return done;
        }
        // The alarm is put off only when it rings: that is cheaper than with each byte.
        while self.sleep.as_mut().poll(cx).is_ready() {
            let due = self.last_activity + self.timeout;
            if due <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.sleep.as_mut().reset(due);
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
        let done = Pin::new(&mut self.inner).poll_read(cx, buffer);
        self.check_idle(cx, done)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleTimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.check_idle(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.check_idle(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // With nothing left to flush it is ready at once, which is no movement.
        let done = Pin::new(&mut self.inner).poll_flush(cx);
        if done.is_ready() { done } else { self.check_idle(cx, done) }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.check_idle(cx, done)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_and_a_writer_that_stops_are_given_up() {
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
    async fn whoever_is_slow_but_moves_is_waited_for() {
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
