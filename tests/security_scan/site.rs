//! A scripted site, with and without TLS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A site on loopback.
pub struct Site {
    pub at: SocketAddr,
    connections: Arc<AtomicUsize>,
}

/// Returns the response to a request for a path with these header lines: head and body as sent.
pub type Respond = fn(path: &str, head: &str) -> String;

impl Site {
    /// Starts a site on `ip`; with `tls` an https one.
    pub async fn start(ip: &str, tls: Option<ServerConfig>, respond: Respond) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let acceptor = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let counter = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(stream, respond).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, respond).await;
                            }
                        }
                    }
                });
            }
        });
        Self { at, connections }
    }

    pub fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}/", self.at)
    }

    /// Returns how many connections were accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, respond: Respond) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if !stream.read_buf(&mut head).await.is_ok_and(|count| count > 0) || head.len() > 64 * 1024 {
            return;
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    assert!(head.starts_with("GET "), "a scan only reads: {head}");
    let path = head.split_ascii_whitespace().nth(1).unwrap_or_default();
    let _ = stream.write_all(respond(path, &head).as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// Returns a response with `status`, header lines and body.
pub fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}
