//! The messages between a server and a browser host: one line of JSON each.

use std::io;
use std::net::SocketAddr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::browser::chrome::LocalBrowser;
use crate::browser::driver_launch::DriverLaunchOptions;
use crate::domain::Failure;

/// Longest line, in bytes.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// What a connection to the host is for: its first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "open", rename_all = "snake_case")]
pub(super) enum OpenRequest {
    /// Starts a driver. The connection then carries [`HostEvent`]s; closing it ends the browser.
    Session {
        /// The driver to start.
        #[serde(flatten)]
        launch: DriverLaunchOptions,
        /// Longest time until a browser is free and the driver listens.
        timeout_seconds: u64,
    },
    /// Connects to the driver of a session.
    Driver {
        /// Name of the session, from [`HostEvent::Started`].
        #[serde(rename = "session")]
        session_name: String,
    },
    /// Takes a connection of a browser to its forward proxy.
    Connection {
        /// Name of the session, from [`HostEvent::Started`].
        #[serde(rename = "session")]
        session_name: String,
        /// The number that [`HostEvent::Connection`] reported.
        number: u64,
    },
}

/// What a server says about its session after it has started.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub(super) enum ServerNotice {
    /// The driver has opened the browser: from now on, its end is a failure.
    Opened,
}

/// What the host reports about a session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum HostEvent {
    /// The driver listens; the first event of a session unless it failed.
    Started {
        /// The name of the session, which nobody can guess.
        #[serde(rename = "session")]
        session_name: String,
        /// The address that the driver expects in `Host`.
        driver_address: SocketAddr,
        /// The address at which the browser reaches its forward proxy.
        proxy_address: SocketAddr,
        /// The browser that the driver will start.
        local_browser: LocalBrowser,
    },
    /// The driver did not start, or the browser was lost; the last event.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// The TCP ports that the driver and its browser listen on, and the port of the proxy.
    Ports {
        /// All ports found so far.
        ports: Vec<u16>,
    },
    /// The browser connected to its forward proxy.
    Connection {
        /// The number to take it with.
        number: u64,
    },
    /// The memory that the processes take.
    Memory {
        /// The highest value so far, in bytes.
        peak_bytes: u64,
    },
}

/// Reads messages from one side of a connection.
#[derive(Debug)]
pub(super) struct MessageReader<R> {
    reader: R,
    /// The part of the next line that was read already.
    line: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> MessageReader<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// Returns the next message; `None` at the end of the stream. Nothing is lost if the future is dropped.
    pub(super) async fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        let remaining = MAX_LINE_BYTES.saturating_sub(self.line.len() as u64);
        (&mut self.reader).take(remaining).read_until(b'\n', &mut self.line).await?;
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a message was cut off or is too long"));
        }
        Ok(Some(serde_json::from_slice(&line)?))
    }

    /// Returns the stream, to read on after the first message.
    pub(super) fn into_inner(self) -> R {
        self.reader
    }
}

/// Writes one message.
pub(super) async fn write_message(
    writer: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::session_options::BrowserKind;

    #[tokio::test]
    async fn messages_have_this_form() {
        let launch = DriverLaunchOptions { browser_kind: BrowserKind::Chrome, viewport: (800, 600) };
        let mut written = Vec::new();
        let request = OpenRequest::Session { launch, timeout_seconds: 30 };
        write_message(&mut written, &request).await.unwrap();
        let expected =
            r#"{"open":"session","browser":"Google Chrome","viewport":[800,600],"timeout_seconds":30}"#;
        assert_eq!(String::from_utf8(written.clone()).unwrap(), format!("{expected}\n"));
        let read: Option<OpenRequest> = MessageReader::new(written.as_slice()).next().await.unwrap();
        assert!(
            matches!(read, Some(OpenRequest::Session { launch: read, .. }) if read == launch),
            "{read:?}"
        );
    }

    #[tokio::test]
    async fn what_is_no_message_is_an_error() {
        let too_long = vec![b'x'; 70_000];
        for bytes in [&b"{\"event\":\"memory\",\"peak_bytes\":1}"[..], b"hello\n", &too_long] {
            assert!(MessageReader::new(bytes).next::<HostEvent>().await.is_err());
        }
        assert!(MessageReader::new(&b""[..]).next::<HostEvent>().await.unwrap().is_none());
    }
}
