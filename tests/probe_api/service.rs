//! An HTTP service that derives each response from the request; one connection per request.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub head: String,
    pub body: String,
}

impl Request {
    /// Returns the value of the first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// What the service does with a request.
#[derive(Clone, Debug)]
pub enum Response {
    /// Sends status, header lines each ended by CR LF, and body.
    Send(u16, String, Vec<u8>),
    /// Sends the same with the usual reason phrase, and tells that the connection closes.
    SendAndClose(u16, String, Vec<u8>),
    /// Sends nothing until the peer closes.
    Stall,
    /// Closes the connection.
    Close,
}

pub fn respond(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Response {
    Response::Send(status, headers.to_owned(), body.as_ref().to_vec())
}

pub fn respond_json(body: &str) -> Response {
    respond(200, "Content-Type: application/json\r\n", body)
}

pub struct Service {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    pub async fn start(handler: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::start_with_tls(None, handler).await
    }

    /// Starts a service, over TLS when `tls` is set.
    pub async fn start_with_tls(
        tls: Option<ServerConfig>,
        handler: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, handler) = (Arc::clone(&requests), Arc::new(handler));
        let tls = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let task = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (log, handler, tls) = (Arc::clone(&log), Arc::clone(&handler), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(tcp, &log, &*handler).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(tcp).await {
                                serve(stream, &log, &*handler).await;
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

    /// Returns the requests, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the last request.
    pub fn last(&self) -> Request {
        self.requests().pop().unwrap()
    }
}

async fn serve<S>(mut stream: S, log: &Mutex<Vec<Request>>, handler: &(dyn Fn(&Request) -> Response + Sync))
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(request) = read_request(&mut stream).await else { return };
    let is_head = request.method == "HEAD";
    let response = handler(&request);
    log.lock().unwrap().push(request);
    match response {
        Response::Send(status, headers, body) => {
            let head = format!("HTTP/1.1 {status} Said\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
            let body = if is_head { Vec::new() } else { body };
            let _ = stream.write_all(&[head.into_bytes(), body].concat()).await;
            let _ = stream.shutdown().await;
        }
        Response::SendAndClose(status, headers, body) => {
            let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            let head = format!(
                "HTTP/1.1 {status} {}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n",
                reason.unwrap_or_default(),
                body.len()
            );
            let body = if is_head { Vec::new() } else { body };
            let _ = stream.write_all(&[head.into_bytes(), body].concat()).await;
            let _ = stream.shutdown().await;
        }
        Response::Stall => {}
        Response::Close => return,
    }
    let mut rest = [0; 1024];
    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
}

async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = |line: &str| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok();
        let length: usize = head.lines().find_map(length).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            let mut first = head.split(' ').map(str::to_owned);
            let (method, target) = (first.next()?, first.next()?);
            let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
            return Some(Request { method, target, head, body });
        }
    }
}
