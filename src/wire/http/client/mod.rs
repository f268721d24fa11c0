//! What an HTTP client does beyond one exchange: connections, cookies, logins, redirects.
//!
//! Nothing here judges an answer: a [`Journey`] asks, hands out every answer, and goes on when it is told to.
//! Each request gets a cold connection of its own, so that its phases mean the same every time.

pub mod evidence;
mod journey;
mod login;
mod pass;
mod record;
mod redirect;
mod request;

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use cookie_store::{CookieStore, RawCookie};
use http::header::{HeaderValue, SET_COOKIE};
use http::{HeaderMap, Method, Version};
use tokio::time::Instant;
use url::{Host, Url};

use crate::net::{Deadline, Endpoint, Family, Net, TlsOptions};

pub use journey::{Journey, Travelled};
pub use login::Login;
pub use pass::Pass;
pub use record::{Kept, of_media_type, short, version_name};
pub use redirect::{MOST as MOST_REDIRECTS, is_redirect, shown, target as redirect_target};
pub use request::is_secret;

/// How the connections of a check are made.
#[derive(Clone, Debug)]
pub struct Way {
    /// Families to try.
    pub family: Family,
    /// Address of a host whose name is not to be resolved.
    pub pinned: Option<(Host<String>, IpAddr)>,
    /// Versions, trust and certificate of TLS. What is offered by ALPN follows from the request.
    pub tls: TlsOptions,
}

impl Way {
    /// Where to connect to for `url`.
    #[must_use]
    pub fn endpoint(&self, url: &Url) -> Endpoint {
        let (host, literal) = match url.host() {
            Some(Host::Domain(name)) => (name.to_owned(), None),
            Some(Host::Ipv4(address)) => (address.to_string(), Some(address.into())),
            Some(Host::Ipv6(address)) => (address.to_string(), Some(address.into())),
            None => (String::new(), None),
        };
        let host_of_url = url.host().map(|host| host.to_owned());
        let pinned = self.pinned.as_ref().filter(|(host, _)| Some(host) == host_of_url.as_ref());
        let pinned = pinned.map(|&(_, address)| address);
        let family = match (self.family, pinned.or(literal)) {
            // IPv6 that was written down as an address is wanted, whatever names resolve to.
            (Family::V4Only, Some(IpAddr::V6(_))) => Family::Any,
            (family, _) => family,
        };
        let port = url.port_or_known_default().unwrap_or(80);
        Endpoint { host: host.into(), port, pinned, family }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// An `http` or `https` URL with a host, without credentials and fragment.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// HTTP/1.0, 1.1 or 2; over TLS, 2 falls back to 1.1 where the server does not speak it.
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
}

/// The cookies of one attempt (RFC 6265).
#[derive(Debug, Default)]
pub struct Jar(Option<Box<CookieStore>>);

impl Jar {
    /// Keeps the cookies of an answer from `url`.
    pub fn keep(&mut self, url: &Url, headers: &HeaderMap) {
        if !headers.contains_key(SET_COOKIE) {
            return;
        }
        let texts = headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        let cookies = texts.filter_map(|text| RawCookie::parse(text.to_owned()).ok());
        self.0.get_or_insert_default().store_response_cookies(cookies, url);
    }

    /// The value of `Cookie` for a request for `url`; `None` when there is nothing to say.
    #[must_use]
    pub fn header(&self, url: &Url) -> Option<HeaderValue> {
        let pairs: Vec<String> =
            self.0.as_ref()?.get_request_values(url).map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { None } else { HeaderValue::from_str(&pairs.join("; ")).ok() }
    }
}
