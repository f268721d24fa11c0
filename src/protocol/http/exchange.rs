//! Sends one request and reads the head of its answer.

use std::pin::pin;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::ext::ReasonPhrase;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout_at;

use super::body::Body;
use super::driver::{Driver, Wanted};
use super::fault;
use super::limits::{HEAD_BYTES, HEAD_FIELDS, Room};
use super::recorder::{Marks, Recorder};
use crate::domain::{Failure, Phases};
use crate::net::Deadline;

/// What is spoken on the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0 or HTTP/1.1, as the request says.
    Http1,
    /// HTTP/2, from the first byte on.
    Http2,
}

/// The head of an answer.
#[derive(Debug)]
pub struct Head {
    /// Status code.
    pub status: StatusCode,
    /// Version that the peer answered in.
    pub version: Version,
    /// Reason phrase of HTTP/1; `None` when it is empty.
    pub reason: Option<String>,
    /// Header fields.
    pub headers: HeaderMap,
}

/// Sends `request` over `stream` and waits for the head of the answer, at most until `deadline`. Informational
/// answers are passed over. `phases` gets `send` and `first_byte`, up to the one that failed.
///
/// # Errors
/// The failure, in the phase that it happened in.
pub async fn open<S>(
    stream: S,
    protocol: Protocol,
    request: Request<Full<Bytes>>,
    deadline: Deadline,
    phases: &mut Phases,
) -> Result<(Head, Body), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let marks = Marks::start(protocol == Protocol::Http1);
    let io = TokioIo::new(Recorder::new(stream, marks.clone()));
    // Pinned here, since a future that is handed on is copied.
    let outcome = {
        let work = pin!(async {
            match protocol {
                Protocol::Http1 => ask_http1(io, request, marks.clone()).await,
                // On the heap, as it is the larger one and rarer.
                Protocol::Http2 => Box::pin(ask_http2(io, request, marks.clone())).await,
            }
        });
        timeout_at(deadline.at, work).await
    };
    let outcome = match outcome {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(fault::of(&marks, &error)),
        Err(_) => Err(Failure::timed_out(marks.phase(), deadline.timeout)),
    };
    if outcome.is_ok() {
        marks.answered();
    }
    marks.settle(phases);
    let (response, driver) = outcome?;
    let (head, incoming) = head_of(response, protocol == Protocol::Http1);
    let body = Body::new(incoming, driver, marks, &head.headers);
    Ok((head, body))
}

/// The head of `response`, and its body.
pub(super) fn head_of(response: Response<Incoming>, has_reason: bool) -> (Head, Incoming) {
    let (parts, incoming) = response.into_parts();
    let reason = match parts.extensions.get::<ReasonPhrase>() {
        Some(phrase) => Some(String::from_utf8_lossy(phrase.as_bytes()).into_owned()),
        None if has_reason => parts.status.canonical_reason().map(str::to_owned),
        None => None,
    };
    let reason = reason.filter(|reason| !reason.is_empty());
    (Head { status: parts.status, version: parts.version, reason, headers: parts.headers }, incoming)
}

/// How HTTP/1 is spoken.
pub(super) fn http1(room: Room) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEAD_BYTES as usize).max_header_size(HEAD_BYTES as usize).title_case_headers(true);
    if room == Room::Full {
        builder.max_headers(HEAD_FIELDS);
    }
    builder
}

/// How HTTP/2 is spoken; its tasks go to `wanted`.
pub(super) fn http2(wanted: Wanted) -> http2::Builder<Wanted> {
    let mut builder = http2::Builder::new(wanted);
    builder.max_header_list_size(HEAD_BYTES);
    builder
}

type Answer = (Response<Incoming>, Driver);

async fn ask_http1<I>(io: I, request: Request<Full<Bytes>>, marks: Marks) -> hyper::Result<Answer>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1(Room::Full).handshake(io).await?;
    let mut driver = Driver::new(connection, Some(marks), None);
    let response = driver.drive(sender.send_request(request)).await?;
    Ok((response, driver))
}

async fn ask_http2<I>(io: I, request: Request<Full<Bytes>>, marks: Marks) -> hyper::Result<Answer>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let wanted = Wanted::default();
    let (mut sender, connection) = http2(wanted.clone()).handshake(io).await?;
    let mut driver = Driver::new(connection, Some(marks), Some(wanted));
    let response = driver.drive(sender.send_request(request)).await?;
    Ok((response, driver))
}
