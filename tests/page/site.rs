//! A web server on loopback whose answers are told by path, and which notes who asked for what.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a path is answered with.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A whole answer: status, header lines each ended by CR LF, body.
    Full(u16, String, Vec<u8>),
    /// The same, and then the connection is closed without a word of it.
    Last(String),
    /// Nothing, until the peer is gone.
    Stall,
    /// A body that never ends.
    Endless,
    /// A reset.
    Reset,
    /// These bytes, and the end of the connection.
    Cut(String),
}

pub fn html(body: impl Into<String>) -> Reply {
    Reply::Full(200, "Content-Type: text/html\r\n".to_owned(), body.into().into_bytes())
}

pub fn css(body: impl Into<String>) -> Reply {
    Reply::Full(200, "Content-Type: text/css\r\n".to_owned(), body.into().into_bytes())
}

pub fn bytes(count: usize) -> Reply {
    Reply::Full(200, "Content-Type: image/png\r\n".to_owned(), vec![b'x'; count])
}

pub fn redirect(to: &str) -> Reply {
    Reply::Full(302, format!("Location: {to}\r\n"), Vec::new())
}

pub fn status(status: u16) -> Reply {
    Reply::Full(status, String::new(), b"no".to_vec())
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The number of its connection.
    pub connection: usize,
    /// Its path and query.
    pub path: String,
    /// Its head.
    pub head: String,
}

pub struct Site {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    open: Arc<Open>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Open {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    pub async fn start(ip: &str, answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, open): (Arc<Mutex<Vec<Asked>>>, Arc<Open>) = (Arc::default(), Arc::default());
        let (log, count, answer) = (asked.clone(), open.clone(), Arc::new(answer));
        let task = tokio::spawn(async move {
            for connection in 0.. {
                let (tcp, _) = listener.accept().await.unwrap();
                let (log, count, answer) = (log.clone(), count.clone(), answer.clone());
                tokio::spawn(async move {
                    let now = count.now.fetch_add(1, Ordering::SeqCst) + 1;
                    count.most.fetch_max(now, Ordering::SeqCst);
                    serve(tcp, connection, &log, &*answer).await;
                    count.now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, asked, open, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests that came.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Paths that were asked for, in alphabetical order.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.asked().into_iter().map(|asked| asked.path).collect();
        paths.sort_unstable();
        paths
    }

    /// The head of the request for `path`.
    pub fn head(&self, path: &str) -> String {
        self.asked().into_iter().find(|asked| asked.path == path).map(|asked| asked.head).unwrap_or_default()
    }

    /// Connections that were open at once at most.
    pub fn most_open(&self) -> usize {
        self.open.most.load(Ordering::SeqCst)
    }
}

async fn serve(
    mut tcp: TcpStream,
    connection: usize,
    log: &Mutex<Vec<Asked>>,
    answer: &(dyn Fn(&str) -> Reply + Send + Sync),
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
        log.lock().unwrap().push(Asked { connection, path: path.clone(), head });
        if !reply(&mut tcp, answer(&path)).await {
            return;
        }
    }
}

/// Whether the connection goes on.
async fn reply(tcp: &mut TcpStream, reply: Reply) -> bool {
    match reply {
        Reply::Full(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} Word\r\n{headers}Content-Length: {length}\r\n\r\n");
            let all = [head.as_bytes(), &body].concat();
            tcp.write_all(&all).await.is_ok()
        }
        Reply::Last(body) => {
            let all = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = tcp.write_all(all.as_bytes()).await;
            false
        }
        Reply::Stall => {
            let _ = tcp.read(&mut [0; 1]).await;
            false
        }
        Reply::Endless => {
            let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while tcp.write_all(&[b'x'; 16 * 1024]).await.is_ok() {}
            false
        }
        Reply::Reset => {
            let _ = tcp.set_zero_linger();
            false
        }
        Reply::Cut(bytes) => {
            let _ = tcp.write_all(bytes.as_bytes()).await;
            let _ = tcp.shutdown().await;
            false
        }
    }
}
