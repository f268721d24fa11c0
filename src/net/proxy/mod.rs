//! The way through a forward proxy: it connects to an address for us, then the connection is the target's.
//!
//! Names are resolved here, and the egress policy holds for what they resolve to and for the proxy itself. That
//! the proxy cannot be used is our fault (95); what it says of the target is the target's.

mod connect;
mod socks;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use tokio::net::TcpStream;
use zeroize::Zeroizing;

use super::{Deadline, Endpoint, Net, Trace, socket};
use crate::domain::{Failure, FailureKind, Fault, Phase};

/// How long the proxy has to let us connect to it, and to say its first word where it speaks before it has
/// tried the target; of a short deadline, two thirds are taken at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a proxy speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyKind {
    /// `CONNECT` of HTTP/1.1 (RFC 9110 9.3.6), with a Basic login (RFC 7617).
    #[default]
    Http,
    /// SOCKS 5 (RFC 1928), with a user name and password (RFC 1929).
    Socks5,
}

impl ProxyKind {
    /// The words of the settings.
    pub const NAMES: [&'static str; 2] = ["http", "socks5"];

    /// The kind behind a word.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "http" => Some(Self::Http),
            "socks5" => Some(Self::Socks5),
            _ => None,
        }
    }
}

/// A forward proxy. It shows as its address alone: a login is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    kind: ProxyKind,
    at: Endpoint,
    login: Option<Login>,
}

#[derive(Clone, PartialEq, Eq)]
struct Login {
    username: String,
    password: Zeroizing<String>,
}

impl Proxy {
    /// A proxy at `at` without a login.
    #[must_use]
    pub fn new(kind: ProxyKind, at: Endpoint) -> Self {
        Self { kind, at, login: None }
    }

    /// The same for who logs in by `username` and `password`. For HTTP the name holds no colon (RFC 7617 2),
    /// for SOCKS both have 1 to 255 bytes (RFC 1929 2).
    #[must_use]
    pub fn for_user(mut self, username: &str, password: &str) -> Self {
        let password = Zeroizing::new(password.to_owned());
        self.login = Some(Login { username: username.to_owned(), password });
        self
    }
}

impl From<Endpoint> for Proxy {
    fn from(at: Endpoint) -> Self {
        Self::new(ProxyKind::Http, at)
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
    /// Lets TCP connections leave through `proxy` where they name none themselves; those to loopback go
    /// without it.
    #[must_use]
    pub fn through(mut self, proxy: Option<impl Into<Proxy>>) -> Self {
        self.proxy = proxy.map(Into::into);
        self
    }

    /// Knows proxies by the ids that endpoints name ([`Endpoint::proxy`]). Who names one means it: even a
    /// connection to loopback goes through it.
    #[must_use]
    pub fn with_proxies(self, proxies: BTreeMap<i64, Proxy>) -> Self {
        self.bring_proxies(proxies);
        self
    }

    /// Knows these proxies from now on, instead of those before. Connections that stand go on.
    pub fn bring_proxies(&self, proxies: BTreeMap<i64, Proxy>) {
        let proxies = proxies.into_iter().map(|(id, proxy)| (id, Arc::new(proxy))).collect();
        *self.proxies.write() = proxies;
    }

    /// The proxy that `to` names; `None` when it names none.
    ///
    /// # Errors
    /// [`FailureKind::NotConfigured`] (95) for an id that nobody gave.
    pub(super) fn named_proxy(&self, to: &Endpoint) -> Result<Option<Arc<Proxy>>, Failure> {
        let Some(id) = to.proxy else { return Ok(None) };
        let unknown = || {
            let detail = format!("`proxy_id`: the settings of this location have no proxy `{id}`");
            Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail)
        };
        let proxies = self.proxies.read();
        proxies.get(&id).cloned().map(Some).ok_or_else(unknown)
    }

    /// The proxy that a connection to `to` leaves through, which `named` this one.
    pub(super) fn proxy_towards<'a>(&'a self, to: SocketAddr, named: Option<&'a Proxy>) -> Option<&'a Proxy> {
        named.or_else(|| self.proxy.as_ref().filter(|_| !to.ip().to_canonical().is_loopback()))
    }

    /// A connection to `to` through `proxy`.
    pub(super) async fn tunnel(
        &self,
        proxy: &Proxy,
        to: SocketAddr,
        deadline: Deadline,
    ) -> Result<TcpStream, Failure> {
        let patience = Deadline::within(PATIENCE.min(deadline.left() * 2 / 3));
        let stream = self.reach(proxy, patience).await?;
        match proxy.kind {
            ProxyKind::Http => connect::ask(stream, proxy, to).await,
            ProxyKind::Socks5 => socks::ask(stream, proxy, to, patience).await,
        }
    }

    async fn reach(&self, proxy: &Proxy, deadline: Deadline) -> Result<TcpStream, Failure> {
        let mut unseen = Trace::default();
        let addresses = self.resolve(&proxy.at, deadline, &mut unseen).await;
        let addresses = addresses.map_err(|failure| unusable(proxy, &failure.to_string()))?;
        let allowed = self.permitted(&addresses, &mut unseen).map_err(|failure| {
            let detail = format!("the proxy {proxy}: {}", failure.detail);
            Failure { detail, ..failure }
        })?;
        let mut last = unusable(proxy, "its name has no address");
        for address in allowed {
            let at = SocketAddr::new(address, proxy.at.port);
            let connected = async { socket::tcp(self.source(), at)?.connect(at).await };
            match tokio::time::timeout_at(deadline.at, connected).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = broken(proxy, &error),
                Err(_) => return Err(unusable(proxy, "it does not answer")),
            }
        }
        Err(last)
    }
}

/// What a proxy says of the target.
fn told(kind: FailureKind, proxy: &Proxy, to: SocketAddr, what: &str) -> Failure {
    Failure::new(Phase::Connect, kind, format!("{to}: the proxy {proxy} {what}"))
}

fn unusable(proxy: &Proxy, why: &str) -> Failure {
    let detail = format!("the proxy {proxy}: {why}");
    Failure::new(Phase::Connect, FailureKind::NotConfigured, detail).blamed_on(Fault::Ours)
}

fn broken(proxy: &Proxy, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => unusable(proxy, "it closed the connection without an answer"),
        _ => unusable(proxy, &error.to_string()),
    }
}

/// What the proxy says of the target, in words, for each kind of failure.
fn words_of(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::ConnectRefused => "was refused by it",
        FailureKind::ConnectReset => "was reset by it",
        FailureKind::TimedOut => "had no answer of it in time",
        _ => "cannot reach it",
    }
}
