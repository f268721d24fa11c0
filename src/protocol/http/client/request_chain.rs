//! One request with its authentication and redirects.

use std::time::Duration;

use http::header::HeaderValue;
use http::{Method, Request as Message, StatusCode, Version};
use http_body_util::Full;
use tokio::io::{AsyncRead, AsyncWrite};
use url::Url;

use super::auth::AuthScheme;
use super::build_request::{RequestParts, build_request};
use super::cookie_jar::CookieJar;
use super::header_list::to_header_list;
use super::redirect;
use super::redirect::display_url;
use super::request::{RequestContext, RequestSpec};
use crate::domain::{Failure, FailureKind, HeaderList, Phase, Phases, RedirectHop};
use crate::net::{ConnectionTrace, ResetOnClose, TlsOptions, set_reset_on_close};
use crate::protocol::http::body::ResponseBody;
use crate::protocol::http::exchange::{HttpProtocol, ResponseHead, send_request};
use crate::protocol::http::http3::send_http3_request;

/// Maximum number of challenges that are answered: the first one, and a few with a stale nonce.
const MAX_AUTH_ATTEMPTS: u32 = 3;

/// A request, repeated as authentication and redirects require.
#[derive(Debug)]
pub struct RequestChain<'a> {
    client: RequestContext<'a>,
    /// As the monitor defines it; changes by redirects are kept separately.
    pub(super) request: &'a RequestSpec,
    jar: &'a mut CookieJar,
    /// Connection and phases of the exchange in progress.
    pub trace: ConnectionTrace,
    /// The URL of the next exchange.
    pub(super) url: Url,
    pub(super) method: Method,
    has_body: bool,
    /// Time from the start of the attempt to that of the exchange in progress.
    pub(super) started_after: Duration,
    /// The cookies sent with that exchange; its response may have set others.
    cookies: Option<HeaderValue>,
    /// The value of `Authorization` sent with it.
    pub(super) authorization: Option<HeaderValue>,
    /// The header fields sent with it, if they are recorded.
    pub(super) sent: Option<HeaderList>,
    /// The negotiated version.
    pub(super) version: Version,
    is_secured: bool,
    version_fallback: Option<String>,
    /// The scheme of the login; set once the server has requested it, or from the start if preemptive.
    pub(super) auth_scheme: Option<AuthScheme>,
    /// Number of challenges answered so far.
    auth_attempts: u32,
    finished: ChainTrace,
}

/// The trace of a chain, complete up to where it ended.
#[derive(Clone, Debug, Default)]
pub struct ChainTrace {
    /// Sums over all exchanges.
    pub phases: Phases,
    /// The last exchange, whose phases are part of the sums.
    pub trace: ConnectionTrace,
    /// The redirects that were followed.
    pub redirects: Vec<RedirectHop>,
}

impl<'a> RequestChain<'a> {
    /// Creates a chain before its first exchange.
    pub fn new(client: RequestContext<'a>, request: &'a RequestSpec, jar: &'a mut CookieJar) -> Self {
        Self {
            client,
            request,
            jar,
            trace: ConnectionTrace::default(),
            url: request.url.clone(),
            method: request.method.clone(),
            has_body: request.body.is_some(),
            started_after: Duration::ZERO,
            cookies: None,
            authorization: None,
            sent: None,
            version: request.version,
            is_secured: false,
            version_fallback: None,
            auth_scheme: request.preemptive_auth.then_some(AuthScheme::Basic),
            auth_attempts: 0,
            finished: ChainTrace::default(),
        }
    }

    /// Returns the current URL, without credentials.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// Whether the exchange in progress completed its TLS handshake.
    #[must_use]
    pub const fn used_tls(&self) -> bool {
        self.is_secured
    }

    /// Whether the exchange in progress sent the login.
    #[must_use]
    pub const fn sent_credentials(&self) -> bool {
        self.authorization.is_some()
    }

    /// Takes the message that the server does not support the requested version.
    pub fn take_version_fallback(&mut self) -> Option<String> {
        self.version_fallback.take()
    }

    /// Opens a connection to the current URL, sends the request and waits for the head of the response; stores its
    /// cookies.
    ///
    /// # Errors
    /// Fails in the phase where it happened; [`Self::trace`] is set up to there.
    pub async fn send(&mut self) -> Result<(ResponseHead, ResponseBody), Failure> {
        self.started_after = self.client.started.elapsed();
        self.sent = None;
        self.is_secured = false;
        self.version = self.request.version;
        let RequestContext { net, connect_options, deadline, .. } = self.client;
        let endpoint = connect_options.endpoint(&self.url);
        let is_https = self.url.scheme() == "https";
        if self.version == Version::HTTP_3 && is_https {
            let options = TlsOptions { alpn: alpn(self.version), ..connect_options.tls.clone() };
            // QUIC and TLS are on the heap, so that requests without them need no space for them.
            let quic = Box::pin(net.quic_connect(&endpoint, &options, deadline, &mut self.trace)).await?;
            self.is_secured = true;
            let message = self.prepare()?;
            let response = send_http3_request(quic, message, deadline, &mut self.trace.phases).await?;
            self.jar.store(&self.url, &response.0.headers);
            return Ok(response);
        }
        if self.version == Version::HTTP_3 {
            let text = display_url(&self.url);
            self.version_fallback =
                Some(format!("`{text}` is not an https URL, HTTP/1.1 was used instead of HTTP/3"));
            self.version = Version::HTTP_11;
        }
        let tcp = net.connect(&endpoint, deadline, &mut self.trace).await?;
        // Everything needed is read before the close, so a reset loses nothing.
        if !is_https {
            let protocol = match self.version {
                Version::HTTP_2 => HttpProtocol::Http2,
                _ => HttpProtocol::Http1,
            };
            return self.exchange(ResetOnClose::new(tcp), protocol).await;
        }
        set_reset_on_close(&tcp);
        let options = TlsOptions { alpn: alpn(self.version), ..connect_options.tls.clone() };
        let handshake = net.handshake(tcp, &endpoint.host, &options, deadline, &mut self.trace);
        let stream = Box::pin(handshake).await?;
        self.is_secured = true;
        let protocol = match stream.alpn_protocol() {
            Some(b"h2") => HttpProtocol::Http2,
            _ => HttpProtocol::Http1,
        };
        if (self.version, protocol) == (Version::HTTP_2, HttpProtocol::Http1) {
            self.version_fallback =
                Some(format!("`{}` does not speak HTTP/2, HTTP/1.1 was used", display_url(&self.url)));
            self.version = Version::HTTP_11;
        }
        Box::pin(self.exchange(stream, protocol)).await
    }

    async fn exchange<S>(
        &mut self,
        stream: S,
        protocol: HttpProtocol,
    ) -> Result<(ResponseHead, ResponseBody), Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let message = self.prepare()?;
        let deadline = self.client.deadline;
        let response = send_request(stream, protocol, message, deadline, &mut self.trace.phases).await?;
        self.jar.store(&self.url, &response.0.headers);
        Ok(response)
    }

    /// Returns the request of the exchange in progress, with its login.
    fn prepare(&mut self) -> Result<Message<Full<bytes::Bytes>>, Failure> {
        self.authorization = self.authorize();
        self.cookies = self.jar.cookie_header(&self.url);
        let message = self.build_request()?;
        self.sent = self.client.record_exchanges.then(|| to_header_list(message.headers()));
        Ok(message)
    }

    fn authorize(&mut self) -> Option<HeaderValue> {
        let login = self.request.credentials.as_ref().filter(|login| login.applies_to(&self.url))?;
        let body = self.request.body.as_deref().filter(|_| self.has_body).unwrap_or_default();
        login.authorization(self.auth_scheme.as_mut()?, &self.method, &self.url, body)
    }

    /// Whether the exchange in progress sends the body.
    pub(super) const fn has_body(&self) -> bool {
        self.has_body
    }

    /// Builds the request of the exchange in progress.
    pub(super) fn build_request(&self) -> Result<Message<Full<bytes::Bytes>>, Failure> {
        let body = self.request.body.as_ref().filter(|_| self.has_body);
        build_request(RequestParts {
            url: &self.url,
            method: &self.method,
            version: self.version,
            origin: &self.request.url,
            headers: &self.request.headers,
            body,
            cookies: self.cookies.clone(),
            authorization: self.authorization.as_ref(),
        })
    }

    /// Continues after a response: answers a challenge, or follows a redirect. Returns whether another [`Self::send`]
    /// must follow; if not, the response is the last one.
    ///
    /// # Errors
    /// Fails for a redirect that cannot be followed, and for a challenge that cannot be answered.
    pub fn advance(&mut self, head: &ResponseHead) -> Result<bool, Failure> {
        if self.request.follow_redirects && redirect::is_redirect(head.status) {
            self.follow_redirect(head)?;
        } else if self.can_authenticate(head) {
            self.auth_scheme = Some(AuthScheme::from_challenges(&head.headers)?);
            self.auth_attempts += 1;
        } else {
            return Ok(false);
        }
        self.close_exchange();
        Ok(true)
    }

    fn follow_redirect(&mut self, head: &ResponseHead) -> Result<(), Failure> {
        let to = redirect::redirect_target(&self.url, head.status, &head.headers)?;
        if self.finished.redirects.len() == redirect::MAX_REDIRECTS {
            let detail = format!(
                "more than {} redirects, the next one to `{}`",
                redirect::MAX_REDIRECTS,
                display_url(&to)
            );
            return Err(Failure::new(Phase::Validate, FailureKind::RedirectLoop, detail));
        }
        self.finished.redirects.push(RedirectHop {
            url: self.url.as_str().to_owned(),
            http_status: head.status.as_u16(),
            address: self.trace.address,
            phases: self.trace.phases,
        });
        let method = redirect::redirect_method(head.status, &self.method);
        self.has_body &= method == self.method;
        self.method = method;
        self.url = to;
        Ok(())
    }

    /// Whether [`Self::advance`] would continue after this response, or fail to.
    #[must_use]
    pub fn will_continue(&self, head: &ResponseHead) -> bool {
        self.request.follow_redirects && redirect::is_redirect(head.status) || self.can_authenticate(head)
    }

    fn can_authenticate(&self, head: &ResponseHead) -> bool {
        head.status == StatusCode::UNAUTHORIZED
            && self.auth_attempts < MAX_AUTH_ATTEMPTS
            && self.request.credentials.as_ref().is_some_and(|login| login.applies_to(&self.url))
            && self.auth_scheme.as_ref().is_none_or(|session| session.is_stale(&head.headers))
    }

    /// Merges the trace of the last exchange. Earlier name and TLS facts remain if it has none.
    fn close_exchange(&mut self) {
        let trace = std::mem::take(&mut self.trace);
        self.finished.phases.merge(&trace.phases);
        let last = &mut self.finished.trace;
        last.phases = trace.phases;
        last.address = trace.address.or(last.address);
        if !trace.resolved.is_empty() {
            last.resolved = trace.resolved;
        }
        if trace.tls.is_some() {
            last.tls = trace.tls;
        }
    }

    /// Returns the trace, complete up to here.
    #[must_use]
    pub fn finish(mut self) -> ChainTrace {
        self.close_exchange();
        self.finished
    }
}

/// Returns the protocols offered by ALPN for a request of `version`.
const fn alpn(version: Version) -> &'static [&'static [u8]] {
    match version {
        Version::HTTP_3 => &[b"h3"],
        Version::HTTP_2 => &[b"h2", b"http/1.1"],
        Version::HTTP_11 => &[b"http/1.1"],
        _ => &[],
    }
}
