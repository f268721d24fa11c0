//! Events of `WebDriver BiDi`, by which Firefox reports its requests and its console (W3C `WebDriver BiDi` 7.5, 7.6).

use std::time::Duration;

use serde_json::{Value, json};

use super::super::bidi::{BidiConnection, MAX_EVENT_BYTES};
use super::log::{
    LoggedRequest, MAX_HEADER_FIELDS, MAX_URL_OR_HEADER_CHARS, NetworkLog, fill_body_bytes_from_header,
    http_version_name, replace_proxy_response_by_error,
};
use crate::domain::{Failure, FailureKind, PageObjectKind, Phase, Phases, truncate};

/// The events to subscribe to.
const SUBSCRIBED_EVENTS: &[&str] = &[
    "network.beforeRequestSent",
    "network.responseStarted",
    "network.responseCompleted",
    "network.fetchError",
    "log.entryAdded",
];

/// Longest URL, in bytes, of a request that counts as pending. The response event contains the URL twice, so that of a
/// longer one may exceed the message limit and be skipped.
const MAX_PENDING_URL_BYTES: usize = 1024 * 1024;

/// A connection on which a browser reports its events.
#[derive(Debug)]
pub struct BidiListener(BidiConnection);

impl BidiListener {
    /// Starts to listen at `address`, as returned by the driver (`webSocketUrl`).
    ///
    /// # Errors
    /// Fails when the connection or the subscription fails.
    pub async fn connect(address: &str, timeout: Duration) -> Result<Self, Failure> {
        let failed = |reason: String| {
            let detail = format!("cannot receive its events: {reason}");
            Failure::new(Phase::Launch, FailureKind::BrowserFailed, detail)
        };
        let mut bidi = BidiConnection::connect(address, timeout, MAX_EVENT_BYTES).await.map_err(failed)?;
        bidi.send_command("session.subscribe", json!({ "events": SUBSCRIBED_EVENTS }))
            .await
            .map_err(failed)?;
        Ok(Self(bidi))
    }

    /// Returns the next event; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<Value> {
        self.0.next_message().await
    }
}

impl NetworkLog {
    /// Adds one event to the log.
    pub fn on_bidi_event(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "network.beforeRequestSent" => self.on_bidi_request(params),
            "network.responseStarted" => {
                if let Some(request) = self.logged_request_mut(&request_key(params)) {
                    apply_response(request, params);
                }
            }
            "network.responseCompleted" => {
                if let Some(request) = self.finish_request(&request_key(params)) {
                    apply_response(request, params);
                    apply_timings(request, params);
                }
            }
            "network.fetchError" => {
                if let Some(request) = self.finish_request(&request_key(params)) {
                    let error = params["errorText"].as_str().unwrap_or_default();
                    request.error_name = Some(truncate(error, 100));
                    request.cancelled = error == "NS_BINDING_ABORTED";
                    apply_timings(request, params);
                }
            }
            "log.entryAdded" => self.on_bidi_log_entry(params),
            _ => {}
        }
    }

    fn on_bidi_request(&mut self, params: &Value) {
        let request = &params["request"];
        let url = request["url"].as_str().unwrap_or_default();
        if !url.starts_with("http") {
            return;
        }
        let destination = request["destination"].as_str().unwrap_or_default();
        // The navigation of a browsing context: of the page, or of a frame in it.
        let is_document = params["navigation"].is_string();
        let context = params["context"].as_str().unwrap_or_default();
        if is_document && self.main_frame_id.is_none() {
            self.main_frame_id = Some(context.to_owned());
        }
        let is_page_navigation =
            is_document && self.main_frame_id.as_deref() == Some(context) && destination != "iframe";
        if is_page_navigation {
            self.on_navigation();
        }
        let started = millis_to_seconds(&params["timestamp"]);
        self.log_request(
            &request_key(params),
            LoggedRequest {
                method: request["method"].as_str().unwrap_or_default().to_owned(),
                url: truncate(url, MAX_URL_OR_HEADER_CHARS),
                object_kind: if is_page_navigation {
                    None
                } else {
                    Some(object_kind(destination, is_document))
                },
                is_document,
                started_at: started,
                ended_at: started,
                request_headers: header_fields(&request["headers"]),
                ..LoggedRequest::default()
            },
            destination != "websocket" && url.len() <= MAX_PENDING_URL_BYTES,
        );
    }

    fn on_bidi_log_entry(&mut self, params: &Value) {
        let source = match params["type"].as_str().unwrap_or_default() {
            "javascript" => "javascript",
            _ => "console",
        };
        let level = match params["level"].as_str().unwrap_or_default() {
            "warn" => "warning",
            other => other,
        };
        let frame = &params["stackTrace"]["callFrames"][0];
        let line = frame["lineNumber"].as_u64().and_then(|line| u32::try_from(line + 1).ok());
        let text = params["text"].as_str().unwrap_or_default();
        self.add_console_entry(level, source, text, frame["url"].as_str().unwrap_or_default(), line);
    }
}

/// Returns the key of a request. A request keeps its id over redirects, and each redirect is reported as a new request.
fn request_key(params: &Value) -> String {
    let id = params["request"]["request"].as_str().unwrap_or_default();
    format!("{id}/{}", params["redirectCount"].as_u64().unwrap_or_default())
}

/// Sets what the response reports: status, protocol, media type, header fields, sizes.
fn apply_response(request: &mut LoggedRequest, params: &Value) {
    let response = &params["response"];
    request.http_status =
        response["status"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
    request.http_version = http_version_name(response["protocol"].as_str().unwrap_or_default());
    let mimetype = response["mimeType"].as_str().unwrap_or_default();
    mimetype.split(';').next().unwrap_or_default().trim().clone_into(&mut request.mimetype);
    request.response_headers = header_fields(&response["headers"]);
    request.body_wire_bytes = response["bytesReceived"].as_u64().unwrap_or_default();
    let sizes =
        [&response["content"]["size"], &response["bodySize"]].map(|size| size.as_u64().unwrap_or_default());
    request.body_bytes = sizes.into_iter().find(|bytes| *bytes > 0).unwrap_or_default();
    fill_body_bytes_from_header(request);
    replace_proxy_response_by_error(request);
}

/// Sets the times from the browser's timestamps (`network.FetchTimingInfo`), if reported: its events arrive later
/// than what they report happened.
fn apply_timings(request: &mut LoggedRequest, params: &Value) {
    let timings = &params["request"]["timings"];
    let timestamp = |name: &str| Some(millis_to_seconds(&timings[name])).filter(|timestamp| *timestamp > 0.0);
    request.started_at = timestamp("requestTime").unwrap_or(request.started_at);
    let ended = timestamp("responseEnd").unwrap_or_else(|| millis_to_seconds(&params["timestamp"]));
    request.ended_at = ended.max(request.started_at);
    request.phases = to_phases(timestamp, request.started_at);
}

/// Converts timestamps in seconds since 1970. Those of a connection that existed before the request are left out.
fn to_phases(timestamp: impl Fn(&str) -> Option<f64>, started: f64) -> Phases {
    let mut phases = Phases::default();
    let mut set_phase = |phase, from: Option<f64>, to: Option<f64>| {
        if let (Some(from), Some(to)) = (from.filter(|from| *from >= started), to) {
            phases.set(phase, Duration::try_from_secs_f64(to - from).unwrap_or_default());
        }
    };
    let tls = timestamp("tlsStart");
    set_phase(Phase::Resolve, timestamp("dnsStart"), timestamp("dnsEnd"));
    set_phase(Phase::Connect, timestamp("connectStart"), tls.or(timestamp("connectEnd")));
    // Without TLS there is an end mark, but no start mark.
    set_phase(Phase::Tls, tls, timestamp("tlsEnd"));
    set_phase(Phase::FirstByte, timestamp("requestStart"), timestamp("responseStart"));
    set_phase(Phase::Transfer, timestamp("responseStart"), timestamp("responseEnd"));
    phases
}

/// Converts milliseconds since 1970 to seconds.
fn millis_to_seconds(millis: &Value) -> f64 {
    millis.as_f64().unwrap_or_default() / 1000.0
}

fn header_fields(headers: &Value) -> Vec<(String, String)> {
    let field = |header: &Value| {
        let name = header["name"].as_str()?.to_owned();
        Some((name, truncate(header["value"]["value"].as_str().unwrap_or_default(), MAX_URL_OR_HEADER_CHARS)))
    };
    headers.as_array().into_iter().flatten().take(MAX_HEADER_FIELDS).filter_map(field).collect()
}

fn object_kind(destination: &str, is_document: bool) -> PageObjectKind {
    match destination {
        "image" => PageObjectKind::Image,
        "script" => PageObjectKind::Script,
        "style" => PageObjectKind::StyleSheet,
        "iframe" | "frame" | "document" => PageObjectKind::Frame,
        "font" => PageObjectKind::Font,
        "audio" | "video" | "track" => PageObjectKind::Media,
        _ if is_document => PageObjectKind::Frame,
        _ => PageObjectKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_with_timings(timings: Value) -> LoggedRequest {
        let request =
            json!({ "request": "1", "url": "http://a/", "method": "GET", "headers": [], "timings": timings });
        let response = json!({ "status": 200, "protocol": "http/1.1", "headers": [], "bytesReceived": 9 });
        let mut network_log = NetworkLog::default();
        for (method, timestamp) in [("beforeRequestSent", 1_000_050), ("responseCompleted", 1_000_900)] {
            let params = json!({ "request": request, "response": response, "timestamp": timestamp });
            network_log.on_bidi_event(&json!({ "method": format!("network.{method}"), "params": params }));
        }
        network_log.take_activity().requests.remove(0)
    }

    #[test]
    fn a_new_connection_has_all_phases() {
        let request = request_with_timings(json!({
            "requestTime": 1_000_010.0, "dnsStart": 1_000_020.0, "dnsEnd": 1_000_021.5, "connectStart": 1_000_022.0,
            "tlsStart": 1_000_023.0, "tlsEnd": 1_000_053.0, "connectEnd": 1_000_053.0, "requestStart": 1_000_100.0,
            "responseStart": 1_000_300.0, "responseEnd": 1_000_800.0,
        }));
        let phases: Vec<(&str, u64)> =
            request.phases.iter().map(|(phase, us)| (phase.name(), us.into())).collect();
        let expected = [
            ("resolve", 1500),
            ("connect", 1000),
            ("tls", 30_000),
            ("first_byte", 200_000),
            ("transfer", 500_000),
        ];
        for ((name, us), (expected, expected_us)) in phases.iter().zip(expected) {
            assert!(*name == expected && us.abs_diff(expected_us) <= 1, "{phases:?}");
        }
        assert_eq!(phases.len(), expected.len());
        assert!((request.started_at - 1000.01).abs() < 1e-6 && (request.ended_at - 1000.8).abs() < 1e-6);
    }

    #[test]
    fn missing_marks_give_no_phase() {
        let request = request_with_timings(json!({
            "requestTime": 1_000_010.0, "dnsStart": 0, "dnsEnd": 0, "connectStart": 1_000_001.0,
            "connectEnd": 1_000_005.0, "tlsStart": 0, "tlsEnd": 1_000_005.0, "requestStart": 1_000_020.0,
            "responseStart": 1_000_030.0, "responseEnd": 0,
        }));
        let names: Vec<&str> = request.phases.iter().map(|(phase, _)| phase.name()).collect();
        assert_eq!(names, ["first_byte"]);
        assert!((request.ended_at - 1000.9).abs() < 1e-6, "the event is what is left");
        let without_marks = request_with_timings(Value::Null);
        assert!(
            without_marks.phases.iter().next().is_none() && (without_marks.started_at - 1000.05).abs() < 1e-6
        );
    }
}
