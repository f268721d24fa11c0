//! What an HTTP client does beyond one exchange: connections, cookies, logins, redirects.
//!
//! Nothing here judges an answer: a [`Journey`] asks, hands out every answer, and goes on when it is told to.
//! Each request gets a cold connection of its own, so that its phases mean the same every time.

pub mod evidence;
mod jar;
mod journey;
mod login;
mod pass;
mod record;
mod redirect;
mod message;

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Version};
use tokio::time::Instant;
use url::{Host, Url};

use crate::net::{Deadline, Endpoint, Family, Net, TlsOptions};

pub use jar::Jar;
pub use journey::{Journey, Travelled};
pub use login::Login;
pub use pass::Pass;
pub use record::{Kept, of_media_type, short, version_name};
pub use redirect::{MOST as MOST_REDIRECTS, is_redirect, shown, target as redirect_target};
pub use message::{is_same_origin, is_secret};

/// How the connections of a check are made.
#[derive(Clone, Debug)]
pub struct Way {
    /// Families to try.
    pub family: Family,
    /// Address of a host whose name is not to be resolved.
    pub pinned: Option<(Host<String>, IpAddr)>,
    /// The proxy of the settings to go through, instead of what the location does by itself.
    pub proxy: Option<i64>,
    /// Versions, trust and certificate of TLS. What is offered by ALPN follows from the request.
    pub tls: TlsOptions,
}

impl Way {
    /// Where to connect to for `url`.
    #[must_use]
    pub fn endpoint(&self, url: &Url) -> Endpoint {
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) | None => None,
        };
        // An IPv6 address stands in brackets.
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let pinned =
            self.pinned.as_ref().filter(|(host, _)| url.host().is_some_and(|of_url| *host == of_url));
        let pinned = pinned.map(|&(_, address)| address);
        let family = match (self.family, pinned.or(literal)) {
            // IPv6 that was written down as an address is wanted, whatever names resolve to.
            (Family::V4Only, Some(IpAddr::V6(_))) => Family::Any,
            (family, _) => family,
        };
        let port = url.port_or_known_default().unwrap_or(80);
        Endpoint { host: host.into(), port, pinned, family, proxy: self.proxy }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// An `http` or `https` URL with a host, without credentials and fragment.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// HTTP/1.0, 1.1, 2 or 3; over TLS, 2 falls back to 1.1 where the server does not speak it, and so does 3 where
    /// a redirect leads to plain `http`.
    pub version: Version,
    /// Header fields. `Host`, `Content-Length` and what belongs to the connection are set for each request;
    /// those that let somebody in go to the origin of `url` only.
    pub headers: HeaderMap,
    /// What is sent; `None` for a request without a body.
    pub body: Option<Bytes>,
    /// Who asks.
    pub login: Option<Arc<Login>>,
    /// Whether the login is sent before the server asks for it (Basic).
    pub preemptive: bool,
    /// Whether redirects are followed.
    pub follows: bool,
}

/// What the requests of one attempt have in common.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// How connections are made.
    pub way: &'a Way,
    /// When the attempt has to be over.
    pub deadline: Deadline,
    /// When it began.
    pub started: Instant,
    /// Whether every exchange is recorded; others can be too, at a higher price.
    pub records: bool,
}
