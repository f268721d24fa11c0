//! The TCP target: sends back what it receives, until the client closes or is idle for too long.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::sockets;

/// Idle clients are disconnected after this time.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// Serves on `listeners` until `shutdown` and returns the first address.
pub(super) fn serve(listeners: Vec<TcpListener>, shutdown: &CancellationToken) -> SocketAddr {
    let first_address = sockets::first_address(&listeners);
    for listener in listeners {
        sockets::spawn_accept_loop(listener, shutdown, echo);
    }
    first_address
}

async fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 512];
    while let Ok(Ok(count @ 1..)) = tokio::time::timeout(IDLE_TIMEOUT, stream.read(&mut buffer)).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
