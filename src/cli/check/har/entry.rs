//! One entry of a HAR file: request, response and timings.

use std::time::Duration;

use serde_json::{Map, Value, json};
use url::Url;

use crate::domain::{Excerpt, Failure, HeaderList, HttpExchange, PageObject, Phase, Phases, Timestamp};

/// Converts microseconds to milliseconds, the time unit of HAR.
#[expect(clippy::cast_precision_loss, reason = "52 bits of microseconds are 142 years")]
pub(super) fn to_millis(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

/// Converts an exchange of a check whose attempt started at `started_at`.
pub(super) fn entry_from_exchange(
    started_at: Timestamp,
    exchange: &HttpExchange,
    comment: Option<String>,
) -> Value {
    let version = exchange.http_version.as_str();
    let mut request = json!({
        "method": exchange.method,
        "url": exchange.url,
        "httpVersion": version,
        "cookies": [],
        "headers": header_objects(&exchange.request_headers),
        "queryString": query_objects(&exchange.url),
        "headersSize": -1,
        "bodySize": request_body_size(exchange),
    });
    if let Some(body) = &exchange.request_body {
        request["postData"] = post_data(body);
    }
    let response = json!({
        "status": exchange.http_status,
        "statusText": exchange.http_reason.as_deref().unwrap_or_default(),
        "httpVersion": version,
        "cookies": [],
        "headers": header_objects(&exchange.response_headers),
        "content": response_content(exchange),
        "redirectURL": exchange.response_headers.get("location").unwrap_or_default(),
        "headersSize": -1,
        "bodySize": response_body_size(exchange),
    });
    let mut entry = build_entry(started_at, exchange.start_offset_us, &exchange.phases, request, response);
    if let Some(address) = exchange.address {
        entry["serverIPAddress"] = address.ip().to_string().into();
    }
    add_failure_and_comment(&mut entry, exchange.failure.as_ref(), comment);
    entry
}

/// Converts an object of a page. Its header fields are not recorded.
pub(super) fn entry_from_object(started_at: Timestamp, object: &PageObject) -> Value {
    let version = object.http_version.as_str();
    let request = json!({
        "method": "GET",
        "url": object.url,
        "httpVersion": version,
        "cookies": [],
        "headers": [],
        "queryString": query_objects(&object.url),
        "headersSize": -1,
        "bodySize": 0,
    });
    let response = json!({
        "status": object.http_status,
        "statusText": "",
        "httpVersion": version,
        "cookies": [],
        "headers": [],
        "content": content_without_text(object.body_bytes, object.body_wire_bytes, &object.media_type),
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": object.body_wire_bytes,
    });
    let mut entry = build_entry(started_at, object.start_offset_us, &object.phases, request, response);
    add_failure_and_comment(&mut entry, object.failure.as_ref(), None);
    entry
}

fn build_entry(
    started_at: Timestamp,
    start_offset_us: u64,
    phases: &Phases,
    request: Value,
    response: Value,
) -> Value {
    let (timings, total) = to_timings(phases);
    json!({
        "startedDateTime": started_at + Duration::from_micros(start_offset_us),
        "time": total,
        "request": request,
        "response": response,
        "cache": {},
        "timings": timings,
    })
}

/// Adds the comment and the failure. The names of custom fields begin with an underscore.
fn add_failure_and_comment(entry: &mut Value, failure: Option<&Failure>, comment: Option<String>) {
    if let Some(comment) = comment {
        entry["comment"] = comment.into();
    }
    if let Some(failure) = failure {
        entry["response"]["_error"] = failure.to_string().into();
    }
}

/// Returns the phases as HAR timings, and their sum. `connect_us` includes `ssl`; −1 stands for a phase that did not
/// occur.
fn to_timings(phases: &Phases) -> (Value, f64) {
    let phase_us = |phase| phases.micros(phase).map(u64::from);
    let (tcp_us, tls_us) = (phase_us(Phase::Connect), phase_us(Phase::Tls));
    let connect_us = if tcp_us.is_none() && tls_us.is_none() {
        None
    } else {
        Some(tcp_us.unwrap_or(0) + tls_us.unwrap_or(0))
    };
    let millis_or_minus_one = |micros: Option<u64>| micros.map_or(-1.0, to_millis);
    let us_or_zero = |phase| phase_us(phase).unwrap_or(0);
    let (send_us, wait_us, receive_us) =
        (us_or_zero(Phase::Send), us_or_zero(Phase::FirstByte), us_or_zero(Phase::Transfer));
    let total_us =
        phase_us(Phase::Resolve).unwrap_or(0) + connect_us.unwrap_or(0) + send_us + wait_us + receive_us;
    let timings = json!({
        "blocked": -1,
        "dns": millis_or_minus_one(phase_us(Phase::Resolve)),
        "connect": millis_or_minus_one(connect_us),
        "send": to_millis(send_us),
        "wait": to_millis(wait_us),
        "receive": to_millis(receive_us),
        "ssl": millis_or_minus_one(tls_us),
    });
    (timings, to_millis(total_us))
}

fn header_objects(fields: &HeaderList) -> Vec<Value> {
    fields.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

fn query_objects(url: &str) -> Vec<Value> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    url.query_pairs().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

/// Returns the request body's bytes; −1 when a browser sent it and did not report its size.
fn request_body_size(exchange: &HttpExchange) -> i64 {
    let declared_length = exchange.request_headers.get("content-length").and_then(|text| text.parse().ok());
    match (&exchange.request_body, exchange.method.as_str()) {
        (Some(body), _) => i64::try_from(body.body_bytes).unwrap_or(i64::MAX),
        (None, "POST" | "PUT" | "PATCH") => declared_length.unwrap_or(-1),
        (None, _) => declared_length.unwrap_or(0),
    }
}

fn post_data(body: &Excerpt) -> Value {
    let mut posted = json!({"mimeType": body.media_type, "text": body.text});
    note_full_size(&mut posted, body);
    posted
}

fn response_content(exchange: &HttpExchange) -> Value {
    let content_type = exchange.response_headers.get("content-type").unwrap_or_default();
    let Some(body) = &exchange.response_body else {
        return content_without_text(exchange.body_bytes, exchange.body_wire_bytes, content_type);
    };
    let mut content = content_without_text(exchange.body_bytes, exchange.body_wire_bytes, content_type);
    content["text"] = body.text.as_str().into();
    note_full_size(&mut content, body);
    content
}

/// Adds a comment with the full size of a body whose text was truncated or masked.
fn note_full_size(value: &mut Value, body: &Excerpt) {
    if body.body_bytes > body.text.len() as u64 {
        value["comment"] = format!("the whole has {} bytes", body.body_bytes).into();
    }
}

fn content_without_text(bytes: u64, wire_bytes: u64, mimetype: &str) -> Value {
    // HAR has its own name for a type that the server did not declare.
    let mimetype = if mimetype.is_empty() { "x-unknown" } else { mimetype };
    let mut content = Map::new();
    content.insert("size".to_owned(), bytes.into());
    if let Some(saved_bytes) = bytes.checked_sub(wire_bytes).filter(|&saved_bytes| saved_bytes > 0) {
        content.insert("compression".to_owned(), saved_bytes.into());
    }
    content.insert("mimeType".to_owned(), mimetype.into());
    content.into()
}

/// Returns the body's bytes on the wire; −1 when it was not read, as for redirects.
fn response_body_size(exchange: &HttpExchange) -> i64 {
    let declared_length = exchange.response_headers.get("content-length").unwrap_or_default();
    match i64::try_from(exchange.body_wire_bytes).unwrap_or(i64::MAX) {
        0 if declared_length != "0" => -1,
        bytes => bytes,
    }
}
