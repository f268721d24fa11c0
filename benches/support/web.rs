//! The benchmark's own program as a web server in a separate process, and a minimal client.

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

/// The server process, killed on drop.
pub struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts this program with `--serve`; returns the process and its address.
pub fn start_server() -> (Server, SocketAddr) {
    let mut child =
        Command::new(std::env::current_exe().unwrap()).arg("--serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Server(child), line.trim().parse().unwrap())
}

/// Serves on loopback and prints the address; `respond` returns media type and body of a path.
pub async fn serve(respond: impl Fn(&str) -> (&'static str, Bytes) + Clone + Send + Sync + 'static) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let respond = respond.clone();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (kind, body) = respond(request.uri().path());
            let respond =
                Response::builder().header(header::CONTENT_TYPE, kind).body(Full::new(body)).unwrap();
            std::future::ready(Ok::<_, Infallible>(respond))
        });
        let serving =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            // A client may close the connection at any time.
            let _ = serving.await;
        });
    }
}

/// Connects to `at`.
pub async fn stream(at: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(at).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Starts HTTP/1.1 over `stream`; returns the sender and the task of the connection.
pub async fn handshake<S>(stream: S) -> (SendRequest<Full<Bytes>>, JoinHandle<hyper::Result<()>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    (sender, tokio::spawn(connection))
}
