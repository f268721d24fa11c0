//! The bench's own program as a web server in a process of its own, and the barest way to ask it.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Ends with what it serves.
pub struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This program, called with `--serve`, and where it listens.
pub fn served() -> (Server, SocketAddr) {
    let mut child =
        Command::new(std::env::current_exe().unwrap()).arg("--serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Server(child), line.trim().parse().unwrap())
}

/// Serves on loopback and prints where; `answer` makes media type and body of a path.
pub async fn serve(answer: impl Fn(&str) -> (&'static str, Bytes) + Clone + Send + Sync + 'static) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let answer = answer.clone();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (kind, body) = answer(request.uri().path());
            let answer =
                Response::builder().header(header::CONTENT_TYPE, kind).body(Full::new(body)).unwrap();
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let serving =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            // A client that has heard enough may end the connection as it likes.
            let _ = serving.await;
        });
    }
}

/// A connection.
pub async fn stream(at: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(at).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// HTTP/1.1 over `stream`, and the task that moves it on.
pub async fn speak<S>(stream: S) -> (SendRequest<Full<Bytes>>, JoinHandle<hyper::Result<()>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    (sender, tokio::spawn(connection))
}
