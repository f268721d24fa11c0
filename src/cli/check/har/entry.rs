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
    started_us: u64,
    phases: &Phases,
    request: Value,
    response: Value,
) -> Value {
    let (timings, total) = to_timings(phases);
    json!({
        "startedDateTime": started_at + Duration::from_micros(started_us),
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

/// Returns the phases as HAR timings, and their sum. `connect` includes `ssl`; −1 stands for a phase that did not
/// occur.
fn to_timings(phases: &Phases) -> (Value, f64) {
    let micros_of = |phase| phases.micros(phase).map(u64::from);
    let (tcp, tls) = (micros_of(Phase::Connect), micros_of(Phase::Tls));
    let connect =
        if tcp.is_none() && tls.is_none() { None } else { Some(tcp.unwrap_or(0) + tls.unwrap_or(0)) };
    let optional = |micros: Option<u64>| micros.map_or(-1.0, to_millis);
    let required = |phase| micros_of(phase).unwrap_or(0);
    let (send, wait, receive) =
        (required(Phase::Send), required(Phase::FirstByte), required(Phase::Transfer));
    let total = micros_of(Phase::Resolve).unwrap_or(0) + connect.unwrap_or(0) + send + wait + receive;
    let timings = json!({
        "blocked": -1,
        "dns": optional(micros_of(Phase::Resolve)),
        "connect": optional(connect),
        "send": to_millis(send),
        "wait": to_millis(wait),
        "receive": to_millis(receive),
        "ssl": optional(tls),
    });
    (timings, to_millis(total))
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
    let declared = exchange.request_headers.get("content-length").and_then(|text| text.parse().ok());
    match (&exchange.request_body, exchange.method.as_str()) {
        (Some(body), _) => i64::try_from(body.body_bytes).unwrap_or(i64::MAX),
        (None, "POST" | "PUT" | "PATCH") => declared.unwrap_or(-1),
        (None, _) => declared.unwrap_or(0),
    }
}

fn post_data(body: &Excerpt) -> Value {
    let mut posted = json!({"mimeType": body.media_type, "text": body.text});
    note_full_size(&mut posted, body);
    posted
}

fn response_content(exchange: &HttpExchange) -> Value {
    let kind = exchange.response_headers.get("content-type").unwrap_or_default();
    let Some(body) = &exchange.response_body else {
        return content_without_text(exchange.body_bytes, exchange.body_wire_bytes, kind);
    };
    let mut content = content_without_text(exchange.body_bytes, exchange.body_wire_bytes, kind);
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
    let mut sizes = Map::new();
    sizes.insert("size".to_owned(), bytes.into());
    if let Some(saved) = bytes.checked_sub(wire_bytes).filter(|&saved| saved > 0) {
        sizes.insert("compression".to_owned(), saved.into());
    }
    sizes.insert("mimeType".to_owned(), mimetype.into());
    sizes.into()
}

/// Returns the body's bytes on the wire; −1 when it was not read, as for redirects.
fn response_body_size(exchange: &HttpExchange) -> i64 {
    let declared = exchange.response_headers.get("content-length").unwrap_or_default();
    match i64::try_from(exchange.body_wire_bytes).unwrap_or(i64::MAX) {
        0 if declared != "0" => -1,
        bytes => bytes,
    }
}
