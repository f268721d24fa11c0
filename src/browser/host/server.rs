//! Accepts the connections that `vigie serve` opens to this browser host, and hands each to its browser session.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::messages::{MessageReader, OpenRequest};
use super::session::{HostedSession, run_session};
use crate::browser::pool::BrowserPool;
use crate::sync::Mutex;

/// Longest time until the first line of a connection.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause when accepting fails, for example without file descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// Runs browsers for a server on this host.
#[derive(Debug)]
pub struct BrowserHost {
    pool: Arc<BrowserPool>,
    sessions: Mutex<HashMap<String, Arc<HostedSession>>>,
}

impl BrowserHost {
    /// Creates a host that runs the browsers of `pool`.
    #[must_use]
    pub fn new(pool: Arc<BrowserPool>) -> Self {
        Self { pool, sessions: Mutex::default() }
    }

    /// Serves connections until `stop`, then ends all browsers.
    pub async fn serve(self: Arc<Self>, listener: UnixListener, stop: CancellationToken) {
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (host, stop) = (Arc::clone(&self), stop.clone());
                    connections.spawn(async move {
                        if let Err(error) = host.serve_connection(stream, stop).await {
                            tracing::debug!(%error, "connection of the server ended");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
        connections.close();
        connections.wait().await;
    }

    async fn serve_connection(&self, stream: UnixStream, stop: CancellationToken) -> io::Result<()> {
        let mut reader = MessageReader::new(BufReader::new(stream));
        let request = tokio::time::timeout(OPEN_TIMEOUT, reader.next()).await??;
        let stream = reader.into_inner();
        match request {
            None => Ok(()),
            Some(OpenRequest::Session { launch, timeout_seconds }) => {
                run_session(&self.pool, &self.sessions, stream, launch, timeout_seconds, stop).await
            }
            Some(OpenRequest::Driver { session_name }) => {
                let driver = TcpStream::connect(self.session(&session_name)?.driver_address()).await?;
                relay(stream, driver, &stop).await
            }
            Some(OpenRequest::Connection { session_name, number }) => {
                let connection = self.session(&session_name)?.take_connection(number);
                let connection = connection.ok_or(io::ErrorKind::NotFound)?;
                relay(stream, connection, &stop).await
            }
        }
    }

    fn session(&self, name: &str) -> io::Result<Arc<HostedSession>> {
        self.sessions.lock().get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Copies bytes in both directions until both sides have ended, or until `stop`.
async fn relay(
    server_side: BufReader<UnixStream>,
    mut browser_side: TcpStream,
    stop: &CancellationToken,
) -> io::Result<()> {
    // If it fails, small writes are delayed a little.
    let _ = browser_side.set_nodelay(true);
    // What the server sent right after its first line.
    browser_side.write_all(server_side.buffer()).await?;
    let mut server_side = server_side.into_inner();
    tokio::select! {
        copied = copy_bidirectional(&mut server_side, &mut browser_side) => copied.map(drop),
        () = stop.cancelled() => Ok(()),
    }
}
