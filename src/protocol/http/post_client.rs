//! Sends POST requests to a server that the operator names, such as the Vigie server of an agent: no redirects, a new
//! connection for each request.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use url::{Host, Position, Url};

use super::body::BodyRetention;
use super::exchange::{HttpProtocol, send_request};
use super::retry_after::retry_after;
use crate::domain::{Failure, FailureKind, Phase, Phases, Timestamp, replace_control_chars};
use crate::net::{
    ConnectionTrace, DENIED_BY_DEFAULT, Deadline, EgressPolicy, Endpoint, Net, NetConfig, NetConfigError,
    Pem, TlsOptions, TrustConfig,
};

/// Most bytes of a response that are read.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;
/// Most characters of a response that messages quote.
const MAX_QUOTED_CHARS: usize = 200;
/// Most bytes of a response that are kept.
const MAX_KEPT_BYTES: usize = 8 * 1024;

/// Why a client cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum PostClientError {
    /// The file of authorities cannot be read.
    #[error("the CA file `{file}` cannot be read: {source}")]
    CaFile {
        /// Its path.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The network cannot be set up.
    #[error(transparent)]
    Net(#[from] NetConfigError),
}

/// Sends POST requests.
#[derive(Clone, Debug)]
pub struct PostClient {
    net: Net,
}

/// The response to a POST.
#[derive(Clone, Debug)]
pub struct PostResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its header fields.
    pub headers: HeaderMap,
    /// The beginning of its body, for messages: one line, without control characters.
    pub text: String,
    /// The beginning of its body, for programs.
    pub body: Bytes,
}

impl PostResponse {
    /// Returns the pause that the server requests.
    #[must_use]
    pub fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        retry_after(&self.headers, now)
    }
}

impl PostClient {
    /// Creates a client that connects through `net`, and so under its egress policy.
    #[must_use]
    pub const fn over(net: Net) -> Self {
        Self { net }
    }

    /// Creates a client without egress policy that trusts the authorities of the system, and those in `ca_file` (PEM).
    /// Reads the resolver settings of the system.
    ///
    /// # Errors
    /// Fails when `ca_file` cannot be read or has no certificates.
    pub fn new(ca_file: Option<&Path>) -> Result<Self, PostClientError> {
        let mut trust_config = TrustConfig::default();
        if let Some(file) = ca_file {
            let pem = Pem::read(file)
                .map_err(|source| PostClientError::CaFile { file: file.display().to_string(), source })?;
            pem.check_certificates()?;
            trust_config.additional_authorities.push(pem);
        }
        // The server is named by whoever starts this, never by a response: its address may be link-local.
        let egress_policy = EgressPolicy::parse(DENIED_BY_DEFAULT, &[]).unwrap_or_default();
        Ok(Self { net: Net::new(&NetConfig { egress_policy, trust_config, ..NetConfig::default() })? })
    }

    /// Sends `body` to `url` with `headers`, within `timeout`.
    ///
    /// # Errors
    /// Fails when no response came; any response is none, whatever its status.
    pub async fn post(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
        timeout: Duration,
    ) -> Result<PostResponse, Failure> {
        let deadline = Deadline::within(timeout);
        let request = build_request(url, headers, body)?;
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => String::new(),
        };
        let endpoint = Endpoint::new(&host, url.port_or_known_default().unwrap_or(80));
        let mut trace = ConnectionTrace::default();
        let tcp = self.net.connect(&endpoint, deadline, &mut trace).await?;
        let (head, body) = if url.scheme() == "https" {
            let options = TlsOptions { alpn_protocols: &[b"http/1.1"], ..TlsOptions::default() };
            let stream = self.net.tls_handshake(tcp, &host, &options, deadline, &mut trace).await?;
            send_request(stream, HttpProtocol::Http1, request, deadline, &mut trace.phases).await?
        } else {
            send_request(tcp, HttpProtocol::Http1, request, deadline, &mut trace.phases).await?
        };
        // The status counts even when the body breaks off.
        let retention = BodyRetention::Prefix(MAX_KEPT_BYTES);
        let content = body.read(retention, MAX_RESPONSE_BYTES, deadline, &mut Phases::default()).await;
        let text = String::from_utf8_lossy(&content.bytes);
        let text = replace_control_chars(text.trim()).chars().take(MAX_QUOTED_CHARS).collect();
        Ok(PostResponse { status: head.status, headers: head.headers, text, body: content.bytes.into() })
    }
}

fn build_request(url: &Url, headers: HeaderMap, body: Bytes) -> Result<Request<Full<Bytes>>, Failure> {
    let invalid = |what: &str| Failure::new(Phase::Connect, FailureKind::Internal, what);
    let mut request = Request::new(Full::new(body.clone()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = url[Position::BeforePath..Position::AfterQuery]
        .parse()
        .map_err(|_| invalid("the URL is not a valid request target"))?;
    *request.headers_mut() = headers;
    let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]);
    let headers = request.headers_mut();
    headers.insert(HOST, host.map_err(|_| invalid("the host is not a valid `Host` header"))?);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("vigie/", env!("CARGO_PKG_VERSION"))));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    Ok(request)
}
