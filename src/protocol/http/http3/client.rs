//! Requests over HTTP/3.

use std::future::poll_fn;

use bytes::Bytes;
use h3::error::StreamError;
use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout_at;

use super::body::Http3Body;
use super::failure::{FailureContext, too_large_failure};
use super::stream::{Http3Sender, Http3Stream};
use crate::domain::{Failure, FailureKind, Phases};
use crate::net::{Deadline, QuicConnection};
use crate::protocol::http::body::ResponseBody;
use crate::protocol::http::driver::ConnectionDriver;
use crate::protocol::http::exchange::ResponseHead;
use crate::protocol::http::limits::{MAX_HEAD_BYTES, MAX_HEADER_FIELDS};
use crate::protocol::http::request_error::{RequestError, RetryReason};
use crate::protocol::http::timings::ExchangeTimings;

/// Sends `request` over `quic` and waits for the head of the response, like
/// [`crate::protocol::http::exchange::send_request`] does over a stream.
///
/// # Errors
/// Fails in the phase where it happened.
pub async fn send_http3_request(
    quic: QuicConnection,
    request: Request<Full<Bytes>>,
    deadline: Deadline,
    phases: &mut Phases,
) -> Result<(ResponseHead, ResponseBody), Failure> {
    let (timings, is_head_request) = (ExchangeTimings::for_multiplexed(), request.method() == Method::HEAD);
    let exchange = async {
        let (mut connection, mut driver) = Http3Connection::handshake(quic, timings.clone()).await?;
        let result = driver.drive_until(connection.run_exchange(request, &timings)).await;
        let (response, stream) = result.map_err(|error| error.failure)?;
        Ok((response, stream, connection, driver))
    };
    let result = timeout_at(deadline.at, exchange).await;
    if matches!(result, Ok(Ok(_))) {
        timings.record_response_head();
    }
    timings.write_phases(phases);
    let (response, stream, connection, driver) = match result {
        Ok(Ok(result)) => result,
        Ok(Err(failure)) => return Err(failure),
        Err(_) => return Err(Failure::timed_out(timings.phase(), deadline.timeout)),
    };
    connection.build_response(response, stream, is_head_request, driver, timings)
}

/// A connection. Clones share it; its [`ConnectionDriver`] must be polled.
#[derive(Clone)]
pub(in crate::protocol::http) struct Http3Connection {
    sender: Http3Sender,
    failure_context: FailureContext,
    connection_timings: ExchangeTimings,
}

impl Http3Connection {
    /// Creates the connection over `quic`, with its driver; `timings` are those of the connection.
    pub(in crate::protocol::http) async fn handshake(
        quic: QuicConnection,
        timings: ExchangeTimings,
    ) -> Result<(Self, ConnectionDriver), Failure> {
        let failure_context = FailureContext { connection: quic.connection, meter: quic.meter };
        let result = h3::client::builder()
            .max_field_section_size(u64::from(MAX_HEAD_BYTES))
            .send_grease(false)
            .build(h3_quinn::Connection::new(failure_context.connection.clone()))
            .await;
        let (mut connection, sender) = result
            .map_err(|error| failure_context.connection_failure(timings.phase(), &error.to_string()))?;
        let connection = async move { poll_fn(|cx| connection.poll_close(cx)).await };
        let driver = ConnectionDriver::new(connection, None, None);
        Ok((Self { sender, failure_context, connection_timings: timings }, driver))
    }

    /// Whether it accepts no more exchanges.
    pub(in crate::protocol::http) fn is_closed(&self) -> bool {
        self.failure_context.connection.close_reason().is_some()
    }

    /// Runs one exchange up to the head of its response. The caller must drive the connection elsewhere.
    pub(in crate::protocol::http) async fn send_request(
        &mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(ResponseHead, ResponseBody), RequestError> {
        let (timings, is_head_request) =
            (ExchangeTimings::for_multiplexed(), request.method() == Method::HEAD);
        timings.assume_sent_at_start();
        let timeout_error = || RequestError {
            failure: Failure::timed_out(timings.phase(), deadline.timeout),
            retry_reason: None,
        };
        let result = timeout_at(deadline.at, self.run_exchange(request, &timings)).await;
        let result = result.unwrap_or_else(|_| Err(timeout_error()));
        if result.is_ok() {
            timings.record_response_head();
            self.connection_timings.record_response_head();
        }
        timings.write_phases(phases);
        let (head, stream) = result?;
        let response = self.clone().build_response(
            head,
            stream,
            is_head_request,
            ConnectionDriver::without_connection(),
            timings,
        );
        response.map_err(|failure| RequestError { failure, retry_reason: None })
    }

    async fn run_exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        timings: &ExchangeTimings,
    ) -> Result<(Response<()>, Http3Stream), RequestError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let sender = &mut self.sender;
        let exchange = async {
            let mut stream: Http3Stream = sender.send_request(Request::from_parts(parts, ())).await?;
            if !body.is_empty() {
                stream.send_data(body).await?;
            }
            stream.finish().await?;
            timings.record_request_sent();
            loop {
                let response = stream.recv_response().await?;
                // Informational responses are skipped; the meter stops an endless series.
                if !response.status().is_informational() {
                    return Ok::<_, StreamError>((response, stream));
                }
            }
        };
        let failure = tokio::select! {
            result = exchange => match result {
                Ok(result) => return Ok(result),
                Err(error) => self.failure_context.stream_failure(timings.phase(), &error),
            },
            () = self.failure_context.meter.wait_until_over_limit() => too_large_failure(timings.phase()),
        };
        // It answered other requests but not this one, so it is being closed (RFC 9114 5.2).
        let is_closing =
            matches!(failure.kind, FailureKind::NoResponse) && self.connection_timings.has_response_head();
        Err(RequestError { failure, retry_reason: is_closing.then_some(RetryReason::StaleConnection) })
    }

    fn build_response(
        self,
        response: Response<()>,
        stream: Http3Stream,
        is_head_request: bool,
        driver: ConnectionDriver,
        timings: ExchangeTimings,
    ) -> Result<(ResponseHead, ResponseBody), Failure> {
        let (parts, ()) = response.into_parts();
        if parts.headers.len() > MAX_HEADER_FIELDS {
            let detail = format!("the head has more than {MAX_HEADER_FIELDS} fields");
            return Err(Failure::new(timings.phase(), FailureKind::ResponseTooLarge, detail));
        }
        let content_length =
            parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let content_length =
            content_length.filter(|_| !is_head_request && !matches!(parts.status.as_u16(), 204 | 304));
        let body = Http3Body {
            stream,
            _sender: self.sender,
            failure_context: self.failure_context,
            content_length,
            received_bytes: 0,
        };
        let body = ResponseBody::from_http3(body, driver, timings, &parts.headers);
        Ok((
            ResponseHead {
                status: parts.status,
                version: parts.version,
                reason_phrase: None,
                headers: parts.headers,
            },
            body,
        ))
    }
}
