//! A service whose answers follow from its requests; one connection each.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub target: String,
    pub head: String,
    pub body: String,
}

impl Asked {
    /// The value of the first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Status, header lines each ended by CR LF, body.
    Says(u16, String, Vec<u8>),
    /// Nothing until the peer is gone.
    Stalls,
    /// The connection is closed.
    Closes,
}

pub fn says(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    Reply::Says(status, headers.to_owned(), body.as_ref().to_vec())
}

pub fn json(body: &str) -> Reply {
    says(200, "Content-Type: application/json\r\n", body)
}

pub struct Service {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    pub async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::over(None, answer).await
    }

    /// The same over TLS, where there is a configuration.
    pub async fn over(
        tls: Option<ServerConfig>,
        answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&asked), Arc::new(answer));
        let tls = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let task = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (log, answer, tls) = (Arc::clone(&log), Arc::clone(&answer), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(tcp, &log, &*answer).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(tcp).await {
                                serve(stream, &log, &*answer).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, asked, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it was asked, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The last request.
    pub fn last(&self) -> Asked {
        self.asked().pop().unwrap()
    }
}

async fn serve<S>(mut stream: S, log: &Mutex<Vec<Asked>>, answer: &(dyn Fn(&Asked) -> Reply + Sync))
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(asked) = request(&mut stream).await else { return };
    let is_head = asked.method == "HEAD";
    let reply = answer(&asked);
    log.lock().unwrap().push(asked);
    match reply {
        Reply::Says(status, headers, body) => {
            let head = format!("HTTP/1.1 {status} Said\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
            let body = if is_head { Vec::new() } else { body };
            let _ = stream.write_all(&[head.into_bytes(), body].concat()).await;
            let _ = stream.shutdown().await;
        }
        Reply::Stalls => {}
        Reply::Closes => return,
    }
    let mut rest = [0; 1024];
    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
}

async fn request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Asked> {
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
            return Some(Asked { method, target, head, body });
        }
    }
}
