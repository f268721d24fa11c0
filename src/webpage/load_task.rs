//! The tasks of loading a page: resolve a host, open a connection, send a request.

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
use crate::net::{ConnectionTrace, Deadline, Endpoint, ResetOnClose, TlsClient, set_reset_on_close};
use crate::protocol::http::client::display_url;
use crate::protocol::http::{
    BodyContent, BodyRetention, ConnectionDriver, HeaderLimit, Http1Connection, MultiplexedConnection,
    ResponseHead, RetryReason,
};

/// Longest prefix of a style sheet or document that is scanned, in bytes.
const MAX_SCAN_BYTES: usize = 4 * 1024 * 1024;
/// Longest prefix of media that is loaded, in bytes.
const MAX_MEDIA_BYTES: u64 = 1024 * 1024;
/// Longest body of a redirect that is read, in bytes, so that the connection can be reused.
const MAX_REDIRECT_BODY_BYTES: u64 = 64 * 1024;

/// A request for an object.
pub(super) type ObjectRequest = Request<Full<Bytes>>;

/// A task in progress.
pub(super) type LoadTask<'a> = Pin<Box<dyn Future<Output = TaskOutcome> + Send + 'a>>;

/// The outcome of a task; `origin` and `object` are indexes into the fields of the page loader.
pub(super) enum TaskOutcome {
    /// The addresses of a host, resolved for an object.
    Resolved {
        origin: usize,
        object: usize,
        addresses: Result<Vec<IpAddr>, Failure>,
        trace: Box<ConnectionTrace>,
    },
    /// A connection, opened for an object.
    Connected {
        origin: usize,
        object: usize,
        connection: Result<NewConnection, Failure>,
        trace: Box<ConnectionTrace>,
    },
    /// The response to a request for an object, or its failure.
    Responded { origin: usize, object: usize, response: Box<ObjectResponse> },
    /// The multiplexed connection with this id was closed.
    ConnectionClosed { origin: usize, connection_id: usize },
}

/// A new connection.
pub(super) enum NewConnection {
    /// For one exchange at a time.
    Http1(Http1Connection),
    /// For concurrent exchanges.
    Multiplexed(MultiplexedConnection, ConnectionDriver),
}

/// The connection that a request is sent on.
pub(super) enum RequestConnection {
    /// An HTTP/1.1 connection, used by one request at a time.
    Http1(Http1Connection),
    /// An HTTP/2 or HTTP/3 connection, with its id.
    Multiplexed(usize, MultiplexedConnection),
}

impl RequestConnection {
    /// Returns its HTTP version.
    pub(super) const fn version(&self) -> Version {
        match self {
            Self::Http1(_) => Version::HTTP_11,
            Self::Multiplexed(_, connection) => connection.version(),
        }
    }
}

/// The response to an exchange.
pub(super) struct ObjectResponse {
    /// Head and body, or the failure; a body can fail too.
    pub(super) outcome: Result<(ResponseHead, BodyContent), Failure>,
    /// Durations of its phases.
    pub(super) phases: Phases,
    /// Why the request should be sent again over another connection.
    pub(super) retry_reason: Option<RetryReason>,
    /// The connection, when it was exclusive and can be reused.
    pub(super) reusable_connection: Option<Http1Connection>,
    /// The id of the connection, when it was shared.
    pub(super) multiplexed_connection_id: Option<usize>,
}

/// Resolves the name of a server for an object.
pub(super) async fn resolve_origin(
    options: &LoadOptions<'_>,
    endpoint: Endpoint,
    deadline: Deadline,
    origin_index: usize,
    object_index: usize,
) -> TaskOutcome {
    let mut trace = Box::<ConnectionTrace>::default();
    let resolved =
        deadline.enforce(Phase::Resolve, options.location_net.resolve(&endpoint, deadline, &mut trace)).await;
    TaskOutcome::Resolved {
        origin: origin_index,
        object: object_index,
        addresses: resolved.and_then(|addresses| addresses),
        trace,
    }
}

/// Opens a connection to one of the addresses, or through the proxy that the endpoint names.
pub(super) async fn connect(
    load_options: &LoadOptions<'_>,
    target: (Arc<[IpAddr]>, Endpoint),
    (protocol, header_limit): (OriginProtocol, HeaderLimit),
    deadline: Deadline,
) -> (Result<NewConnection, Failure>, Box<ConnectionTrace>) {
    let mut trace = Box::<ConnectionTrace>::default();
    let connecting = async {
        let (addresses, endpoint) = &target;
        // Everything but plain HTTP/1.1 is on the heap, so that the latter needs no space for it.
        if let OriginProtocol::Http3(options) = &protocol {
            let quic_connecting = load_options
                .location_net
                .quic_connect_resolved(endpoint, addresses, options, deadline, &mut trace);
            let handshake = async { MultiplexedConnection::handshake_http3(quic_connecting.await?).await };
            return Box::pin(connect_multiplexed(handshake, deadline)).await;
        }
        let tcp =
            load_options.location_net.connect_resolved(endpoint, addresses, deadline, &mut trace).await?;
        match protocol {
            OriginProtocol::Tls(tls_client) => {
                Box::pin(connect_tls(tcp, tls_client?, header_limit, deadline, &mut trace)).await
            }
            OriginProtocol::H2c => {
                Box::pin(connect_multiplexed(
                    MultiplexedConnection::handshake_http2(ResetOnClose::new(tcp)),
                    deadline,
                ))
                .await
            }
            _ => Http1Connection::handshake(ResetOnClose::new(tcp), header_limit)
                .await
                .map(NewConnection::Http1),
        }
    };
    let connection_result = connecting.await;
    (connection_result, trace)
}

async fn connect_tls(
    tcp: TcpStream,
    tls_client: TlsClient,
    header_limit: HeaderLimit,
    deadline: Deadline,
    trace: &mut ConnectionTrace,
) -> Result<NewConnection, Failure> {
    // A reset loses nothing: the whole response is read before the connection is closed.
    set_reset_on_close(&tcp);
    let stream = tls_client.handshake(tcp, deadline, trace).await?;
    if stream.alpn_protocol() == Some(b"h2") {
        Box::pin(connect_multiplexed(MultiplexedConnection::handshake_http2(stream), deadline)).await
    } else {
        Http1Connection::handshake(stream, header_limit).await.map(NewConnection::Http1)
    }
}

async fn connect_multiplexed(
    handshake: impl Future<Output = Result<(MultiplexedConnection, ConnectionDriver), Failure>>,
    deadline: Deadline,
) -> Result<NewConnection, Failure> {
    let (connection, driver) = deadline.enforce(Phase::Connect, handshake).await??;
    Ok(NewConnection::Multiplexed(connection, driver))
}

/// Sends `request` and reads the response, as far as an object of this `object_kind` needs it.
pub(super) async fn fetch_object(
    connection: RequestConnection,
    request: Result<ObjectRequest, Failure>,
    object_kind: PageObjectKind,
    max_body_bytes: u64,
    deadline: Deadline,
) -> ObjectResponse {
    let multiplexed_connection_id = match &connection {
        RequestConnection::Http1(_) => None,
        RequestConnection::Multiplexed(connection_id, _) => Some(*connection_id),
    };
    let mut phases = Phases::default();
    let request = match request {
        Ok(request) => request,
        Err(failure) => {
            return ObjectResponse {
                outcome: Err(failure),
                phases,
                retry_reason: None,
                reusable_connection: None,
                multiplexed_connection_id,
            };
        }
    };
    let result = match connection {
        RequestConnection::Http1(connection) => connection.send_request(request, deadline, &mut phases).await,
        // On the heap: it is larger than the other, and less frequent.
        RequestConnection::Multiplexed(_, mut connection) => {
            Box::pin(connection.send_request(request, deadline, &mut phases)).await
        }
    };
    let (head, body) = match result {
        Ok(response) => response,
        Err(error) => {
            return ObjectResponse {
                outcome: Err(error.failure),
                phases,
                retry_reason: error.retry_reason,
                reusable_connection: None,
                multiplexed_connection_id,
            };
        }
    };
    let status = head.status;
    let (retention, max_bytes) = match object_kind {
        _ if status.is_redirection() => (BodyRetention::Discard, MAX_REDIRECT_BODY_BYTES),
        PageObjectKind::StyleSheet | PageObjectKind::Frame if status.is_success() => {
            (BodyRetention::Prefix(MAX_SCAN_BYTES), max_body_bytes)
        }
        PageObjectKind::Media if status.is_success() => {
            (BodyRetention::Discard, MAX_MEDIA_BYTES.min(max_body_bytes))
        }
        _ => (BodyRetention::Discard, max_body_bytes),
    };
    let (mut content, reusable_connection) =
        body.read_and_reuse(retention, max_bytes, deadline, &mut phases).await;
    // Only a prefix of media and redirect bodies is read: a longer body is no failure.
    let is_prefix_enough =
        object_kind == PageObjectKind::Media && max_bytes == MAX_MEDIA_BYTES || status.is_redirection();
    let is_too_large = |failure: &Failure| failure.kind == FailureKind::ResponseTooLarge;
    if is_prefix_enough && content.failure.as_ref().is_some_and(is_too_large) {
        content.failure = None;
        content.body_bytes = content.body_bytes.min(max_bytes);
        content.wire_bytes = content.wire_bytes.min(max_bytes);
    }
    ObjectResponse {
        outcome: Ok((head, content)),
        phases,
        retry_reason: None,
        reusable_connection,
        multiplexed_connection_id,
    }
}

/// Builds the request for `url` with these header fields.
///
/// # Errors
/// Fails, as Vigie's own fault, when the URL is too long for a request line.
pub(super) fn build_request(
    url: &Url,
    headers: HeaderMap,
    version: Version,
) -> Result<ObjectRequest, Failure> {
    let request_target = match version {
        Version::HTTP_2 | Version::HTTP_3 => &url[..Position::AfterQuery],
        _ => &url[Position::BeforePath..Position::AfterQuery],
    };
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = request_target.parse().map_err(|_| invalid_url_failure(url))?;
    *request.version_mut() = version;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Returns the failure of a URL that cannot be requested.
pub(super) fn invalid_url_failure(url: &Url) -> Failure {
    let detail = format!("`{}` cannot be put into a request", display_url(url));
    Failure::new(Phase::Prepare, FailureKind::Internal, detail)
}

/// Returns the deadline `timeout` after `started`, and at most `attempt_deadline`.
pub(super) fn object_deadline(
    attempt_deadline: Deadline,
    started: Instant,
    timeout: std::time::Duration,
) -> Deadline {
    let object_ends_at = started + timeout;
    if object_ends_at < attempt_deadline.at {
        Deadline { at: object_ends_at, timeout }
    } else {
        attempt_deadline
    }
}
