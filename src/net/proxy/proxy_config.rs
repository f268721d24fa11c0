//! The configuration of an upstream proxy.

use std::fmt;

use zeroize::Zeroizing;

use crate::domain::AllowedAccounts;
use crate::net::endpoint::Endpoint;

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyProtocol {
    /// `CONNECT` of HTTP/1.1 (RFC 9110 9.3.6), with a Basic login (RFC 7617).
    #[default]
    Http,
    /// SOCKS 5 (RFC 1928), with a user name and password (RFC 1929).
    Socks5,
}

impl ProxyProtocol {
    /// The names in the settings.
    pub const NAMES: [&'static str; 2] = ["http", "socks5"];

    /// Returns the protocol of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "http" => Some(Self::Http),
            "socks5" => Some(Self::Socks5),
            _ => None,
        }
    }
}

/// A forward proxy. Formatted as its address only, since a login is secret.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamProxy {
    pub(super) protocol: ProxyProtocol,
    pub(super) endpoint: Endpoint,
    pub(super) credentials: Option<ProxyCredentials>,
    pub(super) allowed_accounts: AllowedAccounts,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct ProxyCredentials {
    pub(super) username: String,
    pub(super) password: Zeroizing<String>,
}

impl UpstreamProxy {
    /// Creates a proxy at `endpoint` without a login, for the operator only.
    #[must_use]
    pub fn new(protocol: ProxyProtocol, endpoint: Endpoint) -> Self {
        Self { protocol, endpoint, credentials: None, allowed_accounts: AllowedAccounts::default() }
    }

    /// Sets the login. For HTTP the name contains no colon (RFC 7617 2), for SOCKS both have 1 to 255 bytes (RFC 1929
    /// 2).
    #[must_use]
    pub fn with_credentials(mut self, username: &str, password: &str) -> Self {
        let password = Zeroizing::new(password.to_owned());
        self.credentials = Some(ProxyCredentials { username: username.to_owned(), password });
        self
    }

    /// Allows `accounts` to name it.
    #[must_use]
    pub fn with_allowed_accounts(mut self, accounts: AllowedAccounts) -> Self {
        self.allowed_accounts = accounts;
        self
    }

    /// Returns the accounts that may name it.
    #[must_use]
    pub fn allowed_accounts(&self) -> &AllowedAccounts {
        &self.allowed_accounts
    }

    /// Returns its host and port.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl From<Endpoint> for UpstreamProxy {
    fn from(endpoint: Endpoint) -> Self {
        Self::new(ProxyProtocol::Http, endpoint)
    }
}

impl fmt::Display for UpstreamProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint.fmt(f)
    }
}

impl fmt::Debug for UpstreamProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.endpoint)
    }
}
