//! A stream that notes when bytes moved and how it ended.

use crate::sync::{Mutex, MutexGuard};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::limits::MAX_PREAMBLE_BYTES;
use crate::domain::{Phase, Phases};

/// How reading or writing came to an end.
#[derive(Clone, Debug)]
pub(super) enum StreamEnd {
    /// The peer closed its side.
    Closed,
    /// It sent more than [`MAX_PREAMBLE_BYTES`] before the head of its answer was complete.
    PreambleTooLarge,
    /// The system or TLS reported an error.
    Failed {
        /// Its kind.
        kind: io::ErrorKind,
        /// Its words.
        message: String,
        /// The peer refused the TLS session after the handshake, as servers do that miss a client certificate.
        tls_alert: bool,
    },
}

/// What was noted; shared by the stream, which hyper owns, and the exchange.
#[derive(Clone, Debug)]
pub(super) struct ExchangeTimings(Arc<Mutex<TimingState>>);

#[derive(Debug)]
struct TimingState {
    started: Instant,
    /// The last write before anything was read.
    wrote: Option<Instant>,
    /// A write or flush waits for the peer to take bytes.
    blocked: bool,
    answered: Option<Instant>,
    /// The head of the answer is complete.
    has_head: bool,
    /// Whether the first byte read is the first of the answer; in HTTP/2 it is one of the settings.
    answer_is_first: bool,
    bytes_read: u64,
    end: Option<StreamEnd>,
    /// A read waits for the first write.
    is_awaited: bool,
    /// It may go on.
    goes_on: bool,
}

impl ExchangeTimings {
    /// Notes of an exchange that starts now.
    pub(super) fn new(answer_is_first: bool) -> Self {
        Self(Arc::new(Mutex::new(TimingState {
            started: Instant::now(),
            wrote: None,
            blocked: false,
            answered: None,
            has_head: false,
            answer_is_first,
            bytes_read: 0,
            end: None,
            is_awaited: false,
            goes_on: false,
        })))
    }

    /// The request is on its way now: for what does not go through a [`TimedHttpStream`].
    pub(super) fn record_sent(&self) {
        self.lock().wrote = Some(Instant::now());
    }

    /// Says once that a read that had to wait may be tried: whoever moves the connection on does so at once.
    pub(super) fn take_progress(&self) -> bool {
        std::mem::take(&mut self.lock().goes_on)
    }

    /// Another exchange on the same connection starts now.
    pub(super) fn restart(&self) {
        let mut noted = self.lock();
        noted.started = Instant::now();
        (noted.wrote, noted.answered) = (None, None);
        (noted.blocked, noted.has_head) = (false, false);
        noted.bytes_read = 0;
    }

    /// The request is on its way, as far as it can be told.
    pub(super) fn assume_sent(&self) {
        let mut noted = self.lock();
        noted.wrote = Some(noted.started);
    }

    /// Whether the head of an answer is there.
    pub(super) fn has_head(&self) -> bool {
        self.lock().has_head
    }

    /// Takes over how the connection ended, when it did.
    pub(super) fn copy_end_from(&self, connection: &Self) {
        let end = connection.stream_end();
        self.lock().end = end;
    }

    /// The head of the answer is there.
    pub(super) fn record_head(&self) {
        let mut noted = self.lock();
        noted.has_head = true;
        noted.answered.get_or_insert_with(Instant::now);
    }

    /// How the stream ended, when it did.
    pub(super) fn stream_end(&self) -> Option<StreamEnd> {
        self.lock().end.clone()
    }

    /// Bytes read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.lock().bytes_read
    }

    /// The phase that the exchange is in.
    pub(super) fn phase(&self) -> Phase {
        let noted = self.lock();
        match (noted.answered, noted.wrote) {
            (Some(_), _) => Phase::Transfer,
            (None, Some(_)) if !noted.blocked => Phase::FirstByte,
            _ => Phase::Send,
        }
    }

    /// Sets the phases of the exchange as they stand now.
    pub(super) fn write_phases(&self, phases: &mut Phases) {
        let now = Instant::now();
        let noted = self.lock();
        let sent = noted.wrote.filter(|_| !noted.blocked || noted.answered.is_some());
        phases.set(Phase::Send, sent.unwrap_or(now).duration_since(noted.started));
        if let Some(sent) = sent {
            phases.set(Phase::FirstByte, noted.answered.unwrap_or(now).duration_since(sent));
        }
        if let Some(answered) = noted.answered {
            phases.set(Phase::Transfer, now.duration_since(answered));
        }
    }

    fn lock(&self) -> MutexGuard<'_, TimingState> {
        self.0.lock()
    }
}

/// The stream that hyper gets.
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
    fn failed(&mut self, error: &io::Error) {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        self.end.get_or_insert_with(|| StreamEnd::Failed {
            kind: error.kind(),
            message: error.to_string(),
            tls_alert: matches!(tls, Some(rustls::Error::AlertReceived(_))),
        });
    }

    fn read(&mut self, bytes: usize) {
        if bytes == 0 {
            self.end.get_or_insert(StreamEnd::Closed);
            return;
        }
        self.bytes_read += bytes as u64;
        if self.answer_is_first {
            self.answered.get_or_insert_with(Instant::now);
        }
    }

    /// Takes the outcome of a write or flush; whether the read may go on that waits for the first one.
    fn written<T>(&mut self, outcome: &Poll<io::Result<T>>, is_write: bool) -> bool {
        match outcome {
            Poll::Pending => self.blocked = true,
            Poll::Ready(Err(error)) => self.failed(error),
            Poll::Ready(Ok(_)) => {
                self.blocked = false;
                if is_write && self.bytes_read == 0 {
                    self.wrote = Some(Instant::now());
                }
            }
        }
        let may_go_on = self.is_awaited && (self.wrote.is_some() || self.end.is_some());
        self.is_awaited &= !may_go_on;
        may_go_on
    }
}

impl<S: AsyncRead + Unpin> TimedHttpStream<S> {
    /// Notes the outcome of a write or flush. When it lets a read go on, nothing has come yet as a rule: a read of no
    /// bytes asks to be woken when it does, for less than another round of all.
    fn record_write<T>(&mut self, cx: &mut Context<'_>, outcome: &Poll<io::Result<T>>, is_write: bool) {
        if !self.timings.lock().written(outcome, is_write) {
            return;
        }
        let awaited = Pin::new(&mut self.inner).poll_read(cx, &mut ReadBuf::new(&mut []));
        let mut noted = self.timings.lock();
        noted.goes_on = awaited.is_ready();
        if let Poll::Ready(Err(error)) = &awaited {
            noted.failed(error);
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
            // A server may speak before it was asked. hyper takes that for a breach of the protocol, so
            // nothing is read until the request is on its way.
            let mut noted = self.timings.lock();
            if noted.wrote.is_none() && noted.end.is_none() {
                noted.is_awaited = true;
                return Poll::Pending;
            }
            // Informational answers without end would keep hyper busy, and the thread with it.
            if !noted.has_head && noted.bytes_read >= MAX_PREAMBLE_BYTES {
                noted.end.get_or_insert(StreamEnd::PreambleTooLarge);
                return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
            }
        }
        let before = buf.filled().len();
        let outcome = Pin::new(&mut self.inner).poll_read(cx, buf);
        match &outcome {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => self.timings.lock().read(buf.filled().len() - before),
            Poll::Ready(Err(error)) => self.timings.lock().failed(error),
        }
        outcome
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedHttpStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.record_write(cx, &outcome, true);
        outcome
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.record_write(cx, &outcome, true);
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(cx);
        self.record_write(cx, &outcome, false);
        outcome
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
