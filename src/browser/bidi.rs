//! A connection of `WebDriver BiDi` (W3C `WebDriver BiDi` 3), over which a browser accepts commands and reports events.
//! Commands of Chromium's `DevTools` protocol have the same form.

use std::time::Duration;

use fantoccini::Client;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{Join, join};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use url::Url;

use super::frame_limiter::FrameLimiter;
use crate::domain::truncate;

/// Longest message with an event, in bytes.
pub(super) const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;
/// Longest invalid response that is quoted, in characters.
const MAX_QUOTED_CHARS: usize = 300;

/// Returns the `WebDriver BiDi` address of a session's browser; `None` when it has none, as with Chromium.
#[must_use]
pub fn bidi_url(client: &Client) -> Option<&str> {
    client.capabilities()?.get("webSocketUrl")?.as_str()
}

/// An open connection. A session may have several.
#[derive(Debug)]
pub(super) struct BidiConnection {
    socket: WebSocketStream<Join<FrameLimiter<OwnedReadHalf>, OwnedWriteHalf>>,
    /// The id of the last command.
    last_command_id: u64,
}

impl BidiConnection {
    /// Connects to `address`, the driver's `webSocketUrl`. Messages of more than `max_message_bytes` are
    /// skipped.
    ///
    /// # Errors
    /// Fails with the reason as text.
    pub(super) async fn connect(
        address: &str,
        timeout: Duration,
        max_message_bytes: usize,
    ) -> Result<Self, String> {
        let connection = async {
            let url = Url::parse(address).map_err(|error| format!("`{address}`: {error}"))?;
            let host = url.host_str().unwrap_or("127.0.0.1");
            let port = url.port_or_known_default().unwrap_or(80);
            let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
            let config = WebSocketConfig::default()
                .max_message_size(Some(max_message_bytes))
                .max_frame_size(Some(max_message_bytes));
            let (reader, writer) = stream.into_split();
            let stream = join(FrameLimiter::new(reader, max_message_bytes), writer);
            let opened = tokio_tungstenite::client_async_with_config(address, stream, Some(config)).await;
            Ok(Self { socket: opened.map_err(|error| error.to_string())?.0, last_command_id: 0 })
        };
        tokio::time::timeout(timeout, connection)
            .await
            .unwrap_or_else(|_| Err("the connection timed out".to_owned()))
    }

    /// Sends a command; its response arrives among the messages.
    ///
    /// # Errors
    /// Fails when the connection is closed.
    pub(super) async fn send_command(&mut self, method: &str, params: Value) -> Result<(), String> {
        self.last_command_id += 1;
        let command = json!({ "id": self.last_command_id, "method": method, "params": params });
        self.socket.send(Message::text(command.to_string())).await.map_err(|error| error.to_string())
    }

    /// Returns the result of the last command, and skips events meanwhile. The caller bounds the time.
    ///
    /// # Errors
    /// Fails when the browser refuses the command or the connection is closed.
    pub(super) async fn wait_for_response(&mut self) -> Result<Value, String> {
        while let Some(mut message) = self.next_message().await {
            if message["id"] == self.last_command_id {
                return match message.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(truncate(&message.to_string(), MAX_QUOTED_CHARS)),
                };
            }
        }
        Err("the connection was closed".to_owned())
    }

    /// Returns the next message; `None` when the connection is closed.
    pub(super) async fn next_message(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await? {
                // The frame limiter passes texts on as bytes.
                Ok(Message::Binary(bytes)) => {
                    if let Ok(message) = serde_json::from_slice(&bytes) {
                        return Some(message);
                    }
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}
