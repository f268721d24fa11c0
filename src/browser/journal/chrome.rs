//! The logs of Chromium's driver: `performance`, which holds events of the protocol `DevTools`, and `browser`,
//! the console.

use std::time::Duration;

use serde_json::Value;

use super::log::{Exchange, Journal, LONGEST_VALUE, MOST_FIELDS, counted, disowned, version};
use crate::domain::{PageObjectKind, Phase, Phases, truncate};

impl Journal {
    /// Takes in entries of the log `performance`.
    pub fn chrome_events(&mut self, entries: &Value) {
        for entry in entries.as_array().into_iter().flatten() {
            let Some(message) = entry["message"].as_str() else { continue };
            let Ok(message) = serde_json::from_str::<Value>(message) else { continue };
            let event = &message["message"];
            self.chrome_event(event["method"].as_str().unwrap_or_default(), &event["params"]);
        }
    }

    /// Takes in entries of the log `browser`: `URL LINE:COLUMN TEXT`, with a level in Java's words.
    pub fn chrome_console(&mut self, entries: &Value) {
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
            let (url, line, text) = placed(text);
            self.say(level, source, text, url, line);
        }
    }

    fn chrome_event(&mut self, method: &str, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        let at = params["timestamp"].as_f64().unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => self.request(id, at, params),
            "Network.responseReceived" => {
                let is_document = params["type"] == "Document";
                if let Some(exchange) = self.exchange(id) {
                    answered(exchange, &params["response"]);
                    exchange.document |= is_document;
                }
            }
            "Network.dataReceived" => {
                let bytes = whole(&params["dataLength"]);
                if let Some(exchange) = self.exchange(id) {
                    exchange.bytes += bytes;
                }
            }
            "Network.loadingFinished" => {
                let ended = at + self.wall;
                if let Some(exchange) = self.end(id) {
                    exchange.wire_bytes = whole(&params["encodedDataLength"]);
                    over(exchange, ended);
                    counted(exchange);
                }
            }
            "Network.loadingFailed" => {
                let ended = at + self.wall;
                if let Some(exchange) = self.end(id) {
                    let blocked = params["blockedReason"].as_str();
                    let error = blocked.or(params["errorText"].as_str()).unwrap_or_default();
                    exchange.error = Some(truncate(error, 100));
                    exchange.cancelled = params["canceled"] == true;
                    over(exchange, ended);
                }
            }
            _ => {}
        }
    }

    fn request(&mut self, id: &str, at: f64, params: &Value) {
        if let Some(wall) = params["wallTime"].as_f64() {
            self.wall = wall - at;
        }
        let began = at + self.wall;
        // A redirect goes on under the same id.
        if !params["redirectResponse"].is_null()
            && let Some(before) = self.end(id)
        {
            answered(before, &params["redirectResponse"]);
            before.wire_bytes = whole(&params["redirectResponse"]["encodedDataLength"]);
            over(before, began);
        }
        let request = &params["request"];
        let url = request["url"].as_str().unwrap_or_default();
        // Pages of the browser itself and data in the page are none of the network.
        if !url.starts_with("http") && !url.starts_with("ws") {
            return;
        }
        let kind = params["type"].as_str().unwrap_or_default();
        let frame = params["frameId"].as_str().unwrap_or_default();
        let document = kind == "Document";
        if document && self.main_frame.is_none() {
            self.main_frame = Some(frame.to_owned());
        }
        let is_page = document && self.main_frame.as_deref() == Some(frame);
        if is_page {
            self.left();
        }
        let exchange = Exchange {
            method: request["method"].as_str().unwrap_or_default().to_owned(),
            url: truncate(url, LONGEST_VALUE),
            kind: if is_page { None } else { Some(object(kind)) },
            document,
            began,
            ended: began,
            request_headers: fields(&request["headers"]),
            ..Exchange::default()
        };
        let busy = !matches!(kind, "EventSource" | "WebSocket" | "Ping");
        self.begin(id, exchange, busy);
    }
}

pub(super) fn answered(exchange: &mut Exchange, response: &Value) {
    exchange.http_status = u16::try_from(whole(&response["status"])).unwrap_or_default();
    exchange.http_version = version(response["protocol"].as_str().unwrap_or_default());
    response["mimeType"].as_str().unwrap_or_default().clone_into(&mut exchange.mimetype);
    exchange.response_headers = fields(&response["headers"]);
    exchange.phases = phases(&response["timing"]);
    disowned(exchange);
}

pub(super) fn over(exchange: &mut Exchange, ended: f64) {
    exchange.ended = ended.max(exchange.began);
    let known: Duration =
        exchange.phases.iter().map(|(_, micros)| Duration::from_micros(micros.into())).sum();
    let whole = Duration::try_from_secs_f64(exchange.ended - exchange.began).unwrap_or_default();
    if exchange.http_status > 0 {
        exchange.phases.set(Phase::Transfer, whole.saturating_sub(known));
    }
}

/// Marks in milliseconds from the start of the request; -1 where there was none.
fn phases(timing: &Value) -> Phases {
    let mut phases = Phases::default();
    let mark = |name: &str| timing[name].as_f64().filter(|mark| *mark >= 0.0);
    let mut span = |phase, from: Option<f64>, to: Option<f64>| {
        if let (Some(from), Some(to)) = (from, to) {
            let took = Duration::try_from_secs_f64((to - from) / 1000.0).unwrap_or_default();
            phases.set(phase, took);
        }
    };
    span(Phase::Resolve, mark("dnsStart"), mark("dnsEnd"));
    span(Phase::Connect, mark("connectStart"), mark("sslStart").or(mark("connectEnd")));
    span(Phase::Tls, mark("sslStart"), mark("sslEnd"));
    span(Phase::Send, mark("sendStart"), mark("sendEnd"));
    span(Phase::FirstByte, mark("sendEnd"), mark("receiveHeadersEnd"));
    phases
}

fn fields(headers: &Value) -> Vec<(String, String)> {
    let fields = headers.as_object().into_iter().flatten().take(MOST_FIELDS);
    fields
        .map(|(name, value)| (name.clone(), truncate(value.as_str().unwrap_or_default(), LONGEST_VALUE)))
        .collect()
}

/// A number that may be told with a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of bytes, never negative"
)]
pub(super) fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_f64().unwrap_or_default().max(0.0) as u64)
}

fn object(kind: &str) -> PageObjectKind {
    match kind {
        "Image" => PageObjectKind::Image,
        "Script" => PageObjectKind::Script,
        "Stylesheet" => PageObjectKind::Style,
        "Document" => PageObjectKind::Frame,
        "Font" => PageObjectKind::Font,
        "Media" | "TextTrack" => PageObjectKind::Media,
        _ => PageObjectKind::Other,
    }
}

/// The place before a line of the console: `http://host/path 3:14 text`.
fn placed(text: &str) -> (&str, Option<u32>, &str) {
    let mut parts = text.splitn(3, ' ');
    if let (Some(url), Some(place), Some(rest)) = (parts.next(), parts.next(), parts.next())
        && let Some((line, column)) = place.split_once(':')
        && let (Ok(line), Ok(_)) = (line.parse::<u32>(), column.parse::<u32>())
    {
        // The driver counts from 0.
        return (url, Some(line + 1), rest);
    }
    ("", None, text)
}
