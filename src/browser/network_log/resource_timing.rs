//! The requests that a new window made before Chromium's driver attached to it. The driver does not log them; the page
//! measures them itself (Resource Timing), without header fields, and for other sites without status and sizes.

use serde_json::Value;

use super::chrome::{apply_response, set_end_and_transfer_phase, to_u64};
use super::log::{
    LoggedRequest, MAX_REQUESTS_PER_STEP, MAX_URL_OR_HEADER_CHARS, NetworkLog, fill_body_bytes_from_header,
};
use crate::domain::{PageObjectKind, truncate};

/// Body of the JavaScript function that returns the Resource Timing entries of the page.
pub const RESOURCE_TIMING_SCRIPT: &str = include_str!("resource_timing.js");
/// Maximum difference between the times of the page and of the driver's log, in seconds.
const MAX_CLOCK_SKEW_SECONDS: f64 = 1.0;

impl NetworkLog {
    /// Adds the entries of [`RESOURCE_TIMING_SCRIPT`], except those that are in the log already.
    pub fn add_resource_timing(&mut self, entries: &Value) {
        for entry in entries.as_array().into_iter().flatten() {
            let url = truncate(entry["url"].as_str().unwrap_or_default(), MAX_URL_OR_HEADER_CHARS);
            let started = entry["began"].as_f64().unwrap_or_default();
            let is_already_logged = |logged: &LoggedRequest| {
                logged.url == url && (logged.started_at - started).abs() < MAX_CLOCK_SKEW_SECONDS
            };
            if !url.starts_with("http") || self.requests.iter().any(is_already_logged) {
                continue;
            }
            if self.requests.len() >= MAX_REQUESTS_PER_STEP {
                self.unlisted_requests += 1;
                continue;
            }
            let initiator = entry["by"].as_str().unwrap_or_default();
            let mut request = LoggedRequest {
                method: "GET".to_owned(),
                url,
                object_kind: Some(object_kind(initiator)),
                is_document: initiator == "navigation",
                started_at: started,
                body_wire_bytes: to_u64(&entry["wire"]),
                body_bytes: to_u64(&entry["bytes"]),
                ..LoggedRequest::default()
            };
            apply_response(&mut request, &entry["response"]);
            set_end_and_transfer_phase(&mut request, entry["ended"].as_f64().unwrap_or(started));
            fill_body_bytes_from_header(&mut request);
            self.requests.push_back(request);
        }
    }
}

/// Returns the kind of object by its initiator (Resource Timing 4.3, `initiatorType`).
fn object_kind(initiator: &str) -> PageObjectKind {
    match initiator {
        "navigation" | "iframe" | "frame" => PageObjectKind::Frame,
        "img" | "image" | "input" => PageObjectKind::Image,
        "script" => PageObjectKind::Script,
        "link" | "css" => PageObjectKind::StyleSheet,
        "audio" | "video" | "track" => PageObjectKind::Media,
        _ => PageObjectKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn logged_requests_are_not_added_twice_and_all_are_in_order() {
        let mut network_log = NetworkLog::default();
        let request = json!({ "message": { "method": "Network.requestWillBeSent", "params": {
            "requestId": "1", "timestamp": 5.0, "wallTime": 1005.0, "type": "Fetch",
            "request": { "url": "http://a/late", "method": "POST", "headers": {} } } } });
        network_log.add_chrome_events(&json!([{ "message": request.to_string() }]));
        let entry = |url: &str, by: &str, began: f64| {
            json!({ "url": url, "by": by, "began": began, "ended": began + 0.5, "wire": 300, "bytes": 200,
                "response": { "status": 200, "protocol": "h2", "timing": { "sendEnd": 10, "receiveHeadersEnd": 30 } } })
        };
        network_log.add_resource_timing(&json!([
            entry("http://a/", "navigation", 1004.0),
            entry("http://a/late", "fetch", 1005.2),
            entry("http://a/x.png", "img", 1004.5),
            entry("data:,x", "img", 1004.5),
        ]));
        let requests = network_log.take_activity().requests;
        let summaries: Vec<(&str, &str, u16)> =
            requests.iter().map(|request| (&*request.method, &*request.url, request.http_status)).collect();
        assert_eq!(
            summaries,
            [("GET", "http://a/", 200), ("GET", "http://a/x.png", 200), ("POST", "http://a/late", 0)]
        );
        assert!(requests[0].is_document && requests[1].object_kind == Some(PageObjectKind::Image));
        assert_eq!(
            (requests[0].body_wire_bytes, requests[0].body_bytes, &*requests[0].http_version),
            (300, 200, "HTTP/2")
        );
        assert_eq!(requests[0].phases.iter().count(), 2, "{:?}", requests[0].phases);
    }
}
