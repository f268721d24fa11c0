//! The logs of Chromium's driver: `performance`, which contains `DevTools` events, and `browser`, the console.

use std::time::Duration;

use serde_json::Value;

use super::log::{
    LoggedRequest, MAX_HEADER_FIELDS, MAX_URL_OR_HEADER_CHARS, NetworkLog, fill_body_bytes_from_header,
    http_version_name, replace_proxy_response_by_error,
};
use crate::domain::{PageObjectKind, Phase, Phases, truncate};

impl NetworkLog {
    /// Adds entries of the log `performance`.
    pub fn add_chrome_events(&mut self, entries: &Value) {
        for entry in entries.as_array().into_iter().flatten() {
            let Some(message) = entry["message"].as_str() else { continue };
            let Ok(message) = serde_json::from_str::<Value>(message) else { continue };
            let event = &message["message"];
            self.on_chrome_event(event["method"].as_str().unwrap_or_default(), &event["params"]);
        }
    }

    /// Adds entries of the log `browser`: `URL LINE:COLUMN TEXT`, with a level as named in Java.
    pub fn add_chrome_console(&mut self, entries: &Value) {
        for entry in entries.as_array().into_iter().flatten() {
            let level = match entry["level"].as_str().unwrap_or_default() {
                "SEVERE" => "error",
                "WARNING" => "warning",
                "DEBUG" => "debug",
                _ => "info",
            };
            let text = entry["message"].as_str().unwrap_or_default();
            let source = match entry["source"].as_str().unwrap_or_default() {
                "console-api" => "console",
                other => other,
            };
            let (url, line, text) = split_source_location(text);
            self.add_console_entry(level, source, text, url, line);
        }
    }

    fn on_chrome_event(&mut self, method: &str, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        let timestamp = params["timestamp"].as_f64().unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => self.on_chrome_request(id, timestamp, params),
            "Network.responseReceived" => {
                let is_document = params["type"] == "Document";
                if let Some(request) = self.logged_request_mut(id) {
                    apply_response(request, &params["response"]);
                    request.is_document |= is_document;
                }
            }
            "Network.dataReceived" => {
                let bytes = to_u64(&params["dataLength"]);
                if let Some(request) = self.logged_request_mut(id) {
                    request.body_bytes += bytes;
                }
            }
            "Network.loadingFinished" => {
                let ended = timestamp + self.clock_offset_seconds;
                if let Some(request) = self.finish_request(id) {
                    request.body_wire_bytes = to_u64(&params["encodedDataLength"]);
                    set_end_and_transfer_phase(request, ended);
                    fill_body_bytes_from_header(request);
                }
            }
            "Network.loadingFailed" => {
                let ended = timestamp + self.clock_offset_seconds;
                if let Some(request) = self.finish_request(id) {
                    let blocked = params["blockedReason"].as_str();
                    let error = blocked.or(params["errorText"].as_str()).unwrap_or_default();
                    request.error_name = Some(truncate(error, 100));
                    request.cancelled = params["canceled"] == true;
                    set_end_and_transfer_phase(request, ended);
                }
            }
            _ => {}
        }
    }

    fn on_chrome_request(&mut self, id: &str, timestamp: f64, params: &Value) {
        if let Some(wall_time) = params["wallTime"].as_f64() {
            self.clock_offset_seconds = wall_time - timestamp;
        }
        let started = timestamp + self.clock_offset_seconds;
        // A redirect continues under the same id.
        if !params["redirectResponse"].is_null()
            && let Some(redirected) = self.finish_request(id)
        {
            apply_response(redirected, &params["redirectResponse"]);
            redirected.body_wire_bytes = to_u64(&params["redirectResponse"]["encodedDataLength"]);
            set_end_and_transfer_phase(redirected, started);
        }
        let request = &params["request"];
        let url = request["url"].as_str().unwrap_or_default();
        // Pages of the browser itself and data URLs do not use the network.
        if !url.starts_with("http") && !url.starts_with("ws") {
            return;
        }
        let kind = params["type"].as_str().unwrap_or_default();
        let frame = params["frameId"].as_str().unwrap_or_default();
        let is_document = kind == "Document";
        if is_document && self.main_frame_id.is_none() {
            self.main_frame_id = Some(frame.to_owned());
        }
        let is_page_navigation = is_document && self.main_frame_id.as_deref() == Some(frame);
        if is_page_navigation {
            self.on_navigation();
        }
        let request = LoggedRequest {
            method: request["method"].as_str().unwrap_or_default().to_owned(),
            url: truncate(url, MAX_URL_OR_HEADER_CHARS),
            object_kind: if is_page_navigation { None } else { Some(object_kind(kind)) },
            is_document,
            started_at: started,
            ended_at: started,
            request_headers: header_fields(&request["headers"]),
            ..LoggedRequest::default()
        };
        let counts_as_pending = !matches!(kind, "EventSource" | "WebSocket" | "Ping");
        self.log_request(id, request, counts_as_pending);
    }
}

/// Sets what the response reports: status, protocol, media type, header fields, phases.
pub(super) fn apply_response(request: &mut LoggedRequest, response: &Value) {
    request.http_status = u16::try_from(to_u64(&response["status"])).unwrap_or_default();
    request.http_version = http_version_name(response["protocol"].as_str().unwrap_or_default());
    response["mimeType"].as_str().unwrap_or_default().clone_into(&mut request.mimetype);
    request.response_headers = header_fields(&response["headers"]);
    request.phases = to_phases(&response["timing"]);
    replace_proxy_response_by_error(request);
}

/// Sets the end, in seconds since 1970. With a response, the time outside of its phases becomes `Transfer`.
pub(super) fn set_end_and_transfer_phase(request: &mut LoggedRequest, ended: f64) {
    request.ended_at = ended.max(request.started_at);
    let phases_sum: Duration =
        request.phases.iter().map(|(_, micros)| Duration::from_micros(micros.into())).sum();
    let total = Duration::try_from_secs_f64(request.ended_at - request.started_at).unwrap_or_default();
    if request.http_status > 0 {
        request.phases.set(Phase::Transfer, total.saturating_sub(phases_sum));
    }
}

/// Converts offsets in milliseconds from the start of the request; -1 means that there was no such phase.
fn to_phases(timing: &Value) -> Phases {
    let mut phases = Phases::default();
    let offset = |name: &str| timing[name].as_f64().filter(|offset| *offset >= 0.0);
    let mut set_phase = |phase, from: Option<f64>, to: Option<f64>| {
        if let (Some(from), Some(to)) = (from, to) {
            let duration = Duration::try_from_secs_f64((to - from) / 1000.0).unwrap_or_default();
            phases.set(phase, duration);
        }
    };
    set_phase(Phase::Resolve, offset("dnsStart"), offset("dnsEnd"));
    set_phase(Phase::Connect, offset("connectStart"), offset("sslStart").or(offset("connectEnd")));
    set_phase(Phase::Tls, offset("sslStart"), offset("sslEnd"));
    set_phase(Phase::Send, offset("sendStart"), offset("sendEnd"));
    set_phase(Phase::FirstByte, offset("sendEnd"), offset("receiveHeadersEnd"));
    phases
}

fn header_fields(headers: &Value) -> Vec<(String, String)> {
    let fields = headers.as_object().into_iter().flatten().take(MAX_HEADER_FIELDS);
    fields
        .map(|(name, value)| {
            (name.clone(), truncate(value.as_str().unwrap_or_default(), MAX_URL_OR_HEADER_CHARS))
        })
        .collect()
}

/// Returns a count that may be reported with a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of bytes, never negative"
)]
pub(super) fn to_u64(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_f64().unwrap_or_default().max(0.0) as u64)
}

fn object_kind(kind: &str) -> PageObjectKind {
    match kind {
        "Image" => PageObjectKind::Image,
        "Script" => PageObjectKind::Script,
        "Stylesheet" => PageObjectKind::StyleSheet,
        "Document" => PageObjectKind::Frame,
        "Font" => PageObjectKind::Font,
        "Media" | "TextTrack" => PageObjectKind::Media,
        _ => PageObjectKind::Other,
    }
}

/// Splits the source position from a line of the console: `http://host/path 3:14 text`.
fn split_source_location(text: &str) -> (&str, Option<u32>, &str) {
    let mut parts = text.splitn(3, ' ');
    if let (Some(url), Some(position), Some(rest)) = (parts.next(), parts.next(), parts.next())
        && let Some((line, column)) = position.split_once(':')
        && let (Ok(line), Ok(_)) = (line.parse::<u32>(), column.parse::<u32>())
    {
        // The driver counts lines from 0.
        return (url, Some(line + 1), rest);
    }
    ("", None, text)
}
