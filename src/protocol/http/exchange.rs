//! Sends one request and reads the head of its response.

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

use super::body::ResponseBody;
use super::driver::{ConnectionDriver, SpawnedTasks};
use super::failure;
use super::limits::{HeaderLimit, MAX_HEAD_BYTES, MAX_HEADER_FIELDS};
use super::timings::{ExchangeTimings, TimedHttpStream};
use crate::domain::{Failure, Phases};
use crate::net::Deadline;

/// The protocol on the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpProtocol {
    /// HTTP/1.0 or HTTP/1.1, as in the request.
    Http1,
    /// HTTP/2, without upgrade.
    Http2,
}

/// The head of a response.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// Status code.
    pub status: StatusCode,
    /// Version of the response.
    pub version: Version,
    /// Reason phrase of HTTP/1; `None` when it is empty.
    pub reason_phrase: Option<String>,
    /// Header fields.
    pub headers: HeaderMap,
}

/// Sends `request` over `stream` and waits for the head of the response, at most until `deadline`. Informational
/// responses are skipped. Sets `send` and `first_byte` in `phases`, up to the one that failed.
///
/// # Errors
/// Fails in the phase where it happened.
pub async fn send_request<S>(
    stream: S,
    protocol: HttpProtocol,
    request: Request<Full<Bytes>>,
    deadline: Deadline,
    phases: &mut Phases,
) -> Result<(ResponseHead, ResponseBody), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let timings = match protocol {
        HttpProtocol::Http1 => ExchangeTimings::for_http1(),
        HttpProtocol::Http2 => ExchangeTimings::for_multiplexed(),
    };
    let io = TokioIo::new(TimedHttpStream::new(stream, timings.clone()));
    // Pinned here, since returning a future copies it.
    let result = {
        let exchange_future = pin!(async {
            match protocol {
                HttpProtocol::Http1 => send_http1(io, request, timings.clone()).await,
                // On the heap, since it is larger and less frequent.
                HttpProtocol::Http2 => Box::pin(send_http2(io, request, timings.clone())).await,
            }
        });
        timeout_at(deadline.at, exchange_future).await
    };
    let result = match result {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(failure::from_hyper_error(&timings, &error)),
        Err(_) => Err(Failure::timed_out(timings.phase(), deadline.timeout)),
    };
    if result.is_ok() {
        timings.record_response_head();
    }
    timings.write_phases(phases);
    let (response, driver) = result?;
    let (head, incoming) = split_response(response, &timings);
    let body = ResponseBody::new(incoming, driver, timings, &head.headers);
    Ok((head, body))
}

/// Returns the head of `response`, and its body.
pub(super) fn split_response(
    response: Response<Incoming>,
    timings: &ExchangeTimings,
) -> (ResponseHead, Incoming) {
    let (parts, incoming) = response.into_parts();
    let reason = match parts.extensions.get::<ReasonPhrase>() {
        Some(phrase) => Some(String::from_utf8_lossy(phrase.as_bytes()).into_owned()),
        None if timings.is_http1() => parts.status.canonical_reason().map(str::to_owned),
        None => None,
    };
    let reason = reason.filter(|reason| !reason.is_empty());
    (
        ResponseHead {
            status: parts.status,
            version: if timings.is_http10() { Version::HTTP_10 } else { parts.version },
            reason_phrase: reason,
            headers: parts.headers,
        },
        incoming,
    )
}

/// Returns the HTTP/1 client configuration.
pub(super) fn http1_client_builder(header_limit: HeaderLimit) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .max_buf_size(MAX_HEAD_BYTES as usize)
        .max_header_size(MAX_HEAD_BYTES as usize)
        // RFC 9112 5.1 and 5.2 let a user agent read both; browsers do.
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .title_case_headers(true);
    if header_limit == HeaderLimit::Maximum {
        builder.max_headers(MAX_HEADER_FIELDS);
    }
    builder
}

/// Returns the HTTP/2 client configuration; spawned tasks go to `spawned_tasks`.
pub(super) fn http2_client_builder(spawned_tasks: SpawnedTasks) -> http2::Builder<SpawnedTasks> {
    let mut builder = http2::Builder::new(spawned_tasks);
    builder.max_header_list_size(MAX_HEAD_BYTES);
    builder
}

type ResponseAndDriver = (Response<Incoming>, ConnectionDriver);

async fn send_http1<I>(
    io: I,
    request: Request<Full<Bytes>>,
    timings: ExchangeTimings,
) -> hyper::Result<ResponseAndDriver>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1_client_builder(HeaderLimit::Maximum).handshake(io).await?;
    let mut driver = ConnectionDriver::new(connection, Some(timings), None);
    let response = driver.drive_until(sender.send_request(request)).await?;
    Ok((response, driver))
}

async fn send_http2<I>(
    io: I,
    request: Request<Full<Bytes>>,
    timings: ExchangeTimings,
) -> hyper::Result<ResponseAndDriver>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let tasks = SpawnedTasks::default();
    let (mut sender, connection) = http2_client_builder(tasks.clone()).handshake(io).await?;
    let mut driver = ConnectionDriver::new(connection, Some(timings), Some(tasks));
    let response = driver.drive_until(sender.send_request(request)).await?;
    Ok((response, driver))
}
