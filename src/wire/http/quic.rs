//! One HTTP/3 exchange over a QUIC connection that somebody else opened (RFC 9114).

use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use h3::client::{RequestStream, SendRequest};
use h3::error::StreamError;
use h3_quinn::{BidiStream, OpenStreams};
use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use quinn::ConnectionError;
use tokio::time::timeout_at;

use super::body::Body;
use super::driver::Driver;
use super::exchange::Head;
use super::recorder::Marks;
use super::{HEAD_BYTES, HEAD_FIELDS};
use crate::model::{Failure, FailureKind, Phase, Phases, printable};
use crate::net::{Deadline, Gauge, Quic, quic_closed};

type Stream = RequestStream<BidiStream<Bytes>, Bytes>;
type Sender = SendRequest<OpenStreams, Bytes>;

/// Sends `request` over `quic` and waits for the head of the answer, as [`super::open`] does over a stream.
///
/// # Errors
/// The failure, in the phase that it happened in.
pub async fn open_quic(
    quic: Quic,
    request: Request<Full<Bytes>>,
    deadline: Deadline,
    phases: &mut Phases,
) -> Result<(Head, Body), Failure> {
    let marks = Marks::start(false);
    let told = Told { connection: quic.connection, gauge: quic.gauge };
    let is_head = request.method() == Method::HEAD;
    let outcome = timeout_at(deadline.at, ask(&told, request, &marks)).await;
    if matches!(outcome, Ok(Ok(_))) {
        marks.answered();
    }
    marks.settle(phases);
    let (response, stream, sender, driver) = match outcome {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => return Err(failure),
        Err(_) => return Err(Failure::timed_out(marks.phase(), deadline.timeout)),
    };
    let (parts, ()) = response.into_parts();
    if parts.headers.len() > HEAD_FIELDS {
        let detail = format!("the head has more than {HEAD_FIELDS} fields");
        return Err(Failure::new(marks.phase(), FailureKind::ResponseTooLarge, detail));
    }
    let declared = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let declared = declared.filter(|_| !is_head && !matches!(parts.status.as_u16(), 204 | 304));
    let body = QuicBody { stream, _sender: sender, told, declared, came: 0 };
    let body = Body::of_quic(body, driver, marks, &parts.headers);
    Ok((Head { status: parts.status, version: parts.version, reason: None, headers: parts.headers }, body))
}

type Answer = (Response<()>, Stream, Sender, Driver);

async fn ask(told: &Told, request: Request<Full<Bytes>>, marks: &Marks) -> Result<Answer, Failure> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let (mut connection, mut sender) = h3::client::builder()
        .max_field_section_size(u64::from(HEAD_BYTES))
        .send_grease(false)
        .build(h3_quinn::Connection::new(told.connection.clone()))
        .await
        .map_err(|error| told.of_connection(marks.phase(), &error.to_string()))?;
    let connection = async move { poll_fn(|cx| connection.poll_close(cx)).await };
    let mut driver = Driver::new(connection, None, None);
    let exchange = async {
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
    let answer = tokio::select! {
        answer = driver.drive(exchange) => answer,
        () = told.gauge.flooded() => return Err(flooded(marks.phase())),
    };
    let (response, stream) = answer.map_err(|error| told.of_stream(marks.phase(), &error))?;
    Ok((response, stream, sender, driver))
}

/// The body of an answer, not read yet.
pub(super) struct QuicBody {
    stream: Stream,
    /// The connection is closed when this goes.
    _sender: Sender,
    told: Told,
    /// Bytes that `Content-Length` promises.
    declared: Option<u64>,
    came: u64,
}

impl QuicBody {
    /// Lets so many bytes in.
    pub(super) fn allow(&self, bytes: u64) {
        // Frames and datagrams have heads of their own.
        self.told.gauge.allow(bytes.saturating_mul(2));
    }

    /// The next piece; `None` at the end.
    pub(super) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        if self.told.gauge.is_flooded() {
            return Poll::Ready(Some(Err(flooded(Phase::Transfer))));
        }
        let came = ready!(self.stream.poll_recv_data(cx)).map(|data| {
            data.map(|mut data| {
                let length = data.remaining();
                data.copy_to_bytes(length)
            })
        });
        Poll::Ready(match came {
            Ok(Some(data)) => {
                self.came += data.len() as u64;
                Some(Ok(data))
            }
            Ok(None) if self.declared.is_some_and(|declared| declared != self.came) => {
                let detail = format!("ended after {} bytes, which is not what it declares", self.came);
                Some(Err(Failure::new(Phase::Transfer, FailureKind::ResponseTruncated, detail)))
            }
            Ok(None) => None,
            Err(error) => Some(Err(self.told.of_stream(Phase::Transfer, &error))),
        })
    }
}

fn flooded(phase: Phase) -> Failure {
    Failure::new(phase, FailureKind::ResponseTooLarge, "more came than an answer may have")
}

/// Tells what went wrong with an exchange.
#[derive(Clone)]
struct Told {
    connection: quinn::Connection,
    gauge: Gauge,
}

impl Told {
    fn of_stream(&self, phase: Phase, error: &StreamError) -> Failure {
        let failure = |kind, detail: String| Failure::new(phase, kind, detail);
        match error {
            StreamError::HeaderTooBig { .. } => failure(
                FailureKind::ResponseTooLarge,
                format!("the head has more than {HEAD_BYTES} bytes or {HEAD_FIELDS} fields"),
            ),
            StreamError::RemoteTerminate { code, .. } => {
                let kind = match phase {
                    Phase::Transfer => FailureKind::ResponseTruncated,
                    _ => FailureKind::ResponseReset,
                };
                failure(kind, format!("the server reset the stream ({code})"))
            }
            StreamError::RemoteClosing { .. } => {
                failure(FailureKind::NoResponse, "the server takes no requests on the connection".to_owned())
            }
            other => self.of_connection(phase, &other.to_string()),
        }
    }

    /// What it means that the connection ended, or that its peer broke the rules of HTTP/3, as `words` say.
    fn of_connection(&self, phase: Phase, words: &str) -> Failure {
        let failure = |kind, detail: &str| Failure::new(phase, kind, detail);
        match self.connection.close_reason() {
            None | Some(ConnectionError::LocallyClosed) => {
                failure(FailureKind::ResponseInvalid, &printable(words))
            }
            Some(ConnectionError::ApplicationClosed(close)) => {
                let kind = match phase {
                    Phase::Transfer => FailureKind::ResponseTruncated,
                    _ => FailureKind::NoResponse,
                };
                failure(kind, &printable(&format!("the server closed the connection: {close}")))
            }
            Some(error) => Failure { phase, ..quic_closed(self.connection.remote_address(), &error) },
        }
    }
}
