//! A connection of `WebDriver BiDi` (W3C `WebDriver BiDi` 3), over which a browser takes commands and tells events. The
//! commands of Chromium's `DevTools` protocol have the same form.

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

/// Bytes of a message with one event.
pub(super) const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;
/// Characters that are told of an answer that is no good.
const MAX_SHOWN_CHARS: usize = 300;

/// Where the browser of a session takes such connections; `None` of one that takes none, as Chromium does not.
#[must_use]
pub fn bidi_url(client: &Client) -> Option<&str> {
    client.capabilities()?.get("webSocketUrl")?.as_str()
}

/// It, open. One session may have several.
#[derive(Debug)]
pub(super) struct BidiConnection {
    socket: WebSocketStream<Join<FrameLimiter<OwnedReadHalf>, OwnedWriteHalf>>,
    /// The number of the last command.
    last_id: u64,
}

impl BidiConnection {
    /// Connects to `address`, which the driver gave (`webSocketUrl`). Messages of more than `longest` bytes are passed
    /// over.
    ///
    /// # Errors
    /// Why it cannot be had, in words.
    pub(super) async fn connect(address: &str, within: Duration, longest: usize) -> Result<Self, String> {
        let connecting = async {
            let url = Url::parse(address).map_err(|error| format!("`{address}`: {error}"))?;
            let host = url.host_str().unwrap_or("127.0.0.1");
            let port = url.port_or_known_default().unwrap_or(80);
            let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
            let bounds =
                WebSocketConfig::default().max_message_size(Some(longest)).max_frame_size(Some(longest));
            let (reading, writing) = stream.into_split();
            let stream = join(FrameLimiter::new(reading, longest), writing);
            let opened = tokio_tungstenite::client_async_with_config(address, stream, Some(bounds)).await;
            Ok(Self { socket: opened.map_err(|error| error.to_string())?.0, last_id: 0 })
        };
        tokio::time::timeout(within, connecting).await.unwrap_or_else(|_| Err("it took too long".to_owned()))
    }

    /// Sends a command; its answer comes among the messages.
    ///
    /// # Errors
    /// That the connection is gone.
    pub(super) async fn send(&mut self, method: &str, params: Value) -> Result<(), String> {
        self.last_id += 1;
        let command = json!({ "id": self.last_id, "method": method, "params": params });
        self.socket.send(Message::text(command.to_string())).await.map_err(|error| error.to_string())
    }

    /// The result of the last command; events meanwhile are passed over. The caller bounds the time.
    ///
    /// # Errors
    /// What the browser refuses it with, or that the connection is gone.
    pub(super) async fn wait_for_response(&mut self) -> Result<Value, String> {
        while let Some(mut message) = self.next_message().await {
            if message["id"] == self.last_id {
                return match message.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(truncate(&message.to_string(), MAX_SHOWN_CHARS)),
                };
            }
        }
        Err("it was closed".to_owned())
    }

    /// The next message; `None` when there will be none any more.
    pub(super) async fn next_message(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await? {
                // Texts come as bytes out of the sieve.
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
