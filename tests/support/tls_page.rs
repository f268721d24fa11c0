//! An HTML page served over TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Starts a TLS server that responds to every request with a page of this title.
pub async fn serve_page(config: ServerConfig, title: &str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let title = title.to_owned();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, title) = (acceptor.clone(), title.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut read = Vec::new();
                while !read.ends_with(b"\r\n\r\n") && stream.read_buf(&mut read).await.is_ok_and(|n| n > 0) {}
                let page = format!("<title>{title}</title>");
                let head =
                    format!("Content-Type: text/html\r\nContent-Length: {}\r\nConnection: close", page.len());
                let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{page}").as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    at
}
