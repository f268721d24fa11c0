//! A stream that fails when nothing moves for too long, so that a client that stops reading or sending does not
//! hold its place for good.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Bytes in either direction count as movement.
pub(super) struct Stall<S> {
    inner: S,
    patience: Duration,
    moved: Instant,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Stall<S> {
    /// Fails once nothing moved for `patience`.
    pub(super) fn new(inner: S, patience: Duration) -> Self {
        Self { inner, patience, moved: Instant::now(), alarm: Box::pin(tokio::time::sleep(patience)) }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.moved = Instant::now();
            return done;
        }
        // The alarm is put off only when it rings: that is cheaper than with each byte.
        while self.alarm.as_mut().poll(cx).is_ready() {
            let due = self.moved + self.patience;
            if due <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(due);
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_read(cx, buffer);
        self.judge(cx, done)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.judge(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.judge(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // With nothing left to flush it is ready at once, which is no movement.
        let done = Pin::new(&mut self.inner).poll_flush(cx);
        if done.is_ready() { done } else { self.judge(cx, done) }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.judge(cx, done)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_and_a_writer_that_stops_are_given_up() {
        let (near, far) = tokio::io::duplex(8);
        let mut near = Stall::new(near, PATIENCE);
        let error = near.write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "nobody reads");
        drop(far);
        let (near, _far) = tokio::io::duplex(8);
        let mut near = Stall::new(near, PATIENCE);
        assert_eq!(near.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut, "nobody writes");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_slow_but_moves_is_waited_for() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = Stall::new(near, PATIENCE);
        tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(PATIENCE.saturating_sub(Duration::from_secs(1))).await;
                far.write_u8(7).await.unwrap();
            }
        });
        for _ in 0..5 {
            assert_eq!(near.read_u8().await.unwrap(), 7);
        }
    }
}
