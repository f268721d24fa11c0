//! Queries over HTTPS (RFC 8484).

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::{Request, StatusCode, Version};
use http_body_util::Full;

use super::query_plan::QueryPlan;
use super::server_query::{DnsAttemptState, ServerQuery, invalid_response_failure};
use crate::domain::{Failure, FailureKind, HttpFacts, Phase, replace_control_chars};
use crate::net::Endpoint;
use crate::protocol::dns::DnsResponse;
use crate::protocol::http as http_protocol;
use crate::protocol::http::{BodyRetention, HttpProtocol, ResponseHead};

/// Media type of a message (RFC 8484 6).
const DNS_MEDIA_TYPE: &str = "application/dns-message";
/// The path of the request. All servers have it, and monitors have no field for another one.
const DNS_QUERY_PATH: &str = "/dns-query";
/// Longest DNS message, in bytes.
const MAX_MESSAGE_BYTES: u64 = 65_535;
/// Longest media type that a failure quotes, in characters.
const MAX_QUOTED_CHARS: usize = 100;

impl ServerQuery<'_> {
    pub(super) async fn over_https(
        &self,
        plan: &QueryPlan,
        state: &mut DnsAttemptState,
    ) -> Result<DnsResponse, Failure> {
        let deadline = self.cx.deadline;
        let query = self.encode_query()?;
        let stream = self.connect_tls(&plan.tls_options, state).await?;
        let is_http2 = stream.alpn_protocol() == Some(b"h2");
        let protocol = if is_http2 { HttpProtocol::Http2 } else { HttpProtocol::Http1 };
        if !is_http2 {
            state.warnings.push("the server does not offer HTTP/2, HTTP/1.1 was used".to_owned());
        }
        let authority = Endpoint::new(self.server_name, self.server_address.port()).to_string();
        let request = build_request(&authority, query, protocol, &plan.user_agent)?;
        let phases = &mut state.connect_trace.phases;
        let (head, body) = http_protocol::send_request(stream, protocol, request, deadline, phases).await?;
        let mut http_facts = build_http_facts(&head, format!("https://{authority}{DNS_QUERY_PATH}"));
        if let Err(failure) = check_response_head(&head) {
            state.http_facts = Some(Box::new(http_facts));
            return Err(failure);
        }
        let body_content = body.read(BodyRetention::All, MAX_MESSAGE_BYTES, deadline, phases).await;
        (http_facts.body_bytes, http_facts.body_wire_bytes) =
            (body_content.body_bytes, body_content.wire_bytes);
        state.http_facts = Some(Box::new(http_facts));
        match body_content.failure {
            Some(failure) => Err(failure),
            None => self.parse_response(&body_content.bytes),
        }
    }
}

fn build_request(
    authority: &str,
    query: Vec<u8>,
    protocol: HttpProtocol,
    user_agent: &str,
) -> Result<Request<Full<Bytes>>, Failure> {
    let request = Request::post(match protocol {
        HttpProtocol::Http2 => format!("https://{authority}{DNS_QUERY_PATH}"),
        HttpProtocol::Http1 => DNS_QUERY_PATH.to_owned(),
    });
    let request = match protocol {
        HttpProtocol::Http2 => request.version(Version::HTTP_2),
        HttpProtocol::Http1 => request.version(Version::HTTP_11).header(HOST, authority),
    };
    request
        .header(ACCEPT, DNS_MEDIA_TYPE)
        .header(CONTENT_TYPE, DNS_MEDIA_TYPE)
        .header(CONTENT_LENGTH, query.len())
        .header(USER_AGENT, user_agent)
        .body(Full::from(query))
        .map_err(|error| Failure::new(Phase::Prepare, FailureKind::Internal, error.to_string()))
}

/// Checks that the head of a response announces a DNS message (RFC 8484 4.2).
fn check_response_head(head: &ResponseHead) -> Result<(), Failure> {
    if head.status != StatusCode::OK {
        let reason =
            head.reason_phrase.as_deref().map_or(String::new(), |reason| format!(" {}", truncate(reason)));
        let detail = format!("`{DNS_QUERY_PATH}` answered {}{reason}", head.status.as_u16());
        return Err(Failure::new(Phase::FirstByte, FailureKind::HttpErrorStatus, detail));
    }
    let actual = media_type(head).unwrap_or_default();
    if actual.split(';').next().is_some_and(|type_name| type_name.trim().eq_ignore_ascii_case(DNS_MEDIA_TYPE))
    {
        return Ok(());
    }
    let actual = if actual.is_empty() { "of no media type".to_owned() } else { format!("`{actual}`") };
    Err(invalid_response_failure(
        Phase::FirstByte,
        &format!("the answer is {actual}, not `{DNS_MEDIA_TYPE}`"),
    ))
}

fn media_type(head: &ResponseHead) -> Option<String> {
    let value = head.headers.get(CONTENT_TYPE)?;
    Some(truncate(&String::from_utf8_lossy(value.as_bytes())))
}

fn truncate(text: &str) -> String {
    replace_control_chars(text).chars().take(MAX_QUOTED_CHARS).collect()
}

fn build_http_facts(head: &ResponseHead, url: String) -> HttpFacts {
    HttpFacts {
        http_status: head.status.as_u16(),
        http_version: format!("{:?}", head.version).replace("2.0", "2"),
        http_reason: head.reason_phrase.as_deref().map(truncate),
        content_type: media_type(head),
        url,
        ..HttpFacts::default()
    }
}
