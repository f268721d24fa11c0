//! A stream that records when bytes were transferred and how it ended.

use crate::sync::{Mutex, MutexGuard};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::frame_scanner::FrameScanner;
use super::limits::MAX_PREAMBLE_BYTES;
use super::version_normalizer::VersionNormalizer;
use crate::domain::{Phase, Phases};

/// How reading or writing ended.
#[derive(Clone, Debug)]
pub(super) enum StreamEnd {
    /// The peer closed its side.
    Closed,
    /// It sent more than [`MAX_PREAMBLE_BYTES`] before the head of its response was complete.
    PreambleTooLarge,
    /// The system or TLS reported an error.
    Failed {
        /// Its kind.
        kind: io::ErrorKind,
        /// Its text.
        message: String,
        /// Whether the peer refused the TLS session after the handshake, as servers do when a client certificate is
        /// missing.
        tls_alert: bool,
    },
}

/// The records of an exchange, shared by the stream, which hyper owns, and the exchange.
#[derive(Clone, Debug)]
pub(super) struct ExchangeTimings(Arc<Mutex<TimingState>>);

#[derive(Debug)]
struct TimingState {
    started: Instant,
    /// The last write before anything was read.
    last_write_at: Option<Instant>,
    /// Whether a write or flush waits for the peer to accept bytes.
    is_write_blocked: bool,
    first_byte_at: Option<Instant>,
    /// Whether the head of the response is complete.
    has_head: bool,
    /// Whether it is HTTP/1: the first byte read then belongs to the response, in HTTP/2 to the settings.
    is_http1: bool,
    bytes_read: u64,
    /// Set for HTTP/2 until content is found, which the connection may read before the task that waits for the head.
    frame_scanner: Option<FrameScanner>,
    /// Set for HTTP/1, whose responses it normalizes.
    normalizer: Option<VersionNormalizer>,
    stream_end: Option<StreamEnd>,
    /// Whether a read waits for the first write.
    is_read_waiting: bool,
    /// Whether the waiting read was found ready when it was released: nothing will wake it, so the driver polls again.
    is_read_ready: bool,
}

impl ExchangeTimings {
    /// Starts recording an exchange over HTTP/1 now.
    pub(super) fn for_http1() -> Self {
        Self::new(true)
    }

    /// Starts recording an exchange over HTTP/2 or HTTP/3 now.
    pub(super) fn for_multiplexed() -> Self {
        Self::new(false)
    }

    fn new(is_http1: bool) -> Self {
        Self(Arc::new(Mutex::new(TimingState {
            started: Instant::now(),
            last_write_at: None,
            is_write_blocked: false,
            first_byte_at: None,
            has_head: false,
            is_http1,
            bytes_read: 0,
            frame_scanner: (!is_http1).then(FrameScanner::default),
            normalizer: is_http1.then(VersionNormalizer::default),
            stream_end: None,
            is_read_waiting: false,
            is_read_ready: false,
        })))
    }

    /// Records that the request was sent, for exchanges without a [`TimedHttpStream`].
    pub(super) fn record_request_sent(&self) {
        self.lock().last_write_at = Some(Instant::now());
    }

    /// Returns whether the waiting read may be retried, and resets that; the driver retries at once.
    pub(super) fn take_read_wakeup(&self) -> bool {
        std::mem::take(&mut self.lock().is_read_ready)
    }

    /// Starts recording another exchange on the same connection.
    pub(super) fn restart(&self) {
        let mut state = self.lock();
        state.started = Instant::now();
        (state.last_write_at, state.first_byte_at) = (None, None);
        (state.is_write_blocked, state.has_head) = (false, false);
        state.bytes_read = 0;
        state.normalizer = state.normalizer.map(|_| VersionNormalizer::default());
    }

    /// Whether the response is of HTTP/1.0, which hyper reads as HTTP/1.1.
    pub(super) fn is_http10(&self) -> bool {
        self.lock().normalizer.is_some_and(|normalizer| normalizer.is_http10())
    }

    /// Assumes that the request was sent at the start, where that cannot be observed.
    pub(super) fn assume_sent_at_start(&self) {
        let mut state = self.lock();
        state.last_write_at = Some(state.started);
    }

    /// Whether the head of a response was received.
    pub(super) fn has_response_head(&self) -> bool {
        self.lock().has_head
    }

    /// Copies how the connection ended, if it did.
    pub(super) fn copy_stream_end_from(&self, connection: &Self) {
        let end = connection.stream_end();
        self.lock().stream_end = end;
    }

    /// Records that the head of the response was received.
    pub(super) fn record_response_head(&self) {
        let mut state = self.lock();
        state.has_head = true;
        state.first_byte_at.get_or_insert_with(Instant::now);
    }

    /// Returns how the stream ended, if it did.
    pub(super) fn stream_end(&self) -> Option<StreamEnd> {
        self.lock().stream_end.clone()
    }

    /// Whether the exchange is one over HTTP/1.
    pub(super) fn is_http1(&self) -> bool {
        self.lock().is_http1
    }

    /// Returns the number of bytes read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.lock().bytes_read
    }

    /// Returns the phase of the exchange.
    pub(super) fn phase(&self) -> Phase {
        let state = self.lock();
        match (state.first_byte_at, state.last_write_at) {
            (Some(_), _) => Phase::Transfer,
            (None, Some(_)) if !state.is_write_blocked => Phase::FirstByte,
            _ => Phase::Send,
        }
    }

    /// Sets the phases of the exchange so far.
    pub(super) fn write_phases(&self, phases: &mut Phases) {
        let now = Instant::now();
        let state = self.lock();
        let sent_at =
            state.last_write_at.filter(|_| !state.is_write_blocked || state.first_byte_at.is_some());
        phases.set(Phase::Send, sent_at.unwrap_or(now).duration_since(state.started));
        if let Some(sent_at) = sent_at {
            phases.set(Phase::FirstByte, state.first_byte_at.unwrap_or(now).duration_since(sent_at));
        }
        if let Some(first_byte_at) = state.first_byte_at {
            phases.set(Phase::Transfer, now.duration_since(first_byte_at));
        }
    }

    fn lock(&self) -> MutexGuard<'_, TimingState> {
        self.0.lock()
    }
}

/// The stream that hyper uses.
pub(super) struct TimedHttpStream<S> {
    inner: S,
    timings: ExchangeTimings,
}

impl<S> TimedHttpStream<S> {
    pub(super) fn new(inner: S, timings: ExchangeTimings) -> Self {
        Self { inner, timings }
    }
}

impl TimingState {
    /// Whether the head of the response may still be incomplete.
    fn is_reading_preamble(&self) -> bool {
        !self.has_head && (self.is_http1 || self.frame_scanner.is_some())
    }

    fn record_error(&mut self, error: &io::Error) {
        let tls_error = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        self.stream_end.get_or_insert_with(|| StreamEnd::Failed {
            kind: error.kind(),
            message: crate::net::io_error_text(error),
            tls_alert: matches!(tls_error, Some(rustls::Error::AlertReceived(_))),
        });
    }

    fn record_read(&mut self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            self.stream_end.get_or_insert(StreamEnd::Closed);
            return;
        }
        self.bytes_read += bytes.len() as u64;
        if let Some(normalizer) = &mut self.normalizer {
            normalizer.normalize(bytes);
        }
        if let Some(scanner) = &mut self.frame_scanner
            && (self.has_head || scanner.contains_data(bytes))
        {
            self.frame_scanner = None;
        }
        if self.is_http1 {
            self.first_byte_at.get_or_insert_with(Instant::now);
        }
    }

    /// Records the outcome of a write or flush; returns whether the read that waits for the first write may continue.
    fn record_write<T>(&mut self, poll_result: &Poll<io::Result<T>>, is_write: bool) -> bool {
        match poll_result {
            Poll::Pending => self.is_write_blocked = true,
            Poll::Ready(Err(error)) => self.record_error(error),
            Poll::Ready(Ok(_)) => {
                self.is_write_blocked = false;
                if is_write && self.bytes_read == 0 {
                    self.last_write_at = Some(Instant::now());
                }
            }
        }
        let may_continue =
            self.is_read_waiting && (self.last_write_at.is_some() || self.stream_end.is_some());
        self.is_read_waiting &= !may_continue;
        may_continue
    }
}

impl<S: AsyncRead + Unpin> TimedHttpStream<S> {
    /// Records the outcome of a write or flush. When a waiting read may continue, usually nothing was received yet: an
    /// empty read registers for the wake-up at less cost than polling everything again.
    fn record_write<T>(&mut self, cx: &mut Context<'_>, poll_result: &Poll<io::Result<T>>, is_write: bool) {
        if !self.timings.lock().record_write(poll_result, is_write) {
            return;
        }
        let read_readiness = Pin::new(&mut self.inner).poll_read(cx, &mut ReadBuf::new(&mut []));
        let mut state = self.timings.lock();
        state.is_read_ready = read_readiness.is_ready();
        if let Poll::Ready(Err(error)) = &read_readiness {
            state.record_error(error);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedHttpStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        {
            // A server may send before the request. hyper treats that as a protocol error, so nothing is read until the
            // request is sent.
            let mut state = self.timings.lock();
            if state.last_write_at.is_none() && state.stream_end.is_none() {
                state.is_read_waiting = true;
                return Poll::Pending;
            }
            // Endless informational responses would keep hyper, and its thread, busy.
            if state.is_reading_preamble() && state.bytes_read >= MAX_PREAMBLE_BYTES {
                state.stream_end.get_or_insert(StreamEnd::PreambleTooLarge);
                return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
            }
        }
        let filled_before = buf.filled().len();
        let poll_result = Pin::new(&mut self.inner).poll_read(cx, buf);
        match &poll_result {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => self.timings.lock().record_read(&mut buf.filled_mut()[filled_before..]),
            Poll::Ready(Err(error)) => self.timings.lock().record_error(error),
        }
        poll_result
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedHttpStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let poll_result = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.record_write(cx, &poll_result, true);
        poll_result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll_result = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.record_write(cx, &poll_result, true);
        poll_result
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll_result = Pin::new(&mut self.inner).poll_flush(cx);
        self.record_write(cx, &poll_result, false);
        poll_result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
