//! A request, and the client that makes it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Version};
use tokio::time::Instant;
use url::Url;

use super::connect_options::ConnectOptions;
use crate::net::{Deadline, Net};
use crate::protocol::http::client::auth::HttpCredentials;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RequestSpec {
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
    pub credentials: Option<Arc<HttpCredentials>>,
    /// Whether the login is sent before the server asks for it (Basic).
    pub preemptive_auth: bool,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
}

/// What the requests of one attempt have in common.
#[derive(Clone, Copy, Debug)]
pub struct RequestContext<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// How connections are made.
    pub connect_options: &'a ConnectOptions,
    /// When the attempt has to be over.
    pub deadline: Deadline,
    /// When it began.
    pub started: Instant,
    /// Whether every exchange is recorded; others can be too, at a higher price.
    pub record_exchanges: bool,
}
