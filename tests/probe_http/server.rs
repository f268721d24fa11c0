//! A scripted server: one script per connection; the last one serves all further connections.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// One act of a scripted server.
#[derive(Clone, Debug)]
pub enum Act {
    /// Reads one request, its body included.
    Request,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends the bytes one by one with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Sends the bytes repeatedly until the peer closes.
    Endless(Vec<u8>),
    /// Does nothing until the peer closes.
    Stall,
    /// Resets the connection.
    Reset,
    /// Closes at once, without a TLS `close_notify`.
    Cut,
}

pub fn send(bytes: impl AsRef<[u8]>) -> Act {
    Act::Send(bytes.as_ref().to_vec())
}

/// Returns a script that reads the request and sends these bytes.
pub fn respond(bytes: impl AsRef<[u8]>) -> Vec<Act> {
    vec![Act::Request, send(bytes)]
}

/// Returns a valid response with this body.
pub fn page(body: impl AsRef<[u8]>) -> Vec<u8> {
    with_headers("", body)
}

/// Returns a valid response with further header lines, each ended by CR LF.
pub fn with_headers(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Returns a redirect without a body.
pub fn redirect(status: u16, to: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

pub struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub async fn start(scripts: Vec<Vec<Act>>) -> Self {
        Self::bind("127.0.0.1:0", scripts, None).await
    }

    pub async fn tls(acceptor: TlsAcceptor, scripts: Vec<Vec<Act>>) -> Self {
        Self::bind("127.0.0.1:0", scripts, Some(acceptor)).await
    }

    pub async fn bind(to: &str, scripts: Vec<Vec<Act>>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind(to).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        let task = tokio::spawn(async move {
            for number in 0.. {
                let (tcp, _) = listener.accept().await.unwrap();
                let script = scripts[number.min(scripts.len() - 1)].clone();
                let (log, tls) = (log.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(tcp, &script, &log, |tcp| tcp).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(tcp).await {
                                serve(stream, &script, &log, |stream| stream.into_inner().0).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, requests, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests that were read, as text.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve<S>(mut stream: S, script: &[Act], log: &Mutex<Vec<String>>, tcp: fn(S) -> TcpStream)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    for act in script {
        let result = match act {
            Act::Request => request(&mut stream).await.map(|request| log.lock().unwrap().push(request)),
            Act::Send(bytes) => write(&mut stream, bytes).await,
            Act::Drip(bytes, pause) => drip(&mut stream, bytes, *pause).await,
            Act::Endless(bytes) => {
                while write(&mut stream, bytes).await.is_some() {}
                None
            }
            Act::Stall => {
                drain(&mut stream).await;
                None
            }
            Act::Reset => {
                tcp(stream).set_zero_linger().unwrap();
                return;
            }
            Act::Cut => {
                let mut tcp = tcp(stream);
                let _ = tcp.shutdown().await;
                drain(&mut tcp).await;
                return;
            }
        };
        if result.is_none() {
            return;
        }
    }
    let _ = stream.shutdown().await;
    // A close with unread bytes would cause a reset.
    drain(&mut stream).await;
}

async fn write<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> Option<()> {
    stream.write_all(bytes).await.ok()?;
    stream.flush().await.ok()
}

async fn drain<S: AsyncRead + Unpin>(stream: &mut S) {
    let mut buffer = [0; 4096];
    while matches!(stream.read(&mut buffer).await, Ok(1..)) {}
}

async fn drip<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8], pause: Duration) -> Option<()> {
    for byte in bytes {
        write(stream, &[*byte]).await?;
        tokio::time::sleep(pause).await;
    }
    Some(())
}

async fn request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut bytes = Vec::new();
    let mut expected_length = usize::MAX;
    while bytes.len() < expected_length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            expected_length = end + 4 + length.unwrap_or(0);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
