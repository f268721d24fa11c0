//! What is under way for a page: names that are resolved, connections that are opened, exchanges.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Version};
use http_body_util::Full;
use tokio::net::TcpStream;
use tokio::time::Instant;
use url::{Position, Url};

use super::origin::Speech;
use super::terms::Terms;
use crate::domain::{Failure, FailureKind, PageObjectKind, Phase, Phases};
use crate::net::{ConnectTrace, Deadline, Endpoint, ResetOnClose, TlsSession, set_reset_on_close};
use crate::protocol::http::client::display_url;
use crate::protocol::http::{
    BodyContent, BodyRetention, ConnectionDriver, HeaderLimit, Http1Connection, MultiplexedConnection,
    ResponseHead, RetryReason,
};

/// Bytes of a style sheet or document that are searched.
const READ_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of media that are loaded.
const MEDIA_BYTES: u64 = 1024 * 1024;
/// Bytes of the body of a redirect that are read, so that the connection can be used again.
const REDIRECT_BYTES: u64 = 64 * 1024;

/// A request for an object.
pub(super) type Message = Request<Full<Bytes>>;

/// Something under way.
pub(super) type Flight<'a> = Pin<Box<dyn Future<Output = Landed> + Send + 'a>>;

/// What came of something that was under way; of the origin with this number.
pub(super) enum Landed {
    /// The addresses of its host; asked for on behalf of an object.
    Resolved {
        origin: usize,
        object: usize,
        addresses: Result<Vec<IpAddr>, Failure>,
        trace: Box<ConnectTrace>,
    },
    /// A connection to it, opened for an object.
    Opened { origin: usize, object: usize, connection: Result<Opened, Failure>, trace: Box<ConnectTrace> },
    /// An exchange for an object.
    Answered { origin: usize, object: usize, answer: Box<Answer> },
    /// Its shared connection of this number has ended.
    Ended { origin: usize, connection: usize },
}

/// A connection that was opened.
pub(super) enum Opened {
    /// For one exchange at a time.
    Serial(Http1Connection),
    /// For all.
    Shared(MultiplexedConnection, ConnectionDriver),
}

/// A connection that an exchange goes over.
pub(super) enum Over {
    /// That is its own meanwhile.
    Serial(Http1Connection),
    /// That it shares, of this number.
    Shared(usize, MultiplexedConnection),
}

impl Over {
    /// What is spoken over it.
    pub(super) const fn version(&self) -> Version {
        match self {
            Self::Serial(_) => Version::HTTP_11,
            Self::Shared(_, connection) => connection.version(),
        }
    }
}

/// What an exchange came to.
pub(super) struct Answer {
    /// Head and body, or the failure; a body can fail too.
    pub(super) outcome: Result<(ResponseHead, BodyContent), Failure>,
    /// Where the time went.
    pub(super) phases: Phases,
    /// Why the request is to be sent again over another connection.
    pub(super) again: Option<RetryReason>,
    /// The connection, when it was not shared and can be used again.
    pub(super) back: Option<Http1Connection>,
    /// The number of the connection, when it was shared.
    pub(super) shared: Option<usize>,
}

pub(super) async fn resolve(
    terms: &Terms<'_>,
    endpoint: Endpoint,
    deadline: Deadline,
    origin: usize,
    object: usize,
) -> Landed {
    let mut trace = Box::<ConnectTrace>::default();
    let asked = deadline.enforce(Phase::Resolve, terms.net.resolve(&endpoint, deadline, &mut trace)).await;
    Landed::Resolved { origin, object, addresses: asked.and_then(|answer| answer), trace }
}

/// Opens a connection to one of the addresses, or through the proxy that the endpoint names.
pub(super) async fn open(
    terms: &Terms<'_>,
    to: (Arc<[IpAddr]>, Endpoint),
    (speech, room): (Speech, HeaderLimit),
    deadline: Deadline,
) -> (Result<Opened, Failure>, Box<ConnectTrace>) {
    let mut trace = Box::<ConnectTrace>::default();
    let opened = async {
        let (addresses, endpoint) = &to;
        // What is rarer than HTTP/1.1 in clear is on the heap: the others need no room for it.
        if let Speech::Quic(options) = &speech {
            let quic = terms.net.quic_connect_resolved(endpoint, addresses, options, deadline, &mut trace);
            let opening = async { MultiplexedConnection::handshake_quic(quic.await?).await };
            return Box::pin(shared(opening, deadline)).await;
        }
        let tcp = terms.net.connect_resolved(endpoint, addresses, deadline, &mut trace).await?;
        match speech {
            Speech::Tls(session) => Box::pin(secured(tcp, session?, room, deadline, &mut trace)).await,
            Speech::PlainHttp2 => {
                Box::pin(shared(MultiplexedConnection::handshake(ResetOnClose::new(tcp)), deadline)).await
            }
            _ => Http1Connection::handshake(ResetOnClose::new(tcp), room).await.map(Opened::Serial),
        }
    };
    let opened = opened.await;
    (opened, trace)
}

async fn secured(
    tcp: TcpStream,
    session: TlsSession,
    room: HeaderLimit,
    deadline: Deadline,
    trace: &mut ConnectTrace,
) -> Result<Opened, Failure> {
    // All that matters is read before the close.
    set_reset_on_close(&tcp);
    let stream = session.handshake(tcp, deadline, trace).await?;
    if stream.alpn_protocol() == Some(b"h2") {
        Box::pin(shared(MultiplexedConnection::handshake(stream), deadline)).await
    } else {
        Http1Connection::handshake(stream, room).await.map(Opened::Serial)
    }
}

async fn shared(
    opening: impl Future<Output = Result<(MultiplexedConnection, ConnectionDriver), Failure>>,
    deadline: Deadline,
) -> Result<Opened, Failure> {
    let (shared, driver) = deadline.enforce(Phase::Connect, opening).await??;
    Ok(Opened::Shared(shared, driver))
}

/// Sends `request` and reads the answer, as far as an object of this `kind` needs it.
pub(super) async fn exchange(
    over: Over,
    request: Result<Message, Failure>,
    kind: PageObjectKind,
    body_bytes: u64,
    deadline: Deadline,
) -> Answer {
    let shared = match &over {
        Over::Serial(_) => None,
        Over::Shared(number, _) => Some(*number),
    };
    let mut phases = Phases::default();
    let request = match request {
        Ok(request) => request,
        Err(failure) => return Answer { outcome: Err(failure), phases, again: None, back: None, shared },
    };
    let asked = match over {
        Over::Serial(connection) => connection.send_request(request, deadline, &mut phases).await,
        // Beside the other, larger than that, and the rarer one.
        Over::Shared(_, mut connection) => {
            Box::pin(connection.send_request(request, deadline, &mut phases)).await
        }
    };
    let (head, body) = match asked {
        Ok(answer) => answer,
        Err(no) => return Answer { outcome: Err(no.failure), phases, again: no.retry, back: None, shared },
    };
    let status = head.status;
    let (keep, limit) = match kind {
        _ if status.is_redirection() => (BodyRetention::Discard, REDIRECT_BYTES),
        PageObjectKind::Style | PageObjectKind::Frame if status.is_success() => {
            (BodyRetention::Prefix(READ_BYTES), body_bytes)
        }
        PageObjectKind::Media if status.is_success() => (BodyRetention::Discard, MEDIA_BYTES.min(body_bytes)),
        _ => (BodyRetention::Discard, body_bytes),
    };
    let (mut content, back) = body.read_and_reuse(keep, limit, deadline, &mut phases).await;
    // More than is wanted of these is no fault.
    let is_enough = kind == PageObjectKind::Media && limit == MEDIA_BYTES || status.is_redirection();
    let was_long = |failure: &Failure| failure.kind == FailureKind::ResponseTooLarge;
    if is_enough && content.failure.as_ref().is_some_and(was_long) {
        content.failure = None;
        content.body_bytes = content.body_bytes.min(limit);
        content.wire_bytes = content.wire_bytes.min(limit);
    }
    Answer { outcome: Ok((head, content)), phases, again: None, back, shared }
}

/// The request for `url` with these header fields.
///
/// # Errors
/// Ours, when the URL is longer than a request line may be.
pub(super) fn message(url: &Url, headers: HeaderMap, version: Version) -> Result<Message, Failure> {
    let target = match version {
        Version::HTTP_2 | Version::HTTP_3 => &url[..Position::AfterQuery],
        _ => &url[Position::BeforePath..Position::AfterQuery],
    };
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = target.parse().map_err(|_| unaskable(url))?;
    *request.version_mut() = version;
    *request.headers_mut() = headers;
    Ok(request)
}

/// That there can be no request for `url`.
pub(super) fn unaskable(url: &Url) -> Failure {
    let detail = format!("`{}` cannot be put into a request", display_url(url));
    Failure::new(Phase::Prepare, FailureKind::Internal, detail)
}

/// `timeout` from `began` on, and at most until `end`.
pub(super) fn until(end: Deadline, began: Instant, timeout: std::time::Duration) -> Deadline {
    let own = began + timeout;
    if own < end.at { Deadline { at: own, timeout } } else { end }
}
