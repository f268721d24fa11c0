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

use super::load_options::LoadOptions;
use super::origin::OriginProtocol;
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
pub(super) type ObjectRequest = Request<Full<Bytes>>;

/// Something under way.
pub(super) type LoadTask<'a> = Pin<Box<dyn Future<Output = TaskOutcome> + Send + 'a>>;

/// What came of something that was under way; of the origin with this number.
pub(super) enum TaskOutcome {
    /// The addresses of its host; asked for on behalf of an object.
    Resolved {
        origin: usize,
        object: usize,
        addresses: Result<Vec<IpAddr>, Failure>,
        trace: Box<ConnectTrace>,
    },
    /// A connection to it, opened for an object.
    Connected {
        origin: usize,
        object: usize,
        connection: Result<NewConnection, Failure>,
        trace: Box<ConnectTrace>,
    },
    /// An exchange for an object.
    Responded { origin: usize, object: usize, answer: Box<ObjectResponse> },
    /// Its shared connection of this number has ended.
    ConnectionClosed { origin: usize, connection: usize },
}

/// A connection that was opened.
pub(super) enum NewConnection {
    /// For one exchange at a time.
    Http1(Http1Connection),
    /// For all.
    Multiplexed(MultiplexedConnection, ConnectionDriver),
}

/// A connection that an exchange goes over.
pub(super) enum ConnectionRef {
    /// That is its own meanwhile.
    Http1(Http1Connection),
    /// That it shares, of this number.
    Multiplexed(usize, MultiplexedConnection),
}

impl ConnectionRef {
    /// What is spoken over it.
    pub(super) const fn version(&self) -> Version {
        match self {
            Self::Http1(_) => Version::HTTP_11,
            Self::Multiplexed(_, connection) => connection.version(),
        }
    }
}

/// What an exchange came to.
pub(super) struct ObjectResponse {
    /// Head and body, or the failure; a body can fail too.
    pub(super) outcome: Result<(ResponseHead, BodyContent), Failure>,
    /// Where the time went.
    pub(super) phases: Phases,
    /// Why the request is to be sent again over another connection.
    pub(super) retry: Option<RetryReason>,
    /// The connection, when it was not shared and can be used again.
    pub(super) reusable: Option<Http1Connection>,
    /// The number of the connection, when it was shared.
    pub(super) shared: Option<usize>,
}

pub(super) async fn resolve(
    options: &LoadOptions<'_>,
    endpoint: Endpoint,
    deadline: Deadline,
    origin: usize,
    object: usize,
) -> TaskOutcome {
    let mut trace = Box::<ConnectTrace>::default();
    let asked = deadline.enforce(Phase::Resolve, options.net.resolve(&endpoint, deadline, &mut trace)).await;
    TaskOutcome::Resolved { origin, object, addresses: asked.and_then(|answer| answer), trace }
}

/// Opens a connection to one of the addresses, or through the proxy that the endpoint names.
pub(super) async fn connect(
    terms: &LoadOptions<'_>,
    to: (Arc<[IpAddr]>, Endpoint),
    (speech, limit): (OriginProtocol, HeaderLimit),
    deadline: Deadline,
) -> (Result<NewConnection, Failure>, Box<ConnectTrace>) {
    let mut trace = Box::<ConnectTrace>::default();
    let opened = async {
        let (addresses, endpoint) = &to;
        // What is rarer than HTTP/1.1 in clear is on the heap: the others need no room for it.
        if let OriginProtocol::Quic(options) = &speech {
            let quic = terms.net.quic_connect_resolved(endpoint, addresses, options, deadline, &mut trace);
            let opening = async { MultiplexedConnection::handshake_quic(quic.await?).await };
            return Box::pin(connect_multiplexed(opening, deadline)).await;
        }
        let tcp = terms.net.connect_resolved(endpoint, addresses, deadline, &mut trace).await?;
        match speech {
            OriginProtocol::Tls(session) => {
                Box::pin(connect_tls(tcp, session?, limit, deadline, &mut trace)).await
            }
            OriginProtocol::PlainHttp2 => {
                Box::pin(connect_multiplexed(
                    MultiplexedConnection::handshake(ResetOnClose::new(tcp)),
                    deadline,
                ))
                .await
            }
            _ => Http1Connection::handshake(ResetOnClose::new(tcp), limit).await.map(NewConnection::Http1),
        }
    };
    let opened = opened.await;
    (opened, trace)
}

async fn connect_tls(
    tcp: TcpStream,
    session: TlsSession,
    limit: HeaderLimit,
    deadline: Deadline,
    trace: &mut ConnectTrace,
) -> Result<NewConnection, Failure> {
    // All that matters is read before the close.
    set_reset_on_close(&tcp);
    let stream = session.handshake(tcp, deadline, trace).await?;
    if stream.alpn_protocol() == Some(b"h2") {
        Box::pin(connect_multiplexed(MultiplexedConnection::handshake(stream), deadline)).await
    } else {
        Http1Connection::handshake(stream, limit).await.map(NewConnection::Http1)
    }
}

async fn connect_multiplexed(
    opening: impl Future<Output = Result<(MultiplexedConnection, ConnectionDriver), Failure>>,
    deadline: Deadline,
) -> Result<NewConnection, Failure> {
    let (shared, driver) = deadline.enforce(Phase::Connect, opening).await??;
    Ok(NewConnection::Multiplexed(shared, driver))
}

/// Sends `request` and reads the answer, as far as an object of this `kind` needs it.
pub(super) async fn fetch(
    over: ConnectionRef,
    request: Result<ObjectRequest, Failure>,
    kind: PageObjectKind,
    body_bytes: u64,
    deadline: Deadline,
) -> ObjectResponse {
    let shared = match &over {
        ConnectionRef::Http1(_) => None,
        ConnectionRef::Multiplexed(number, _) => Some(*number),
    };
    let mut phases = Phases::default();
    let request = match request {
        Ok(request) => request,
        Err(failure) => {
            return ObjectResponse { outcome: Err(failure), phases, retry: None, reusable: None, shared };
        }
    };
    let asked = match over {
        ConnectionRef::Http1(connection) => connection.send_request(request, deadline, &mut phases).await,
        // Beside the other, larger than that, and the rarer one.
        ConnectionRef::Multiplexed(_, mut connection) => {
            Box::pin(connection.send_request(request, deadline, &mut phases)).await
        }
    };
    let (head, body) = match asked {
        Ok(answer) => answer,
        Err(no) => {
            return ObjectResponse {
                outcome: Err(no.failure),
                phases,
                retry: no.retry,
                reusable: None,
                shared,
            };
        }
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
    ObjectResponse { outcome: Ok((head, content)), phases, retry: None, reusable: back, shared }
}

/// The request for `url` with these header fields.
///
/// # Errors
/// Ours, when the URL is longer than a request line may be.
pub(super) fn build_request(
    url: &Url,
    headers: HeaderMap,
    version: Version,
) -> Result<ObjectRequest, Failure> {
    let target = match version {
        Version::HTTP_2 | Version::HTTP_3 => &url[..Position::AfterQuery],
        _ => &url[Position::BeforePath..Position::AfterQuery],
    };
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = target.parse().map_err(|_| invalid_url_failure(url))?;
    *request.version_mut() = version;
    *request.headers_mut() = headers;
    Ok(request)
}

/// That there can be no request for `url`.
pub(super) fn invalid_url_failure(url: &Url) -> Failure {
    let detail = format!("`{}` cannot be put into a request", display_url(url));
    Failure::new(Phase::Prepare, FailureKind::Internal, detail)
}

/// `timeout` from `began` on, and at most until `end`.
pub(super) fn object_deadline(end: Deadline, started: Instant, timeout: std::time::Duration) -> Deadline {
    let own = started + timeout;
    if own < end.at { Deadline { at: own, timeout } } else { end }
}
