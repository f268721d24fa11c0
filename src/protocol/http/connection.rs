//! Connections for more than one exchange: one after another (HTTP/1.1), or in parallel (HTTP/2, HTTP/3).

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use http::header::CONNECTION;
use http::{Request, Version};
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout_at;

use super::body::{BodyContent, BodyRetention, ResponseBody, ReusableParts};
use super::driver::{ConnectionDriver, SpawnedTasks};
use super::exchange::ResponseHead;
use super::http3::Http3Connection;
use super::limits::HeaderLimit;
use super::request_error::{RequestError, RetryReason};
use super::timings::{ExchangeTimings, TimedHttpStream};
use super::{exchange, failure};
use crate::domain::{Failure, Phases};
use crate::net::{Deadline, QuicConnection};

/// An HTTP/1.1 connection for one exchange at a time.
pub struct Http1Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: ConnectionDriver,
    timings: ExchangeTimings,
    header_limit: HeaderLimit,
    /// Whether it has been used for an exchange.
    was_used: bool,
}

impl Http1Connection {
    /// Creates a connection over `stream`; nothing is sent yet.
    ///
    /// # Errors
    /// Fails when the stream fails.
    pub async fn handshake<S>(stream: S, header_limit: HeaderLimit) -> Result<Self, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let timings = ExchangeTimings::for_http1();
        let io = TokioIo::new(TimedHttpStream::new(stream, timings.clone()));
        let (sender, connection) = exchange::http1_client_builder(header_limit)
            .handshake(io)
            .await
            .map_err(|error| failure::from_hyper_error(&timings, &error))?;
        let driver = ConnectionDriver::new(connection, Some(timings.clone()), None);
        Ok(Self { sender, driver, timings, header_limit, was_used: false })
    }

    /// Sends `request` and waits for the head of the response, at most until `deadline`.
    /// [`ResponseBody::read_and_reuse`] returns the connection. Sets `send` and `first_byte` in `phases`, up to the one
    /// that failed.
    ///
    /// # Errors
    /// Fails without a response, with the reason.
    pub async fn send_request(
        mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(ResponseHead, ResponseBody), RequestError> {
        self.timings.restart();
        let Self { sender, driver, timings, header_limit: limit, was_used: used } = &mut self;
        // Pinned here, since returning a future copies it.
        let result = {
            let exchange_future = pin!(async {
                driver.drive_until(sender.ready()).await?;
                driver.drive_until(sender.send_request(request)).await
            });
            timeout_at(deadline.at, exchange_future).await
        };
        let result = match result {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                let is_stale = *used && timings.bytes_read() == 0 && !error.is_parse();
                let too_many_headers = *limit == HeaderLimit::Default && error.is_parse_too_large();
                let retry_reason = if too_many_headers {
                    Some(RetryReason::TooManyHeaders)
                } else {
                    is_stale.then_some(RetryReason::StaleConnection)
                };
                Err(RequestError { failure: failure::from_hyper_error(timings, &error), retry_reason })
            }
            Err(_) => {
                let failure = Failure::timed_out(timings.phase(), deadline.timeout);
                Err(RequestError { failure, retry_reason: None })
            }
        };
        if result.is_ok() {
            timings.record_response_head();
        }
        timings.write_phases(phases);
        let (head, incoming) = exchange::split_response(result?, timings);
        let Self { sender, driver, timings, header_limit: limit, .. } = self;
        let body = ResponseBody::new(incoming, driver, timings, &head.headers);
        // A TLS shutdown takes a while, so a closing connection would still look alive after the body.
        let body = if closes_connection(&head) { body } else { body.with_sender(sender, limit) };
        Ok((head, body))
    }

    /// Polls the connection once, and returns it unless its peer has closed it.
    async fn if_open(mut self) -> Option<Self> {
        poll_fn(|cx| {
            self.driver.poll(cx);
            Poll::Ready(())
        })
        .await;
        (!self.sender.is_closed() && self.timings.stream_end().is_none()).then_some(self)
    }
}

impl ResponseBody {
    /// Like [`ResponseBody::read`]; also returns the connection if it can be reused.
    pub async fn read_and_reuse(
        self,
        retention: BodyRetention,
        max_body_bytes: u64,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> (BodyContent, Option<Http1Connection>) {
        let (content, reusable) = self.read_and_take_parts(retention, max_body_bytes, deadline, phases).await;
        let Some(ReusableParts { sender, driver, timings, header_limit }) = reusable else {
            return (content, None);
        };
        let connection = Http1Connection { sender, driver, timings, header_limit, was_used: true };
        (content, connection.if_open().await)
    }
}

/// Whether the peer closes the connection after this response (RFC 9112 9.3).
fn closes_connection(head: &ResponseHead) -> bool {
    let connection_options = head.headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut connection_options = connection_options.flat_map(|value| value.split(',')).map(str::trim);
    head.version < Version::HTTP_11 || connection_options.any(|option| option.eq_ignore_ascii_case("close"))
}

/// An HTTP/2 or HTTP/3 connection. Clones share it; its opener must poll its [`ConnectionDriver`].
#[derive(Clone)]
pub struct MultiplexedConnection(MultiplexedProtocol);

#[derive(Clone)]
enum MultiplexedProtocol {
    Http2(Http2Connection),
    Http3(Http3Connection),
}

impl MultiplexedConnection {
    /// Creates an HTTP/2 connection over `stream`, with its driver.
    ///
    /// # Errors
    /// Fails when the stream fails.
    pub async fn handshake_http2<S>(stream: S) -> Result<(Self, ConnectionDriver), Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (timings, tasks) = (ExchangeTimings::for_multiplexed(), SpawnedTasks::default());
        let io = TokioIo::new(TimedHttpStream::new(stream, timings.clone()));
        let handshake = exchange::http2_client_builder(tasks.clone()).handshake(io).await;
        let (sender, connection) = handshake.map_err(|error| failure::from_hyper_error(&timings, &error))?;
        let driver = ConnectionDriver::new(connection, Some(timings.clone()), Some(tasks));
        Ok((
            Self(MultiplexedProtocol::Http2(Http2Connection { sender, connection_timings: timings })),
            driver,
        ))
    }

    /// Creates an HTTP/3 connection over `quic`, with its driver.
    ///
    /// # Errors
    /// Fails when the connection fails.
    pub async fn handshake_http3(quic: QuicConnection) -> Result<(Self, ConnectionDriver), Failure> {
        let (connection, driver) =
            Http3Connection::handshake(quic, ExchangeTimings::for_multiplexed()).await?;
        Ok((Self(MultiplexedProtocol::Http3(connection)), driver))
    }

    /// Whether it accepts no more exchanges.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match &self.0 {
            MultiplexedProtocol::Http2(http2) => http2.sender.is_closed(),
            MultiplexedProtocol::Http3(http3) => http3.is_closed(),
        }
    }

    /// Returns its HTTP version.
    #[must_use]
    pub const fn version(&self) -> Version {
        match &self.0 {
            MultiplexedProtocol::Http2(_) => Version::HTTP_2,
            MultiplexedProtocol::Http3(_) => Version::HTTP_3,
        }
    }

    /// Sends `request` and waits for the head of the response, at most until `deadline`. Sets `first_byte` in `phases`;
    /// when a request was sent is unknown on a shared connection.
    ///
    /// # Errors
    /// Fails without a response, with the reason.
    pub async fn send_request(
        &mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(ResponseHead, ResponseBody), RequestError> {
        match &mut self.0 {
            MultiplexedProtocol::Http2(http2) => http2.send_request(request, deadline, phases).await,
            MultiplexedProtocol::Http3(http3) => http3.send_request(request, deadline, phases).await,
        }
    }
}

#[derive(Clone)]
struct Http2Connection {
    sender: http2::SendRequest<Full<Bytes>>,
    /// The timings of the connection, not of one exchange.
    connection_timings: ExchangeTimings,
}

impl Http2Connection {
    async fn send_request(
        &mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(ResponseHead, ResponseBody), RequestError> {
        // The timings of this exchange; those of the connection tell how it ended.
        let timings = ExchangeTimings::for_multiplexed();
        timings.assume_sent_at_start();
        let sender = &mut self.sender;
        let exchange_future = async {
            sender.ready().await?;
            sender.send_request(request).await
        };
        let result = match timeout_at(deadline.at, exchange_future).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                timings.copy_stream_end_from(&self.connection_timings);
                // It answered other requests but not this one, so it is being closed (RFC 9113 6.8).
                let retry_reason =
                    self.connection_timings.has_response_head().then_some(RetryReason::StaleConnection);
                Err(RequestError { failure: failure::from_hyper_error(&timings, &error), retry_reason })
            }
            Err(_) => {
                let failure = Failure::timed_out(timings.phase(), deadline.timeout);
                Err(RequestError { failure, retry_reason: None })
            }
        };
        if result.is_ok() {
            timings.record_response_head();
            self.connection_timings.record_response_head();
        }
        timings.write_phases(phases);
        let (head, incoming) = exchange::split_response(result?, &timings);
        let body =
            ResponseBody::new(incoming, ConnectionDriver::without_connection(), timings, &head.headers);
        Ok((head, body))
    }
}
