//! One request with its authentication and redirects.

use std::time::Duration;

use http::header::HeaderValue;
use http::{Method, Request as Message, StatusCode, Version};
use http_body_util::Full;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::Url;

use super::auth::AuthScheme;
use super::build_request::{RequestParts, build_request, is_same_origin};
use super::cookie_jar::CookieJar;
use super::header_list::to_header_list;
use super::redirect;
use super::redirect::{RedirectRule, display_url};
use super::request::{RequestContext, RequestSpec};
use crate::domain::{Failure, FailureKind, HeaderList, Phase, Phases, RedirectHop};
use crate::net::{ConnectionTrace, Endpoint, ResetOnClose, TlsOptions, TlsStream, set_reset_on_close};
use crate::protocol::http::body::ResponseBody;
use crate::protocol::http::exchange::{HttpProtocol, ResponseHead, send_request};
use crate::protocol::http::http3::send_http3_request;
use crate::protocol::http::site::is_same_site;
use crate::protocol::http::traceparent::new_traceparent;

/// Maximum number of challenges that are answered: the first one, and a few with a stale nonce.
const MAX_ANSWERED_CHALLENGES: u32 = 3;

/// A request, repeated as authentication and redirects require.
#[derive(Debug)]
pub struct RequestChain<'a> {
    context: RequestContext<'a>,
    /// As the monitor defines it; changes by redirects are kept separately.
    pub(super) request: &'a RequestSpec,
    cookie_jar: &'a mut CookieJar,
    /// Connection and phases of the exchange in progress.
    pub exchange_trace: ConnectionTrace,
    /// The URL of the next exchange.
    pub(super) current_url: Url,
    pub(super) current_method: Method,
    /// Whether the next exchange sends the body: not after a redirect that changed the method.
    has_body: bool,
    /// Time from the start of the attempt to that of the exchange in progress.
    pub(super) exchange_offset: Duration,
    /// The cookies sent with that exchange; its response may have set others.
    cookie_header: Option<HeaderValue>,
    /// The value of `Referer` of the next exchange.
    referer: Option<HeaderValue>,
    /// The value of `Authorization` sent with it.
    pub(super) authorization_header: Option<HeaderValue>,
    /// The value of `traceparent` sent with it.
    traceparent: Option<HeaderValue>,
    /// The header fields sent with it, if they are recorded.
    pub(super) sent_headers: Option<HeaderList>,
    /// The negotiated version.
    pub(super) negotiated_version: Version,
    is_tls_established: bool,
    version_fallback_note: Option<String>,
    /// The scheme of the login; set once the server has requested it, or from the start if preemptive.
    pub(super) auth_scheme: Option<AuthScheme>,
    /// Number of challenges answered so far.
    answered_challenges: u32,
    chain_trace: ChainTrace,
}

/// The trace of a chain, complete up to where it ended.
#[derive(Clone, Debug, Default)]
pub struct ChainTrace {
    /// Sums over all exchanges.
    pub phases: Phases,
    /// The last exchange, whose phases are part of the sums.
    pub last_exchange: ConnectionTrace,
    /// The redirects that were followed.
    pub redirects: Vec<RedirectHop>,
}

impl<'a> RequestChain<'a> {
    /// Creates a chain before its first exchange.
    pub fn new(context: RequestContext<'a>, request: &'a RequestSpec, jar: &'a mut CookieJar) -> Self {
        Self {
            context,
            request,
            cookie_jar: jar,
            exchange_trace: ConnectionTrace::default(),
            current_url: request.url.clone(),
            current_method: request.method.clone(),
            has_body: request.body.is_some(),
            exchange_offset: Duration::ZERO,
            cookie_header: None,
            referer: None,
            authorization_header: None,
            traceparent: None,
            sent_headers: None,
            negotiated_version: request.version,
            is_tls_established: false,
            version_fallback_note: None,
            auth_scheme: request.preemptive_auth.then_some(AuthScheme::Basic),
            answered_challenges: 0,
            chain_trace: ChainTrace::default(),
        }
    }

    /// Returns the current URL, without credentials.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.current_url
    }

    /// Whether the exchange in progress completed its TLS handshake.
    #[must_use]
    pub const fn used_tls(&self) -> bool {
        self.is_tls_established
    }

    /// Whether the exchange in progress sent the login.
    #[must_use]
    pub const fn sent_credentials(&self) -> bool {
        self.authorization_header.is_some()
    }

    /// Takes the remark that another HTTP version was used than the requested one, if so.
    pub fn take_version_fallback_note(&mut self) -> Option<String> {
        self.version_fallback_note.take()
    }

    /// Opens a connection to the current URL, sends the request and waits for the head of the response; stores its
    /// cookies.
    ///
    /// # Errors
    /// Fails in the phase where it happened; [`Self::exchange_trace`] is filled up to that phase.
    pub async fn send(&mut self) -> Result<(ResponseHead, ResponseBody), Failure> {
        self.exchange_offset = self.context.started.elapsed();
        self.sent_headers = None;
        self.is_tls_established = false;
        self.negotiated_version = self.request.version;
        let RequestContext { net, connect_options, deadline, .. } = self.context;
        let endpoint = connect_options.endpoint_of(&self.current_url);
        let is_https = self.current_url.scheme() == "https";
        if self.negotiated_version == Version::HTTP_3 && is_https {
            let options = TlsOptions {
                alpn_protocols: alpn_protocols(self.negotiated_version),
                ..connect_options.tls_options.clone()
            };
            // QUIC and TLS are on the heap, so that requests without them need no space for them.
            let quic =
                Box::pin(net.quic_connect(&endpoint, &options, deadline, &mut self.exchange_trace)).await?;
            self.is_tls_established = true;
            let message = self.prepare_request()?;
            let response =
                send_http3_request(quic, message, deadline, &mut self.exchange_trace.phases).await?;
            self.cookie_jar.store_response_cookies(&self.current_url, &response.0.headers);
            return Ok(response);
        }
        if self.negotiated_version == Version::HTTP_3 {
            let text = display_url(&self.current_url);
            self.version_fallback_note =
                Some(format!("`{text}` is not an https URL, HTTP/1.1 was used instead of HTTP/3"));
            self.negotiated_version = Version::HTTP_11;
        }
        let tcp = net.connect(&endpoint, deadline, &mut self.exchange_trace).await?;
        // Everything needed is read before the close, so a reset loses nothing.
        if !is_https {
            let protocol = match self.negotiated_version {
                Version::HTTP_2 => HttpProtocol::Http2,
                _ => HttpProtocol::Http1,
            };
            return self.exchange_over_stream(ResetOnClose::new(tcp), protocol).await;
        }
        set_reset_on_close(&tcp);
        let options = TlsOptions {
            alpn_protocols: alpn_protocols(self.negotiated_version),
            ..connect_options.tls_options.clone()
        };
        let handshake = net.tls_handshake(tcp, &endpoint.host, &options, deadline, &mut self.exchange_trace);
        let stream = match Box::pin(handshake).await {
            Err(failure) if self.exchange_trace.may_need_weak_suites => {
                Box::pin(self.handshake_with_weak_suites(&endpoint, &options, failure)).await?
            }
            result => result?,
        };
        self.is_tls_established = true;
        let protocol = match stream.alpn_protocol() {
            Some(b"h2") => HttpProtocol::Http2,
            _ => HttpProtocol::Http1,
        };
        if (self.negotiated_version, protocol) == (Version::HTTP_2, HttpProtocol::Http1) {
            self.version_fallback_note = Some(format!(
                "`{}` does not speak HTTP/2, HTTP/1.1 was used",
                display_url(&self.current_url)
            ));
            self.negotiated_version = Version::HTTP_11;
        }
        Box::pin(self.exchange_over_stream(stream, protocol)).await
    }

    /// Connects again to a server that refused the cipher suites, and offers weak ones. Returns `failure` when it
    /// refuses those too.
    async fn handshake_with_weak_suites(
        &mut self,
        endpoint: &Endpoint,
        options: &TlsOptions,
        failure: Failure,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let (net, deadline) = (self.context.net.with_weak_suites(), self.context.deadline);
        let Ok(tcp) = net.connect(endpoint, deadline, &mut self.exchange_trace).await else {
            return Err(failure);
        };
        set_reset_on_close(&tcp);
        let handshake = net.tls_handshake(tcp, &endpoint.host, options, deadline, &mut self.exchange_trace);
        let result = handshake.await;
        result.map_err(|weak_failure| {
            let is_weak_failure_clearer = self.exchange_trace.tls_facts.is_some()
                || weak_failure.kind == FailureKind::TargetUnsupported;
            if is_weak_failure_clearer { weak_failure } else { failure }
        })
    }

    async fn exchange_over_stream<S>(
        &mut self,
        stream: S,
        protocol: HttpProtocol,
    ) -> Result<(ResponseHead, ResponseBody), Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let message = self.prepare_request()?;
        let deadline = self.context.deadline;
        let response =
            send_request(stream, protocol, message, deadline, &mut self.exchange_trace.phases).await?;
        self.cookie_jar.store_response_cookies(&self.current_url, &response.0.headers);
        Ok(response)
    }

    /// Returns the request of the exchange in progress, with its login.
    fn prepare_request(&mut self) -> Result<Message<Full<bytes::Bytes>>, Failure> {
        self.authorization_header = self.build_authorization();
        self.cookie_header = self.cookie_jar.cookie_header(&self.current_url);
        self.traceparent = self.new_traceparent();
        let message = self.build_request()?;
        self.sent_headers = self.context.record_exchanges.then(|| to_header_list(message.headers()));
        Ok(message)
    }

    /// Returns a span of its own for the exchange in progress; other sites than that of the request get none.
    fn new_traceparent(&self) -> Option<HeaderValue> {
        let trace_id =
            self.request.trace_id.filter(|_| is_same_site(&self.current_url, &self.request.url))?;
        new_traceparent(trace_id)
    }

    fn build_authorization(&mut self) -> Option<HeaderValue> {
        let credentials = self
            .request
            .credentials
            .as_ref()
            .filter(|credentials| credentials.applies_to(&self.current_url))?;
        let body = self.request.body.as_deref().filter(|_| self.has_body).unwrap_or_default();
        credentials.authorization_header(
            self.auth_scheme.as_mut()?,
            &self.current_method,
            &self.current_url,
            body,
        )
    }

    /// Whether the exchange in progress sends the body.
    pub(super) const fn has_body(&self) -> bool {
        self.has_body
    }

    /// Builds the request of the exchange in progress.
    pub(super) fn build_request(&self) -> Result<Message<Full<bytes::Bytes>>, Failure> {
        let body = self.request.body.as_ref().filter(|_| self.has_body);
        build_request(RequestParts {
            url: &self.current_url,
            method: &self.current_method,
            version: self.negotiated_version,
            monitor_url: &self.request.url,
            headers: &self.request.headers,
            body,
            cookie_header: self.cookie_header.clone(),
            referer: self.referer.clone(),
            authorization_header: self.authorization_header.as_ref(),
            traceparent: self.traceparent.as_ref(),
        })
    }

    /// Continues after a response: answers a challenge, or follows a redirect. Returns whether another [`Self::send`]
    /// must follow; if not, the response is the last one.
    ///
    /// # Errors
    /// Fails for a redirect that cannot be followed, and for a challenge that cannot be answered.
    pub fn prepare_next_request(&mut self, head: &ResponseHead) -> Result<bool, Failure> {
        if self.request.redirects.followed && redirect::is_redirect(head.status) {
            self.follow_redirect(head)?;
        } else if self.can_authenticate(head) {
            self.auth_scheme = Some(AuthScheme::from_challenges(&head.headers)?);
            self.answered_challenges += 1;
        } else {
            return Ok(false);
        }
        self.merge_exchange_trace();
        Ok(true)
    }

    fn follow_redirect(&mut self, head: &ResponseHead) -> Result<(), Failure> {
        let target = redirect::redirect_target(&self.current_url, head.status, &head.headers)?;
        let RedirectRule { max, method: method_rule, sends_referer, .. } = self.request.redirects;
        if self.chain_trace.redirects.len() >= max {
            let detail = format!("more than {max} redirects, the next one to `{}`", display_url(&target));
            return Err(Failure::new(Phase::Validate, FailureKind::RedirectLoop, detail));
        }
        self.chain_trace.redirects.push(RedirectHop {
            url: self.current_url.as_str().to_owned(),
            http_status: head.status.as_u16(),
            address: self.exchange_trace.peer_address,
            phases: self.exchange_trace.phases,
        });
        let method = redirect::method_after_redirect(method_rule, head.status, &self.current_method);
        self.has_body &= method == self.current_method;
        // The query may hold a login: it is for no other server.
        self.referer = (sends_referer && is_same_origin(&target, &self.current_url))
            .then(|| HeaderValue::from_str(self.current_url.as_str()).ok())
            .flatten();
        self.current_method = method;
        self.current_url = target;
        Ok(())
    }

    /// Whether [`Self::prepare_next_request`] would continue after this response, or fail to.
    #[must_use]
    pub fn needs_next_request(&self, head: &ResponseHead) -> bool {
        self.request.redirects.followed && redirect::is_redirect(head.status) || self.can_authenticate(head)
    }

    fn can_authenticate(&self, head: &ResponseHead) -> bool {
        head.status == StatusCode::UNAUTHORIZED
            && self.answered_challenges < MAX_ANSWERED_CHALLENGES
            && self.request.credentials.as_ref().is_some_and(|login| login.applies_to(&self.current_url))
            && self
                .auth_scheme
                .as_ref()
                .is_none_or(|auth_scheme| auth_scheme.requires_new_authorization(&head.headers))
    }

    /// Merges the trace of the last exchange. Earlier name and TLS facts remain if it has none.
    fn merge_exchange_trace(&mut self) {
        let trace = std::mem::take(&mut self.exchange_trace);
        self.chain_trace.phases.merge(&trace.phases);
        let last = &mut self.chain_trace.last_exchange;
        last.phases = trace.phases;
        last.peer_address = trace.peer_address.or(last.peer_address);
        if !trace.resolved_addresses.is_empty() {
            last.resolved_addresses = trace.resolved_addresses;
        }
        if trace.tls_facts.is_some() {
            last.tls_facts = trace.tls_facts;
        }
    }

    /// Returns the trace, complete up to here.
    #[must_use]
    pub fn finish(mut self) -> ChainTrace {
        self.merge_exchange_trace();
        self.chain_trace
    }
}

/// Returns the protocols offered by ALPN for a request of `version`.
const fn alpn_protocols(version: Version) -> &'static [&'static [u8]] {
    match version {
        Version::HTTP_3 => &[b"h3"],
        Version::HTTP_2 => &[b"h2", b"http/1.1"],
        Version::HTTP_11 => &[b"http/1.1"],
        _ => &[],
    }
}
