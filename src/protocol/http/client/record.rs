//! The record of an exchange for results: bounded, with credentials redacted.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Version};

use super::header_list::to_header_list;
use super::request::RequestSpec;
use super::request_chain::RequestChain;
use crate::domain::{Excerpt, Failure, HttpExchange, from_utf8_lossy, replace_control_chars};
use crate::protocol::http::exchange::ResponseHead;

/// The outcome of an exchange, for its record.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExchangeRecord<'k> {
    /// The head of the response, if there was one.
    pub head: Option<&'k ResponseHead>,
    /// The beginning of the decoded body.
    pub body: &'k [u8],
    /// Length of the body over the wire, in bytes.
    pub wire_bytes: u64,
    /// Length of the decoded body, in bytes.
    pub body_bytes: u64,
    /// The failure of the exchange.
    pub failure: Option<&'k Failure>,
    /// Longest body to record, in bytes, of request and response each; 0 omits both.
    pub max_body_bytes: usize,
}

impl RequestChain<'_> {
    /// Returns the record of the exchange in progress.
    #[must_use]
    pub fn build_http_exchange(&mut self, record: &ExchangeRecord<'_>) -> HttpExchange {
        let mut exchange = HttpExchange {
            start_offset_us: u64::try_from(self.exchange_offset.as_micros()).unwrap_or(u64::MAX),
            method: self.current_method.as_str().to_owned(),
            url: self.current_url.as_str().to_owned(),
            address: self.exchange_trace.peer_address,
            phases: self.exchange_trace.phases,
            body_wire_bytes: record.wire_bytes,
            body_bytes: record.body_bytes,
            failure: record.failure.cloned(),
            ..HttpExchange::default()
        };
        // Built again if it was not recorded; if that fails, the exchange failed for that reason.
        let request_headers = self
            .sent_headers
            .take()
            .or_else(|| self.build_request().ok().map(|message| to_header_list(message.headers())));
        if let Some(request_headers) = request_headers {
            exchange.request_headers = request_headers;
            let RequestSpec { body, headers, .. } = self.request;
            let body =
                body.as_ref().filter(|body| self.has_body() && record.max_body_bytes > 0 && !body.is_empty());
            exchange.request_body =
                body.map(|body| body_excerpt(body, body.len() as u64, headers, record.max_body_bytes));
        }
        if let Some(head) = record.head {
            exchange.http_status = head.status.as_u16();
            version_name(head.version).clone_into(&mut exchange.http_version);
            exchange.http_reason = head.reason_phrase.as_deref().map(truncate_for_result);
            exchange.response_headers = to_header_list(&head.headers);
            let body = Some(record.body).filter(|body| record.max_body_bytes > 0 && !body.is_empty());
            exchange.response_body =
                body.map(|body| body_excerpt(body, record.body_bytes, &head.headers, record.max_body_bytes));
        }
        exchange
    }
}

fn body_excerpt(body: &[u8], body_bytes: u64, headers: &HeaderMap, max_bytes: usize) -> Excerpt {
    let text = from_utf8_lossy(body.get(..max_bytes).unwrap_or(body)).into_owned();
    Excerpt {
        media_type: content_type(headers).map(truncate_for_result).unwrap_or_default(),
        text,
        body_bytes,
    }
}

/// Returns the declared media type of a body, with its charset.
#[must_use]
pub fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok())
}

/// Truncates text of a peer for results.
#[must_use]
pub fn truncate_for_result(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((end, _)) => replace_control_chars(&text[..end]),
        None => replace_control_chars(text),
    }
}

/// Returns the version as named in results.
#[must_use]
pub fn version_name(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    }
}
