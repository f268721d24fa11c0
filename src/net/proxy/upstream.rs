//! A proxy that connections go through.

use std::fmt;

use zeroize::Zeroizing;

use crate::net::endpoint::Endpoint;

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
    pub(super) kind: ProxyKind,
    pub(super) at: Endpoint,
    pub(super) login: Option<Login>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) username: String,
    pub(super) password: Zeroizing<String>,
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
