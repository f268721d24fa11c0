//! Connections that carry more than one exchange: one after another (HTTP/1.1), or many at once (HTTP/2, HTTP/3).

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

use super::body::{Body, Content, Keep, Remainder};
use super::driver::{Driver, Wanted};
use super::exchange::Head;
use super::limits::Room;
use super::quic::Line;
use super::recorder::{Marks, Recorder};
use super::unanswered::{Again, Unanswered};
use super::{exchange, fault};
use crate::domain::{Failure, Phases};
use crate::net::{Deadline, QuicConnection};

/// An HTTP/1.1 connection that carries one exchange at a time.
pub struct Serial {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Driver,
    marks: Marks,
    room: Room,
    /// Whether it has carried an exchange.
    used: bool,
}

impl Serial {
    /// A connection over `stream`; nothing is sent yet.
    ///
    /// # Errors
    /// Those of the stream.
    pub async fn over<S>(stream: S, room: Room) -> Result<Self, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let marks = Marks::start(true);
        let io = TokioIo::new(Recorder::new(stream, marks.clone()));
        let (sender, connection) =
            exchange::http1(room).handshake(io).await.map_err(|error| fault::of(&marks, &error))?;
        let driver = Driver::new(connection, Some(marks.clone()), None);
        Ok(Self { sender, driver, marks, room, used: false })
    }

    /// Sends `request` and waits for the head of the answer, at most until `deadline`. [`Body::read_on`] gives
    /// the connection back. `phases` gets `send` and `first_byte`, up to the one that failed.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(
        mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(Head, Body), Unanswered> {
        self.marks.again();
        let Self { sender, driver, marks, room, used } = &mut self;
        // Pinned here, since a future that is handed on is copied.
        let outcome = {
            let work = pin!(async {
                driver.drive(sender.ready()).await?;
                driver.drive(sender.send_request(request)).await
            });
            timeout_at(deadline.at, work).await
        };
        let outcome = match outcome {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                let stale = *used && marks.bytes_read() == 0 && !error.is_parse();
                let crowded = *room == Room::Usual && error.is_parse_too_large();
                let again = if crowded { Some(Again::Crowded) } else { stale.then_some(Again::Stale) };
                Err(Unanswered { failure: fault::of(marks, &error), again })
            }
            Err(_) => {
                let failure = Failure::timed_out(marks.phase(), deadline.timeout);
                Err(Unanswered { failure, again: None })
            }
        };
        if outcome.is_ok() {
            marks.answered();
        }
        marks.settle(phases);
        let (head, incoming) = exchange::head_of(outcome?, true);
        let Self { sender, driver, marks, room, .. } = self;
        let body = Body::new(incoming, driver, marks, &head.headers);
        // Under TLS the farewell takes a while: such a connection looks alive when the body is there.
        let body = if is_last(&head) { body } else { body.of_connection(sender, room) };
        Ok((head, body))
    }

    /// Moved on once; itself, unless its peer has closed it.
    async fn settled(mut self) -> Option<Self> {
        poll_fn(|cx| {
            self.driver.poll(cx);
            Poll::Ready(())
        })
        .await;
        (!self.sender.is_closed() && self.marks.end().is_none()).then_some(self)
    }
}

impl Body {
    /// As [`Body::read`]; gives the connection back when it can carry another exchange.
    pub async fn read_on(
        self,
        keep: Keep,
        limit: u64,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> (Content, Option<Serial>) {
        let (content, rest) = self.read_to_end(keep, limit, deadline, phases).await;
        let Some(Remainder { sender, driver, marks, room }) = rest else { return (content, None) };
        let connection = Serial { sender, driver, marks, room, used: true };
        (content, connection.settled().await)
    }
}

/// Whether the peer closes the connection after this answer (RFC 9112 9.3).
fn is_last(head: &Head) -> bool {
    let options = head.headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut options = options.flat_map(|value| value.split(',')).map(str::trim);
    head.version < Version::HTTP_11 || options.any(|option| option.eq_ignore_ascii_case("close"))
}

/// An HTTP/2 or HTTP/3 connection. Clones share it; a [`Driver`] moves it on, which whoever opened it has to poll.
#[derive(Clone)]
pub struct Shared(Lane);

#[derive(Clone)]
enum Lane {
    Http2(Http2),
    Http3(Line),
}

impl Shared {
    /// An HTTP/2 connection over `stream`, and what moves it on.
    ///
    /// # Errors
    /// Those of the stream.
    pub async fn over<S>(stream: S) -> Result<(Self, Driver), Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (marks, wanted) = (Marks::start(false), Wanted::default());
        let io = TokioIo::new(Recorder::new(stream, marks.clone()));
        let handshake = exchange::http2(wanted.clone()).handshake(io).await;
        let (sender, connection) = handshake.map_err(|error| fault::of(&marks, &error))?;
        let driver = Driver::new(connection, Some(marks.clone()), Some(wanted));
        Ok((Self(Lane::Http2(Http2 { sender, marks })), driver))
    }

    /// An HTTP/3 connection over `quic`, and what moves it on.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn over_quic(quic: QuicConnection) -> Result<(Self, Driver), Failure> {
        let (line, driver) = Line::over(quic, Marks::start(false)).await?;
        Ok((Self(Lane::Http3(line)), driver))
    }

    /// Whether it takes no more exchanges.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match &self.0 {
            Lane::Http2(http2) => http2.sender.is_closed(),
            Lane::Http3(line) => line.is_closed(),
        }
    }

    /// What it speaks.
    #[must_use]
    pub const fn version(&self) -> Version {
        match &self.0 {
            Lane::Http2(_) => Version::HTTP_2,
            Lane::Http3(_) => Version::HTTP_3,
        }
    }

    /// Sends `request` and waits for the head of the answer, at most until `deadline`. `phases` gets
    /// `first_byte`: when a request left cannot be told where many share a connection.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(Head, Body), Unanswered> {
        match &mut self.0 {
            Lane::Http2(http2) => http2.ask(request, deadline, phases).await,
            Lane::Http3(line) => line.ask(request, deadline, phases).await,
        }
    }
}

#[derive(Clone)]
struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    /// Of the connection.
    marks: Marks,
}

impl Http2 {
    async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(Head, Body), Unanswered> {
        // Of this exchange; those of the connection tell how it ended.
        let marks = Marks::start(false);
        marks.sent();
        let sender = &mut self.sender;
        let work = async {
            sender.ready().await?;
            sender.send_request(request).await
        };
        let outcome = match timeout_at(deadline.at, work).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                marks.ended_as(&self.marks);
                // It has answered others, and not this one: it said farewell (RFC 9113 6.8).
                let again = self.marks.has_head().then_some(Again::Stale);
                Err(Unanswered { failure: fault::of(&marks, &error), again })
            }
            Err(_) => {
                let failure = Failure::timed_out(marks.phase(), deadline.timeout);
                Err(Unanswered { failure, again: None })
            }
        };
        if outcome.is_ok() {
            marks.answered();
            self.marks.answered();
        }
        marks.settle(phases);
        let (head, incoming) = exchange::head_of(outcome?, false);
        let body = Body::new(incoming, Driver::idle(), marks, &head.headers);
        Ok((head, body))
    }
}
