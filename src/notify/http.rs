//! One POST to a receiver over our own network: held to the egress policy, bounded, over within its time.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, LOCATION, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use url::{Host, Position, Url};

use super::send_error::SendError;
use crate::clock::Clock;
use crate::domain::{Phases, Timestamp, replace_control_chars};
use crate::net::{ConnectTrace, Deadline, Endpoint, Net, TlsOptions};
use crate::protocol::http::{BodyRetention, HttpProtocol, ResponseBody, ResponseHead, send_request};

/// Bytes of an answer that are read.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;
/// Characters of an answer that a message repeats.
const MAX_QUOTED_CHARS: usize = 160;
/// Redirects that are followed.
const MAX_REDIRECTS: usize = 3;
/// The longest that a receiver may ask to be left alone for.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);
/// Tells receivers of one message that it is the same as before (draft-ietf-httpapi-idempotency-key-header).
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Sends requests to receivers.
#[derive(Clone)]
pub struct WebhookClient {
    net: Arc<Net>,
    clock: Arc<dyn Clock>,
}

/// A request that is ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct WebhookRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl WebhookRequest {
    /// A POST of `body` to the address of a recipient. A login in the URL becomes a header.
    pub(super) fn post(
        address: &str,
        content_type: &'static str,
        body: impl Into<Bytes>,
    ) -> Result<Self, SendError> {
        let mut call = Self::new(Method::POST, address)?;
        call.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        call.body = body.into();
        Ok(call)
    }

    fn new(method: Method, address: &str) -> Result<Self, SendError> {
        let bad = |reason: &str| {
            SendError::permanent(format!("the address is no URL that can be called: {reason}"))
        };
        let mut url = Url::parse(address.trim()).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(bad("it must begin with `http://` or `https://` and name a host"));
        }
        let (user, password) =
            (percent_decode(url.username()), url.password().map(percent_decode).unwrap_or_default());
        // http URLs take both calls.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let call = Self { method, url, headers: HeaderMap::new(), body: Bytes::new() };
        Ok(if user.is_empty() && password.is_empty() { call } else { call.with_basic_auth(&user, &password) })
    }

    /// With a user name and password (RFC 7617).
    pub(super) fn with_basic_auth(self, user: &str, password: &str) -> Self {
        self.with_authorization(&format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    }

    /// With what lets it in. A text that is no header value lets nobody in, and is left out.
    pub(super) fn with_authorization(mut self, text: &str) -> Self {
        if let Ok(mut value) = HeaderValue::from_str(text) {
            value.set_sensitive(true);
            self.headers.insert(AUTHORIZATION, value);
        }
        self
    }

    /// With the key of the message.
    pub(super) fn with_idempotency_key(mut self, key: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(key) {
            self.headers.insert(IDEMPOTENCY_KEY, value);
        }
        self
    }

    /// To `path` where the address names no path.
    pub(super) fn with_default_path(mut self, path: &str) -> Self {
        if matches!(self.url.path(), "" | "/") {
            self.url.set_path(path);
        }
        self
    }

    fn to_http_request(&self) -> Result<Request<Full<Bytes>>, SendError> {
        let bad = |_| SendError::permanent("the address cannot be put into a request");
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        let target = &self.url[Position::BeforePath..Position::AfterQuery];
        *request.uri_mut() = target.parse().map_err(bad)?;
        let host = &self.url[Position::BeforeHost..Position::AfterPort];
        let headers = request.headers_mut();
        *headers = self.headers.clone();
        headers.insert(
            HOST,
            HeaderValue::from_str(host).map_err(|_| SendError::permanent("the host cannot be named"))?,
        );
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("vigie/", env!("CARGO_PKG_VERSION"))));
        if self.method == Method::POST {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
        }
        Ok(request)
    }

    /// The same to where `head` sends it: another server gets nothing that lets somebody in.
    fn follow_redirect(mut self, head: &ResponseHead) -> Result<Self, SendError> {
        let status = head.status.as_u16();
        let location = head.headers.get(LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let location = location.unwrap_or_default();
        let to = self.url.join(&location).ok().filter(|to| matches!(to.scheme(), "http" | "https"));
        let to = to.ok_or_else(|| SendError::from_status(head.status, "its `Location` is no URL"))?;
        if !matches!(status, 307 | 308) {
            // RFC 9110 15.4: these turn a POST into a GET, and the message would be gone.
            let text = format!(
                "it redirects to `{}`, and the message would be lost on the way; name that URL",
                display_url(&to)
            );
            return Err(SendError::permanent(format!("the receiver answered `{status}`: {text}")));
        }
        if self.url.scheme() == "https" && to.scheme() == "http" {
            return Err(SendError::permanent(format!(
                "it redirects to `{}`, which is not encrypted",
                display_url(&to)
            )));
        }
        if to.origin() != self.url.origin() {
            self.headers.remove(AUTHORIZATION);
        }
        self.url = to;
        Ok(self)
    }
}

impl WebhookClient {
    /// Calls out through `net`.
    #[must_use]
    pub fn new(net: Arc<Net>, clock: Arc<dyn Clock>) -> Self {
        Self { net, clock }
    }

    /// Asks `url` for nothing but an answer: the heartbeat.
    ///
    /// # Errors
    /// When it could not be reached, or did not answer with a success.
    pub async fn ping(&self, url: &str, within: Duration) -> Result<(), SendError> {
        self.send(WebhookRequest::new(Method::GET, url)?, within).await.map(drop)
    }

    /// Sends `call`; answers with the beginning of what a success said.
    pub(super) async fn send(&self, mut call: WebhookRequest, within: Duration) -> Result<String, SendError> {
        let deadline = Deadline::within(within);
        for _ in 0..=MAX_REDIRECTS {
            let (head, body) = self.exchange(&call, deadline).await?;
            if matches!(head.status.as_u16(), 301..=303 | 307 | 308) {
                call = call.follow_redirect(&head)?;
                continue;
            }
            // What was said matters only for people: an answer that breaks off is still its status.
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
            let mut refused = SendError::from_status(head.status, &text);
            refused.not_before = self.retry_after(&head);
            return Err(refused);
        }
        Err(SendError::permanent(format!("more than {MAX_REDIRECTS} redirects")))
    }

    async fn exchange(
        &self,
        call: &WebhookRequest,
        deadline: Deadline,
    ) -> Result<(ResponseHead, ResponseBody), SendError> {
        let request = call.to_http_request()?;
        let mut trace = ConnectTrace::default();
        let host = match call.url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => String::new(),
        };
        let to = Endpoint::new(&host, call.url.port_or_known_default().unwrap_or(80));
        let tcp = self.net.connect(&to, deadline, &mut trace).await?;
        let answered = if call.url.scheme() == "https" {
            let options = TlsOptions { alpn: &[b"http/1.1"], ..TlsOptions::default() };
            let stream = self.net.handshake(tcp, &host, &options, deadline, &mut trace).await?;
            send_request(stream, HttpProtocol::Http1, request, deadline, &mut trace.phases).await
        } else {
            send_request(tcp, HttpProtocol::Http1, request, deadline, &mut trace.phases).await
        };
        Ok(answered?)
    }

    /// What `Retry-After` asks for (RFC 9110 10.2.3): seconds or a date, an hour at most.
    fn retry_after(&self, head: &ResponseHead) -> Option<Duration> {
        if !matches!(head.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            return None;
        }
        let text = head.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        let pause = if let Ok(seconds) = text.parse::<u32>() {
            Duration::from_secs(seconds.into())
        } else {
            let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
            Timestamp::from_micros(at.as_microsecond()).since(self.clock.now())
        };
        Some(pause.min(MAX_RETRY_AFTER))
    }
}

fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// A URL for messages: without a login, query or more than a line.
fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.as_str().chars().take(MAX_QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_called_is_refused_for_good() {
        for address in ["", "a", "mailto:a@b", "ftp://a/", "http://", "file:///etc/passwd"] {
            let error = WebhookRequest::post(address, "text/plain", "").unwrap_err();
            assert!(!error.is_retryable && error.detail.contains("no URL"), "{address}: {error}");
        }
    }

    #[test]
    fn a_login_in_the_address_becomes_a_header_and_is_shown_nowhere() {
        let call = WebhookRequest::post("http://us%40er:pa%3Ass@a.test/x?y#z", "text/plain", "").unwrap();
        assert_eq!(call.headers[AUTHORIZATION], format!("Basic {}", STANDARD.encode("us@er:pa:ss")));
        assert_eq!(call.url.as_str(), "http://a.test/x?y");
        assert!(!format!("{call:?}").contains(&STANDARD.encode("us@er:pa:ss")));
    }
}
