//! HTTP requests to receivers over Vigie's own network stack: subject to the egress policy, bounded in size and time.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use url::{Host, Position, Url};

use super::message_secrets::url_redactor;
use super::send_error::SendError;
use crate::clock::Clock;
use crate::domain::{EgressPrincipal, Phases, replace_control_chars};
use crate::net::{ConnectionTrace, Deadline, Endpoint, Net, TlsOptions};
use crate::protocol::http::client::{is_http_url, remove_login, remove_login_and_fragment};
use crate::protocol::http::{
    BodyRetention, HttpProtocol, ResponseBody, ResponseHead, retry_after, send_request,
};
use crate::redaction::redactor::Redactor;

/// Most bytes of a response that are read.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;
/// Most characters of a response that an error quotes.
const MAX_QUOTED_CHARS: usize = 160;
/// Most redirects that are followed.
const MAX_REDIRECTS: usize = 3;
/// Longest pause that a receiver may request with `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);
/// Identifies repeats of the same message to receivers (draft-ietf-httpapi-idempotency-key-header).
pub(super) const IDEMPOTENCY_KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Sends HTTP requests to receivers.
#[derive(Clone)]
pub struct WebhookClient {
    net: Arc<Net>,
    clock: Arc<dyn Clock>,
}

/// A complete HTTP request to a receiver.
#[derive(Clone, Debug)]
pub(super) struct WebhookRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl WebhookRequest {
    /// Builds a POST of `body` to the address of a recipient. A login in the URL becomes a header.
    pub(super) fn post(
        url: &str,
        content_type: &'static str,
        body: impl Into<Bytes>,
    ) -> Result<Self, SendError> {
        let mut request = Self::new(Method::POST, url)?;
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        request.body = body.into();
        Ok(request)
    }

    fn new(method: Method, address: &str) -> Result<Self, SendError> {
        let invalid_address =
            |reason: &str| SendError::permanent(format!("the address is not a valid URL: {reason}"));
        let mut url = Url::parse(address.trim()).map_err(|error| invalid_address(&error.to_string()))?;
        if !is_http_url(&url) {
            return Err(invalid_address("it must begin with `http://` or `https://` and name a host"));
        }
        let (user, password) =
            (percent_decode(url.username()), url.password().map(percent_decode).unwrap_or_default());
        remove_login_and_fragment(&mut url);
        let request = Self { method, url, headers: HeaderMap::new(), body: Bytes::new() };
        Ok(if user.is_empty() && password.is_empty() {
            request
        } else {
            request.with_basic_auth(&user, &password)
        })
    }

    /// Adds a user name and password (RFC 7617).
    pub(super) fn with_basic_auth(self, user: &str, password: &str) -> Self {
        self.with_authorization(&format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    }

    /// Sets `Authorization`. A text that is not a valid header value is left out.
    pub(super) fn with_authorization(mut self, text: &str) -> Self {
        if let Ok(mut value) = HeaderValue::from_str(text) {
            value.set_sensitive(true);
            self.headers.insert(AUTHORIZATION, value);
        }
        self
    }

    /// Adds the idempotency key of the message.
    pub(super) fn with_idempotency_key(mut self, key: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(key) {
            self.headers.insert(IDEMPOTENCY_KEY_HEADER, value);
        }
        self
    }

    /// Uses `path` when the address has none.
    pub(super) fn with_default_path(mut self, path: &str) -> Self {
        if matches!(self.url.path(), "" | "/") {
            self.url.set_path(path);
        }
        self
    }

    fn to_http_request(&self) -> Result<Request<Full<Bytes>>, SendError> {
        let invalid_target = |_| SendError::permanent("the address is not a valid request target");
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        let request_target = &self.url[Position::BeforePath..Position::AfterQuery];
        *request.uri_mut() = request_target.parse().map_err(invalid_target)?;
        let host = &self.url[Position::BeforeHost..Position::AfterPort];
        let headers = request.headers_mut();
        *headers = self.headers.clone();
        headers.insert(
            HOST,
            HeaderValue::from_str(host)
                .map_err(|_| SendError::permanent("the host is not a valid `Host` header"))?,
        );
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("vigie/", env!("CARGO_PKG_VERSION"))));
        if self.method == Method::POST {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
        }
        Ok(request)
    }

    /// Redirects the request to the `Location` of `head`, without credentials for another server.
    fn follow_redirect(mut self, head: &ResponseHead) -> Result<Self, SendError> {
        let status = head.status.as_u16();
        let location = head.headers.get(LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let location = location.unwrap_or_default();
        let redirect_url = self
            .url
            .join(&location)
            .ok()
            .filter(|redirect_url| matches!(redirect_url.scheme(), "http" | "https"));
        let redirect_url = redirect_url
            .ok_or_else(|| SendError::from_status(head.status, "its `Location` is not a valid URL"))?;
        if !matches!(status, 307 | 308) {
            // RFC 9110 15.4: these turn a POST into a GET and would lose the message.
            let text = format!(
                "it redirects to `{}`, which would lose the message; use that URL as the address",
                url_for_error(&redirect_url)
            );
            return Err(SendError::permanent(format!("the receiver answered `{status}`: {text}")));
        }
        if self.url.scheme() == "https" && redirect_url.scheme() == "http" {
            return Err(SendError::permanent(format!(
                "it redirects to `{}`, which is not encrypted",
                url_for_error(&redirect_url)
            )));
        }
        if redirect_url.origin() != self.url.origin() {
            self.headers.remove(AUTHORIZATION);
        }
        self.url = redirect_url;
        Ok(self)
    }
}

impl WebhookClient {
    /// Creates a client that connects through `net`.
    #[must_use]
    pub fn new(net: Arc<Net>, clock: Arc<dyn Clock>) -> Self {
        Self { net, clock }
    }

    /// Sends a GET to `url` and discards the response: the heartbeat.
    ///
    /// # Errors
    /// When the server cannot be reached or does not respond with a success status.
    pub async fn send_heartbeat(&self, url: &str, timeout: Duration) -> Result<(), SendError> {
        let request = WebhookRequest::new(Method::GET, url)?;
        let sent = self.send(request, EgressPrincipal::Operator, timeout).await;
        sent.map(drop).map_err(|error| error.redact_and_truncate([&url_redactor(url), &Redactor::default()]))
    }

    /// Sends `request` on behalf of `egress_principal`; returns the beginning of the body of a successful response.
    pub(super) async fn send(
        &self,
        mut request: WebhookRequest,
        egress_principal: EgressPrincipal,
        timeout: Duration,
    ) -> Result<String, SendError> {
        let net = self.net.with_egress_principal(egress_principal);
        let deadline = Deadline::within(timeout);
        for _ in 0..=MAX_REDIRECTS {
            let (head, body) = send_once(&net, &request, deadline).await?;
            if matches!(head.status.as_u16(), 301..=303 | 307 | 308) {
                request = request.follow_redirect(&head)?;
                continue;
            }
            // The body is only quoted to people: the status counts even when the body breaks off.
            let content = body
                .read(
                    BodyRetention::Prefix(MAX_QUOTED_CHARS * 4),
                    MAX_RESPONSE_BYTES,
                    deadline,
                    &mut Phases::default(),
                )
                .await;
            let text = String::from_utf8_lossy(&content.bytes);
            let text: String = replace_control_chars(text.trim()).chars().take(MAX_QUOTED_CHARS).collect();
            if head.status.is_success() {
                return Ok(text);
            }
            let mut error = SendError::from_status(head.status, &text);
            error.retry_after = self.retry_after(&head);
            return Err(error);
        }
        Err(SendError::permanent(format!("more than {MAX_REDIRECTS} redirects")))
    }

    /// Returns the pause that `Retry-After` requests (RFC 9110 10.2.3): seconds or a date, at most an hour.
    fn retry_after(&self, head: &ResponseHead) -> Option<Duration> {
        if !matches!(head.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            return None;
        }
        let delay = retry_after(&head.headers, self.clock.now())?;
        Some(delay.min(MAX_RETRY_AFTER))
    }
}

async fn send_once(
    net: &Net,
    webhook_request: &WebhookRequest,
    deadline: Deadline,
) -> Result<(ResponseHead, ResponseBody), SendError> {
    let http_request = webhook_request.to_http_request()?;
    let mut trace = ConnectionTrace::default();
    let host = match webhook_request.url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => address.to_string(),
        None => String::new(),
    };
    let endpoint = Endpoint::new(&host, webhook_request.url.port_or_known_default().unwrap_or(80));
    let tcp = net.connect(&endpoint, deadline, &mut trace).await?;
    let response = if webhook_request.url.scheme() == "https" {
        let options = TlsOptions { alpn_protocols: &[b"http/1.1"], ..TlsOptions::default() };
        let stream = net.tls_handshake(tcp, &host, &options, deadline, &mut trace).await?;
        send_request(stream, HttpProtocol::Http1, http_request, deadline, &mut trace.phases).await
    } else {
        send_request(tcp, HttpProtocol::Http1, http_request, deadline, &mut trace.phases).await
    };
    Ok(response?)
}

fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Formats a URL for messages: without login and query, and at most one line long.
fn url_for_error(url: &Url) -> String {
    let mut url = url.clone();
    remove_login(&mut url);
    url.set_query(None);
    url.as_str().chars().take(MAX_QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unusable_address_is_a_permanent_error() {
        for address in ["", "a", "mailto:a@b", "ftp://a/", "http://", "file:///etc/passwd"] {
            let error = WebhookRequest::post(address, "text/plain", "").unwrap_err();
            assert!(!error.is_retryable && error.detail.contains("not a valid URL"), "{address}: {error}");
        }
    }

    #[test]
    fn a_login_in_the_address_becomes_a_header_and_is_not_printed() {
        let request = WebhookRequest::post("http://us%40er:pa%3Ass@a.test/x?y#z", "text/plain", "").unwrap();
        assert_eq!(request.headers[AUTHORIZATION], format!("Basic {}", STANDARD.encode("us@er:pa:ss")));
        assert_eq!(request.url.as_str(), "http://a.test/x?y");
        assert!(!format!("{request:?}").contains(&STANDARD.encode("us@er:pa:ss")));
    }
}
