//! A web server on loopback that responds by path and records the requests.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The response to a path.
#[derive(Clone, Debug)]
pub enum Response {
    /// A whole response: status, header lines each ended by CR LF, body.
    Full(u16, String, Vec<u8>),
    /// A whole response, after which the connection is closed without notice.
    CloseAfter(String),
    /// Nothing, until the peer closes.
    Stall,
    /// A body that never ends.
    Endless,
    /// A connection reset.
    Reset,
    /// These bytes, then a close.
    Cut(String),
}

pub fn html(body: impl Into<String>) -> Response {
    Response::Full(200, "Content-Type: text/html\r\n".to_owned(), body.into().into_bytes())
}

pub fn css(body: impl Into<String>) -> Response {
    Response::Full(200, "Content-Type: text/css\r\n".to_owned(), body.into().into_bytes())
}

pub fn bytes(count: usize) -> Response {
    Response::Full(200, "Content-Type: image/png\r\n".to_owned(), vec![b'x'; count])
}

pub fn redirect(to: &str) -> Response {
    Response::Full(302, format!("Location: {to}\r\n"), Vec::new())
}

pub fn status(status: u16) -> Response {
    Response::Full(status, String::new(), b"no".to_vec())
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Index of its connection.
    pub connection: usize,
    /// Its path and query.
    pub path: String,
    /// Its head.
    pub head: String,
}

pub struct Site {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    open: Arc<Open>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Open {
    now: AtomicUsize,
    max: AtomicUsize,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    pub async fn start(ip: &str, handler: impl Fn(&str) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, open): (Arc<Mutex<Vec<Request>>>, Arc<Open>) = (Arc::default(), Arc::default());
        let (log, count, handler) = (requests.clone(), open.clone(), Arc::new(handler));
        let task = tokio::spawn(async move {
            for connection in 0.. {
                let (tcp, _) = listener.accept().await.unwrap();
                let (log, count, handler) = (log.clone(), count.clone(), handler.clone());
                tokio::spawn(async move {
                    let now = count.now.fetch_add(1, Ordering::SeqCst) + 1;
                    count.max.fetch_max(now, Ordering::SeqCst);
                    serve(tcp, connection, &log, &*handler).await;
                    count.now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, requests, open, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the requested paths, in alphabetical order.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.requests().into_iter().map(|request| request.path).collect();
        paths.sort_unstable();
        paths
    }

    /// Returns the head of the request for `path`.
    pub fn head(&self, path: &str) -> String {
        self.requests()
            .into_iter()
            .find(|request| request.path == path)
            .map(|request| request.head)
            .unwrap_or_default()
    }

    /// Returns the maximum number of connections that were open at once.
    pub fn most_open(&self) -> usize {
        self.open.max.load(Ordering::SeqCst)
    }
}

async fn serve(
    mut tcp: TcpStream,
    connection: usize,
    log: &Mutex<Vec<Request>>,
    handler: &(dyn Fn(&str) -> Response + Send + Sync),
) {
    let mut read = Vec::new();
    loop {
        while !read.windows(4).any(|four| four == b"\r\n\r\n") {
            let mut more = [0; 4096];
            match tcp.read(&mut more).await {
                Ok(count) if count > 0 => read.extend_from_slice(&more[..count]),
                _ => return,
            }
        }
        let head = String::from_utf8(std::mem::take(&mut read)).unwrap();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        log.lock().unwrap().push(Request { connection, path: path.clone(), head });
        if !send_response(&mut tcp, handler(&path)).await {
            return;
        }
    }
}

/// Sends the response; returns whether the connection stays open.
async fn send_response(tcp: &mut TcpStream, response: Response) -> bool {
    match response {
        Response::Full(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} Word\r\n{headers}Content-Length: {length}\r\n\r\n");
            let all = [head.as_bytes(), &body].concat();
            tcp.write_all(&all).await.is_ok()
        }
        Response::CloseAfter(body) => {
            let all = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = tcp.write_all(all.as_bytes()).await;
            false
        }
        Response::Stall => {
            let _ = tcp.read(&mut [0; 1]).await;
            false
        }
        Response::Endless => {
            let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while tcp.write_all(&[b'x'; 16 * 1024]).await.is_ok() {}
            false
        }
        Response::Reset => {
            let _ = tcp.set_zero_linger();
            false
        }
        Response::Cut(bytes) => {
            let _ = tcp.write_all(bytes.as_bytes()).await;
            let _ = tcp.shutdown().await;
            false
        }
    }
}
