//! The way through an HTTP proxy: `CONNECT` to the address (RFC 9110 9.3.6), then the connection is the target's.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zeroize::Zeroizing;

use super::{Deadline, Endpoint, Net, Trace, socket};
use crate::model::{Failure, FailureKind, Fault, Phase};

/// How long the proxy has to let us connect to it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of the head of its answer at most.
const HEAD: usize = 8192;

/// An HTTP proxy. It shows as its address alone: a login is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    at: Endpoint,
    /// The value of `Proxy-Authorization`.
    authorization: Option<Zeroizing<String>>,
}

impl Proxy {
    /// The same for who logs in by `username`, which holds no colon, and `password` (RFC 7617).
    #[must_use]
    pub fn for_user(mut self, username: &str, password: &str) -> Self {
        let pair = Zeroizing::new(format!("{username}:{password}"));
        let coded = Zeroizing::new(base64::engine::general_purpose::STANDARD.encode(pair.as_bytes()));
        self.authorization = Some(Zeroizing::new(format!("Basic {}", coded.as_str())));
        self
    }

    fn request(&self, to: SocketAddr) -> Zeroizing<String> {
        let login = self.authorization.as_ref();
        let login = login.map(|login| format!("Proxy-Authorization: {}\r\n", login.as_str()));
        let login = Zeroizing::new(login.unwrap_or_default());
        Zeroizing::new(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{}\r\n", login.as_str()))
    }
}

impl From<Endpoint> for Proxy {
    fn from(at: Endpoint) -> Self {
        Self { at, authorization: None }
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.at)
    }
}

impl Net {
    /// Lets TCP connections leave through `proxy`; those to loopback go without. Names are still resolved here,
    /// and the egress policy holds for what they resolve to.
    #[must_use]
    pub fn through(mut self, proxy: Option<impl Into<Proxy>>) -> Self {
        self.proxy = proxy.map(Into::into);
        self
    }

    /// A connection to `to` through `proxy`. That the proxy cannot be used is our fault; what it says of the
    /// target is not.
    pub(super) async fn tunnel(&self, proxy: &Proxy, to: SocketAddr) -> Result<TcpStream, Failure> {
        let mut stream = self.reach(proxy).await?;
        let broken = |error: io::Error| unusable(proxy, &error.to_string());
        stream.write_all(proxy.request(to).as_bytes()).await.map_err(broken)?;
        let head = head_of(&mut stream).await.map_err(broken)?;
        match status_of(&head) {
            Some(200..=299) => Ok(stream),
            Some(502 | 503) => Err(told(FailureKind::Unreachable, to, "cannot reach it")),
            Some(504) => Err(told(FailureKind::TimedOut, to, "had no answer of it in time")),
            Some(407) if proxy.authorization.is_some() => Err(unusable(proxy, "it refused the login")),
            Some(407) => Err(unusable(proxy, "it asks for a login")),
            Some(status) => Err(unusable(proxy, &format!("it refused {to} with status {status}"))),
            None => Err(unusable(proxy, "it does not speak HTTP")),
        }
    }

    async fn reach(&self, proxy: &Proxy) -> Result<TcpStream, Failure> {
        let deadline = Deadline::within(PATIENCE);
        let addresses = self.resolve(&proxy.at, deadline, &mut Trace::default()).await;
        let addresses = addresses.map_err(|failure| unusable(proxy, &failure.to_string()))?;
        let mut last = unusable(proxy, "its name has no address");
        for address in addresses {
            let at = SocketAddr::new(address, proxy.at.port);
            let connected = async { socket::tcp(self.source(), at)?.connect(at).await };
            match tokio::time::timeout_at(deadline.at, connected).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = unusable(proxy, &error.to_string()),
                Err(_) => return Err(unusable(proxy, "it does not answer")),
            }
        }
        Err(last)
    }
}

/// The head of the proxy's answer. What follows it is the target's and stays in the stream: servers that speak
/// first do so at once.
async fn head_of(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < HEAD {
        let mut part = [0; 1024];
        let came = stream.peek(&mut part).await?;
        if came == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let before = head.len();
        head.extend_from_slice(&part[..came]);
        let end = head.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        head.truncate(end.unwrap_or(head.len()));
        stream.read_exact(&mut part[..head.len() - before]).await?;
        if end.is_some() {
            return Ok(head);
        }
    }
    Err(io::Error::other("the head of its answer does not end"))
}

/// The status of an answer such as `HTTP/1.1 200 OK`.
fn status_of(head: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    let (version, rest) = line.split_once(' ')?;
    version.strip_prefix("HTTP/1.")?;
    rest.get(..3)?.parse().ok()
}

fn told(kind: FailureKind, to: SocketAddr, what: &str) -> Failure {
    Failure::new(Phase::Connect, kind, format!("{to}: the proxy {what}"))
}

fn unusable(proxy: &Proxy, why: &str) -> Failure {
    let detail = format!("the proxy {proxy} of this location: {why}");
    Failure::new(Phase::Connect, FailureKind::NotConfigured, detail).blamed_on(Fault::Ours)
}
