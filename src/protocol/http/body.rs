//! Reads the body of a response, decoded and bounded.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body_util::Full;
use hyper::body::Body as _;
use hyper::client::conn::http1::SendRequest;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, ReadBuf};
use tokio::time::timeout_at;

use super::content_coding::{ContentCodings, SizeLimitExceeded};
use super::driver::ConnectionDriver;
use super::http3::Http3Body;
use super::limits::HeaderLimit;
use super::timings::ExchangeTimings;
use super::{content_coding, failure};
use crate::domain::{Failure, FailureKind, Phase, Phases};
use crate::net::Deadline;

/// Bytes decoded per step.
const DECODE_CHUNK_BYTES: usize = 16 * 1024;
/// Steps after which the task yields; decoding from memory never waits by itself.
const DECODE_CHUNKS_PER_YIELD: u32 = 16;
/// Undecoded bytes after which the task yields and the deadline is checked: they may decode to nothing, in which case
/// [`decode_to_content`] would only return at the end.
const BYTES_PER_YIELD: usize = 64 * 1024;
/// Chunks after which the task yields; a chunk can be one byte.
const CHUNKS_PER_YIELD: u32 = 256;
/// Maximum overhead of the coding of an incompressible body, in bytes.
const MAX_CODING_OVERHEAD_BYTES: u64 = 64 * 1024;

/// The body of a response, not read yet. Dropping it closes the connection.
pub struct ResponseBody {
    reader: BodyReader,
    /// The sender of a connection that can be reused afterwards.
    reusable_sender: Option<(SendRequest<Full<Bytes>>, HeaderLimit)>,
    content_codings: Result<ContentCodings, Failure>,
}

/// The reusable parts of a connection after its response was read.
pub(super) struct ReusableParts {
    pub(super) sender: SendRequest<Full<Bytes>>,
    pub(super) driver: ConnectionDriver,
    pub(super) timings: ExchangeTimings,
    pub(super) header_limit: HeaderLimit,
}

/// The source of the chunks of a body.
pub(super) enum BodySource {
    /// HTTP/1 and HTTP/2.
    Hyper(hyper::body::Incoming),
    /// HTTP/3.
    Http3(Box<Http3Body>),
}

/// Which bytes of a body are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRetention {
    /// All bytes.
    All,
    /// The first bytes, up to this number; the others are only read, checked and counted.
    Prefix(usize),
    /// None; they are only read, checked and counted.
    Discard,
}

/// The content of a body.
#[derive(Debug, Default)]
pub struct BodyContent {
    /// The kept bytes, decoded.
    pub bytes: Vec<u8>,
    /// Number of bytes over the wire, without chunk framing.
    pub wire_bytes: u64,
    /// Number of bytes after decoding.
    pub body_bytes: u64,
    /// A remark about declared codings that were not decoded, since they are unknown.
    pub unknown_coding_note: Option<String>,
    /// Why it could not be read to its end.
    pub failure: Option<Failure>,
}

impl BodyContent {
    fn push(&mut self, bytes: &[u8], retention: BodyRetention) {
        let count = match retention {
            BodyRetention::All => bytes.len(),
            BodyRetention::Prefix(count) => count.saturating_sub(self.bytes.len()).min(bytes.len()),
            BodyRetention::Discard => 0,
        };
        self.bytes.extend_from_slice(&bytes[..count]);
    }
}

impl ResponseBody {
    pub(super) fn new(
        incoming: hyper::body::Incoming,
        driver: ConnectionDriver,
        timings: ExchangeTimings,
        headers: &HeaderMap,
    ) -> Self {
        Self::from_source(BodySource::Hyper(incoming), driver, timings, headers)
    }

    pub(super) fn from_http3(
        body: Http3Body,
        driver: ConnectionDriver,
        timings: ExchangeTimings,
        headers: &HeaderMap,
    ) -> Self {
        Self::from_source(BodySource::Http3(Box::new(body)), driver, timings, headers)
    }

    fn from_source(
        body_source: BodySource,
        driver: ConnectionDriver,
        timings: ExchangeTimings,
        headers: &HeaderMap,
    ) -> Self {
        let body_reader = BodyReader {
            chunk_source: body_source,
            driver,
            timings,
            current_chunk: Bytes::new(),
            wire_bytes: 0,
            wire_limit: 0,
            bytes_since_yield: 0,
            failure: None,
        };
        Self {
            reader: body_reader,
            reusable_sender: None,
            content_codings: content_coding::parse_content_encoding(headers),
        }
    }

    pub(super) fn with_sender(self, sender: SendRequest<Full<Bytes>>, header_limit: HeaderLimit) -> Self {
        Self { reusable_sender: Some((sender, header_limit)), ..self }
    }

    /// Reads to the end, at most until `deadline` and at most `max_body_bytes` bytes after decoding. Sets transfer in
    /// `phases`.
    pub async fn read(
        mut self,
        retention: BodyRetention,
        max_body_bytes: u64,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> BodyContent {
        self.read_inner(retention, max_body_bytes, deadline, phases).await
    }

    /// Like `read`; also returns the reusable parts of the connection when the body was read to its end.
    pub(super) async fn read_and_take_parts(
        mut self,
        retention: BodyRetention,
        max_body_bytes: u64,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> (BodyContent, Option<ReusableParts>) {
        let content = self.read_inner(retention, max_body_bytes, deadline, phases).await;
        let Some((sender, header_limit)) = self.reusable_sender.take().filter(|_| content.failure.is_none())
        else {
            return (content, None);
        };
        // A decoder may finish before the end of the body.
        let at_end = match timeout_at(deadline.at, self.reader.fill_buf()).await {
            Ok(Ok(undecoded)) => undecoded.is_empty(),
            _ => false,
        };
        let BodyReader { driver, timings, .. } = self.reader;
        (content, at_end.then_some(ReusableParts { sender, driver, timings, header_limit }))
    }

    async fn read_inner(
        &mut self,
        retention: BodyRetention,
        max_body_bytes: u64,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> BodyContent {
        let mut content = BodyContent::default();
        self.reader.wire_limit = max_body_bytes.saturating_add(MAX_CODING_OVERHEAD_BYTES);
        if let BodySource::Http3(body) = &self.reader.chunk_source {
            body.raise_limit(self.reader.wire_limit);
        }
        // Pinned here, since returning a future copies it.
        let result =
            timeout_at(deadline.at, pin!(self.decode_into(&mut content, retention, max_body_bytes))).await;
        content.wire_bytes = self.reader.wire_bytes;
        content.failure = match result {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(failure),
            Err(_) => Some(Failure::timed_out(Phase::Transfer, deadline.timeout)),
        };
        self.reader.timings.write_phases(phases);
        content
    }

    async fn decode_into(
        &mut self,
        content: &mut BodyContent,
        retention: BodyRetention,
        max_body_bytes: u64,
    ) -> Result<(), Failure> {
        match self.reader.fill_buf().await.map(<[u8]>::is_empty) {
            // An empty body needs no decoding, whatever the headers declare.
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => return Err(self.read_failure(&error, &ContentCodings::default(), max_body_bytes)),
        }
        let codings = self.content_codings.clone()?;
        content.unknown_coding_note = codings.unknown_coding_note();
        let result = if codings.is_empty() {
            copy_to_content(&mut self.reader, content, retention, max_body_bytes).await
        } else {
            match content_coding::build_decoder(&mut self.reader, &codings, max_body_bytes).await {
                Ok(decoder) => decode_to_content(decoder, content, retention).await,
                Err(error) => Err(error),
            }
        };
        result.map_err(|error| self.read_failure(&error, &codings, max_body_bytes))
    }

    fn read_failure(&mut self, error: &io::Error, codings: &ContentCodings, max_body_bytes: u64) -> Failure {
        if let Some(failure) = self.reader.failure.take() {
            return failure;
        }
        if SizeLimitExceeded::caused(error) {
            return too_large_failure(max_body_bytes);
        }
        let detail = format!("`{codings}`: {error}");
        Failure::new(Phase::Transfer, FailureKind::EncodingInvalid, detail)
    }
}

fn too_large_failure(max_body_bytes: u64) -> Failure {
    Failure::new(
        Phase::Transfer,
        FailureKind::ResponseTooLarge,
        format!("the body has more than {max_body_bytes} bytes"),
    )
}

async fn copy_to_content(
    body_reader: &mut BodyReader,
    content: &mut BodyContent,
    retention: BodyRetention,
    max_body_bytes: u64,
) -> io::Result<()> {
    for chunk_number in 1_u32.. {
        let bytes = body_reader.fill_buf().await?;
        let count = bytes.len();
        if count == 0 {
            break;
        }
        content.body_bytes += count as u64;
        if content.body_bytes > max_body_bytes {
            return Err(SizeLimitExceeded.into());
        }
        content.push(bytes, retention);
        body_reader.consume(count);
        if chunk_number.is_multiple_of(CHUNKS_PER_YIELD) {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

async fn decode_to_content(
    mut decoder: content_coding::Decoder<'_>,
    content: &mut BodyContent,
    retention: BodyRetention,
) -> io::Result<()> {
    let mut decoded = Vec::with_capacity(DECODE_CHUNK_BYTES);
    for chunk_number in 1_u32.. {
        decoded.clear();
        if decoder.read_buf(&mut decoded).await? == 0 {
            break;
        }
        content.body_bytes += decoded.len() as u64;
        content.push(&decoded, retention);
        if chunk_number.is_multiple_of(DECODE_CHUNKS_PER_YIELD) {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

/// The undecoded body as a buffered reader, which drives the connection while it waits.
pub(super) struct BodyReader {
    chunk_source: BodySource,
    driver: ConnectionDriver,
    timings: ExchangeTimings,
    current_chunk: Bytes,
    wire_bytes: u64,
    wire_limit: u64,
    /// Bytes consumed since the last yield.
    bytes_since_yield: usize,
    /// Why reading failed, set before the reader returns a generic error.
    failure: Option<Failure>,
}

impl BodyReader {
    fn record_failure(&mut self, failure: Failure) -> io::Error {
        self.failure = Some(failure);
        io::ErrorKind::Other.into()
    }
}

impl BodyReader {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        match &mut self.chunk_source {
            BodySource::Http3(body) => body.poll_data(cx),
            BodySource::Hyper(body) => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                let timings = &self.timings;
                Poll::Ready(frame.map(|frame| match frame {
                    Ok(frame) => Ok(frame.into_data().unwrap_or_default()),
                    Err(error) => Err(failure::from_hyper_error(timings, &error)),
                }))
            }
        }
    }
}

impl AsyncBufRead for BodyReader {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        if this.bytes_since_yield >= BYTES_PER_YIELD {
            this.bytes_since_yield = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        while this.current_chunk.is_empty() {
            let mut chunk = this.poll_chunk(cx);
            if chunk.is_pending() {
                this.driver.poll(cx);
                chunk = this.poll_chunk(cx);
            }
            match ready!(chunk) {
                None => break,
                Some(Ok(chunk)) => this.current_chunk = chunk,
                Some(Err(failure)) => return Poll::Ready(Err(this.record_failure(failure))),
            }
            this.wire_bytes += this.current_chunk.len() as u64;
            if this.wire_bytes > this.wire_limit {
                let failure = too_large_failure(this.wire_limit - MAX_CODING_OVERHEAD_BYTES);
                return Poll::Ready(Err(this.record_failure(failure)));
            }
        }
        Poll::Ready(Ok(&this.current_chunk))
    }

    fn consume(mut self: Pin<&mut Self>, amount: usize) {
        self.current_chunk.advance(amount);
        self.bytes_since_yield += amount;
    }
}

impl AsyncRead for BodyReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let bytes = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = bytes.len().min(buf.remaining());
        buf.put_slice(&bytes[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}
