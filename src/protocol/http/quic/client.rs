//! Requests over HTTP/3.

use std::future::poll_fn;

use bytes::Bytes;
use h3::error::StreamError;
use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout_at;

use super::body::QuicBody;
use super::stream::{Sender, Stream};
use super::told::{Told, flooded};
use crate::domain::{Failure, FailureKind, Phases};
use crate::net::{Deadline, QuicConnection};
use crate::protocol::http::body::Body;
use crate::protocol::http::driver::Driver;
use crate::protocol::http::exchange::Head;
use crate::protocol::http::limits::{HEAD_BYTES, HEAD_FIELDS};
use crate::protocol::http::recorder::Marks;
use crate::protocol::http::unanswered::{Again, Unanswered};

/// Sends `request` over `quic` and waits for the head of the answer, as [`crate::protocol::http::exchange::open`] does over a stream.
///
/// # Errors
/// The failure, in the phase that it happened in.
pub async fn open_quic(
    quic: QuicConnection,
    request: Request<Full<Bytes>>,
    deadline: Deadline,
    phases: &mut Phases,
) -> Result<(Head, Body), Failure> {
    let (marks, is_head) = (Marks::start(false), request.method() == Method::HEAD);
    let asking = async {
        let (mut line, mut driver) = Line::over(quic, marks.clone()).await?;
        let answer = driver.drive(line.exchange(request, &marks)).await;
        let (response, stream) = answer.map_err(|no| no.failure)?;
        Ok((response, stream, line, driver))
    };
    let outcome = timeout_at(deadline.at, asking).await;
    if matches!(outcome, Ok(Ok(_))) {
        marks.answered();
    }
    marks.settle(phases);
    let (response, stream, line, driver) = match outcome {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => return Err(failure),
        Err(_) => return Err(Failure::timed_out(marks.phase(), deadline.timeout)),
    };
    line.answer(response, stream, is_head, driver, marks)
}

/// A connection. Clones share it; a [`Driver`] moves it on.
#[derive(Clone)]
pub(in crate::protocol::http) struct Line {
    sender: Sender,
    told: Told,
    marks: Marks,
}

impl Line {
    /// The connection over `quic`, and what moves it on; `marks` are its own.
    pub(in crate::protocol::http) async fn over(
        quic: QuicConnection,
        marks: Marks,
    ) -> Result<(Self, Driver), Failure> {
        let told = Told { connection: quic.connection, gauge: quic.meter };
        let built = h3::client::builder()
            .max_field_section_size(u64::from(HEAD_BYTES))
            .send_grease(false)
            .build(h3_quinn::Connection::new(told.connection.clone()))
            .await;
        let (mut connection, sender) =
            built.map_err(|error| told.of_connection(marks.phase(), &error.to_string()))?;
        let connection = async move { poll_fn(|cx| connection.poll_close(cx)).await };
        let driver = Driver::new(connection, None, None);
        Ok((Self { sender, told, marks }, driver))
    }

    /// Whether it takes no more exchanges.
    pub(in crate::protocol::http) fn is_closed(&self) -> bool {
        self.told.connection.close_reason().is_some()
    }

    /// One exchange of several, up to the head of its answer. Somebody else moves the connection on.
    pub(in crate::protocol::http) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
        deadline: Deadline,
        phases: &mut Phases,
    ) -> Result<(Head, Body), Unanswered> {
        let (marks, is_head) = (Marks::start(false), request.method() == Method::HEAD);
        marks.sent();
        let late =
            || Unanswered { failure: Failure::timed_out(marks.phase(), deadline.timeout), again: None };
        let exchanged = timeout_at(deadline.at, self.exchange(request, &marks)).await;
        let outcome = exchanged.unwrap_or_else(|_| Err(late()));
        if outcome.is_ok() {
            marks.answered();
            self.marks.answered();
        }
        marks.settle(phases);
        let (response, stream) = outcome?;
        let answer = self.clone().answer(response, stream, is_head, Driver::idle(), marks);
        answer.map_err(|failure| Unanswered { failure, again: None })
    }

    async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        marks: &Marks,
    ) -> Result<(Response<()>, Stream), Unanswered> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let sender = &mut self.sender;
        let asking = async {
            let mut stream: Stream = sender.send_request(Request::from_parts(parts, ())).await?;
            if !body.is_empty() {
                stream.send_data(body).await?;
            }
            stream.finish().await?;
            marks.written();
            loop {
                let response = stream.recv_response().await?;
                // Informational answers are passed over; the gauge ends those without end.
                if !response.status().is_informational() {
                    return Ok::<_, StreamError>((response, stream));
                }
            }
        };
        let failure = tokio::select! {
            answer = asking => match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => self.told.of_stream(marks.phase(), &error),
            },
            () = self.told.gauge.over_limit() => flooded(marks.phase()),
        };
        // It has answered others, and not this one: it said farewell (RFC 9114 5.2).
        let is_farewell = matches!(failure.kind, FailureKind::NoResponse) && self.marks.has_head();
        Err(Unanswered { failure, again: is_farewell.then_some(Again::Stale) })
    }

    fn answer(
        self,
        response: Response<()>,
        stream: Stream,
        is_head: bool,
        driver: Driver,
        marks: Marks,
    ) -> Result<(Head, Body), Failure> {
        let (parts, ()) = response.into_parts();
        if parts.headers.len() > HEAD_FIELDS {
            let detail = format!("the head has more than {HEAD_FIELDS} fields");
            return Err(Failure::new(marks.phase(), FailureKind::ResponseTooLarge, detail));
        }
        let declared = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let declared = declared.filter(|_| !is_head && !matches!(parts.status.as_u16(), 204 | 304));
        let body = QuicBody { stream, _sender: self.sender, told: self.told, declared, came: 0 };
        let body = Body::of_quic(body, driver, marks, &parts.headers);
        Ok((
            Head { status: parts.status, version: parts.version, reason: None, headers: parts.headers },
            body,
        ))
    }
}
