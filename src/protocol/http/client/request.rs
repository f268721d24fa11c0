//! A request, and the context that it is sent in.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Version};
use tokio::time::Instant;
use url::Url;

use super::connect_options::ConnectOptions;
use super::redirect::RedirectRule;
use crate::domain::TraceId;
use crate::net::{Deadline, Net};
use crate::protocol::http::client::auth::HttpCredentials;

/// A request.
#[derive(Clone, Debug)]
pub struct RequestSpec {
    /// An `http` or `https` URL with a host, without credentials and fragment.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// HTTP/1.0, 1.1, 2 or 3. Over TLS, 2 falls back to 1.1 if the server does not support it, and so does 3 when a
    /// redirect leads to plain `http`.
    pub version: Version,
    /// Header fields. `Host`, `Content-Length` and connection fields are set per request; credentials are only sent to
    /// the origin of `url`.
    pub headers: HeaderMap,
    /// The body; `None` for a request without one.
    pub body: Option<Bytes>,
    /// The login.
    pub credentials: Option<Arc<HttpCredentials>>,
    /// Whether the login is sent before the server asks for it (Basic).
    pub preemptive_auth: bool,
    /// Which redirects are followed, and how.
    pub redirects: RedirectRule,
    /// The trace that requests to the site of `url` belong to, unless `headers` name one; `None` for none.
    pub trace_id: Option<TraceId>,
}

/// The context shared by the requests of one attempt.
#[derive(Clone, Copy, Debug)]
pub struct RequestContext<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// Options of the connections.
    pub connect_options: &'a ConnectOptions,
    /// The deadline of the attempt.
    pub deadline: Deadline,
    /// When the attempt started.
    pub started: Instant,
    /// Whether every exchange is recorded. If not, single ones can still be recorded, at a higher cost.
    pub record_exchanges: bool,
}
