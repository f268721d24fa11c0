//! Events of `WebDriver BiDi`, by which Firefox tells of its requests and of its console (W3C `WebDriver BiDi` 7.5,
//! 7.6).

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use url::Url;

use super::{Exchange, Journal, LONGEST_VALUE, MOST_FIELDS, counted, cut, version};
use crate::model::{Failure, FailureKind, ObjectKind, Phase};

/// What is listened to.
const EVENTS: &[&str] = &[
    "network.beforeRequestSent",
    "network.responseStarted",
    "network.responseCompleted",
    "network.fetchError",
    "log.entryAdded",
];
/// Bytes of one message.
const LONGEST_MESSAGE: usize = 4 * 1024 * 1024;

/// A connection over which a browser tells what happens.
#[derive(Debug)]
pub struct Listener {
    socket: WebSocketStream<TcpStream>,
}

impl Listener {
    /// Listens at `address`, which the driver gave (`webSocketUrl`), from now on.
    ///
    /// # Errors
    /// That it cannot be listened to.
    pub async fn connect(address: &str, within: Duration) -> Result<Self, Failure> {
        let failed = |why: String| Failure::new(Phase::Launch, FailureKind::BrowserFailed, why);
        let connecting = async {
            let url = Url::parse(address).map_err(|error| failed(format!("`{address}`: {error}")))?;
            let host = url.host_str().unwrap_or("127.0.0.1");
            let port = url.port_or_known_default().unwrap_or(80);
            let stream = TcpStream::connect((host, port)).await;
            let stream = stream.map_err(|error| failed(format!("its events cannot be had: {error}")))?;
            let bounds = WebSocketConfig::default()
                .max_message_size(Some(LONGEST_MESSAGE))
                .max_frame_size(Some(LONGEST_MESSAGE));
            let opened = tokio_tungstenite::client_async_with_config(address, stream, Some(bounds)).await;
            let (mut socket, _) =
                opened.map_err(|error| failed(format!("its events cannot be had: {error}")))?;
            let wish = json!({ "id": 1, "method": "session.subscribe", "params": { "events": EVENTS } });
            let sent = socket.send(Message::text(wish.to_string())).await;
            sent.map_err(|error| failed(format!("its events cannot be had: {error}")))?;
            Ok(Self { socket })
        };
        let late = || failed("its events were not to be had in time".to_owned());
        tokio::time::timeout(within, connecting).await.map_err(|_| late())?
    }

    /// The next event; `None` when there will be none any more.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await? {
                Ok(Message::Text(text)) => {
                    if let Ok(event) = serde_json::from_str(&text) {
                        return Some(event);
                    }
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}

impl Journal {
    /// Takes in one event.
    pub fn bidi_event(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "network.beforeRequestSent" => self.bidi_request(params),
            "network.responseStarted" => {
                if let Some(exchange) = self.exchange(&id_of(params)) {
                    answered(exchange, params);
                }
            }
            "network.responseCompleted" => {
                if let Some(exchange) = self.end(&id_of(params)) {
                    answered(exchange, params);
                    over(exchange, params);
                }
            }
            "network.fetchError" => {
                if let Some(exchange) = self.end(&id_of(params)) {
                    let error = params["errorText"].as_str().unwrap_or_default();
                    exchange.error = Some(cut(error, 100));
                    exchange.cancelled = error == "NS_BINDING_ABORTED";
                    over(exchange, params);
                }
            }
            "log.entryAdded" => self.bidi_line(params),
            _ => {}
        }
    }

    fn bidi_request(&mut self, params: &Value) {
        let request = &params["request"];
        let url = request["url"].as_str().unwrap_or_default();
        if !url.starts_with("http") {
            return;
        }
        let destination = request["destination"].as_str().unwrap_or_default();
        // The navigation of a browsing context: of the page, or of a frame in it.
        let document = params["navigation"].is_string();
        let context = params["context"].as_str().unwrap_or_default();
        if document && self.main_frame.is_none() {
            self.main_frame = Some(context.to_owned());
        }
        let is_page = document && self.main_frame.as_deref() == Some(context) && destination != "iframe";
        if is_page {
            self.left();
        }
        let began = seconds(&params["timestamp"]);
        self.begin(
            &id_of(params),
            Exchange {
                method: request["method"].as_str().unwrap_or_default().to_owned(),
                url: cut(url, LONGEST_VALUE),
                kind: if is_page { None } else { Some(object(destination, document)) },
                document,
                began,
                ended: began,
                request_headers: fields(&request["headers"]),
                ..Exchange::default()
            },
            destination != "websocket",
        );
    }

    fn bidi_line(&mut self, params: &Value) {
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
        self.say(level, source, text, frame["url"].as_str().unwrap_or_default(), line);
    }
}

/// A request keeps its id over redirects, and is told anew each time.
fn id_of(params: &Value) -> String {
    let id = params["request"]["request"].as_str().unwrap_or_default();
    format!("{id}/{}", params["redirectCount"].as_u64().unwrap_or_default())
}

fn answered(exchange: &mut Exchange, params: &Value) {
    let response = &params["response"];
    exchange.http_status =
        response["status"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
    exchange.http_version = version(response["protocol"].as_str().unwrap_or_default());
    let mimetype = response["mimeType"].as_str().unwrap_or_default();
    mimetype.split(';').next().unwrap_or_default().trim().clone_into(&mut exchange.mimetype);
    exchange.response_headers = fields(&response["headers"]);
    exchange.wire_bytes = response["bytesReceived"].as_u64().unwrap_or_default();
    let told =
        [&response["content"]["size"], &response["bodySize"]].map(|size| size.as_u64().unwrap_or_default());
    exchange.bytes = told.into_iter().find(|bytes| *bytes > 0).unwrap_or_default();
    counted(exchange);
}

/// Phases are not taken: the marks that Firefox tells do not add up to the times of its own events.
fn over(exchange: &mut Exchange, params: &Value) {
    exchange.ended = seconds(&params["timestamp"]).max(exchange.began);
}

/// Milliseconds since 1970 as seconds.
fn seconds(millis: &Value) -> f64 {
    millis.as_f64().unwrap_or_default() / 1000.0
}

fn fields(headers: &Value) -> Vec<(String, String)> {
    let field = |header: &Value| {
        let name = header["name"].as_str()?.to_owned();
        Some((name, cut(header["value"]["value"].as_str().unwrap_or_default(), LONGEST_VALUE)))
    };
    headers.as_array().into_iter().flatten().take(MOST_FIELDS).filter_map(field).collect()
}

fn object(destination: &str, document: bool) -> ObjectKind {
    match destination {
        "image" => ObjectKind::Image,
        "script" => ObjectKind::Script,
        "style" => ObjectKind::Style,
        "iframe" | "frame" | "document" => ObjectKind::Frame,
        "font" => ObjectKind::Font,
        "audio" | "video" | "track" => ObjectKind::Media,
        _ if document => ObjectKind::Frame,
        _ => ObjectKind::Other,
    }
}
