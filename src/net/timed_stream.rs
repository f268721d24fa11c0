//! A stream that records when bytes were transferred, and how many.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// Wraps a stream and records into [`IoTimestamps`]. Wrap the TLS stream to measure plain bytes, or the TCP stream to
/// measure those on the wire.
#[derive(Debug)]
pub struct TimedStream<S> {
    inner: S,
    timestamps: IoTimestamps,
}

impl<S> TimedStream<S> {
    /// Starts recording the transfers of `inner`.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self { inner, timestamps: IoTimestamps::default() }
    }

    /// Returns a handle to the recorded times and counts that stays valid after the stream was moved.
    #[must_use]
    pub fn timestamps(&self) -> IoTimestamps {
        self.timestamps.clone()
    }

    /// Returns the inner stream.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns the inner stream; the recorded times and counts are dropped.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

/// When bytes passed a [`TimedStream`], and how many. Cheap to clone; clones share their state.
#[derive(Clone, Debug)]
pub struct IoTimestamps {
    epoch: Instant,
    shared: Arc<AtomicTimestamps>,
}

/// Times in nanoseconds after `epoch`, plus one; 0 means never. The last two count bytes.
#[derive(Debug, Default)]
struct AtomicTimestamps {
    first_write: AtomicU64,
    last_write: AtomicU64,
    first_read: AtomicU64,
    last_read: AtomicU64,
    bytes_written: AtomicU64,
    bytes_read: AtomicU64,
}

impl Default for IoTimestamps {
    fn default() -> Self {
        Self { epoch: Instant::now(), shared: Arc::default() }
    }
}

impl IoTimestamps {
    /// Returns when the inner stream accepted the first bytes.
    #[must_use]
    pub fn first_write(&self) -> Option<Instant> {
        self.to_instant(&self.shared.first_write)
    }

    /// Returns when the inner stream accepted the last bytes so far.
    #[must_use]
    pub fn last_write(&self) -> Option<Instant> {
        self.to_instant(&self.shared.last_write)
    }

    /// Returns when the first bytes were read.
    #[must_use]
    pub fn first_read(&self) -> Option<Instant> {
        self.to_instant(&self.shared.first_read)
    }

    /// Returns when the last bytes so far were read.
    #[must_use]
    pub fn last_read(&self) -> Option<Instant> {
        self.to_instant(&self.shared.last_read)
    }

    /// Returns the number of bytes written so far.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.shared.bytes_written.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.shared.bytes_read.load(Ordering::Relaxed)
    }

    /// Resets all times and counts, for the next exchange over the same stream.
    pub fn reset(&self) {
        let shared = &self.shared;
        for counter in [
            &shared.first_write,
            &shared.last_write,
            &shared.first_read,
            &shared.last_read,
            &shared.bytes_written,
            &shared.bytes_read,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    fn to_instant(&self, timestamp: &AtomicU64) -> Option<Instant> {
        match timestamp.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(self.epoch + Duration::from_nanos(nanos - 1)),
        }
    }

    fn record(&self, first: &AtomicU64, last: &AtomicU64, total_bytes: &AtomicU64, bytes: usize) {
        let nanos = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX - 1) + 1;
        if first.load(Ordering::Relaxed) == 0 {
            first.store(nanos, Ordering::Relaxed);
        }
        last.store(nanos, Ordering::Relaxed);
        total_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn record_write(&self, bytes: usize) {
        let shared = &self.shared;
        self.record(&shared.first_write, &shared.last_write, &shared.bytes_written, bytes);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled_before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let bytes = buffer.filled().len() - filled_before;
        if bytes > 0 {
            let shared = &self.timestamps.shared;
            self.timestamps.record(&shared.first_read, &shared.last_read, &shared.bytes_read, bytes);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.timestamps.record_write(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, slices))?;
        self.timestamps.record_write(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
