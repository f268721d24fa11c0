//! By which terms a page is loaded, and what it came to.

use std::time::Duration;

use http::{HeaderMap, Version};
use tokio::time::Instant;
use url::Url;

use crate::domain::FullPage;
use crate::net::{Deadline, Net};
use crate::protocol::http::client::ConnectOptions;

/// By which terms a page is loaded.
#[derive(Debug)]
pub struct LoadOptions<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// How connections are made. A client certificate is shown to the page's own host only.
    pub connect_options: &'a ConnectOptions,
    /// Where the page came from.
    pub page: &'a Url,
    /// What the page was asked for in. Over TLS, HTTP/2 is offered for the objects in any case but of 1.0; with 3,
    /// the objects of the page's own server are asked for over HTTP/3. Others are not: a browser speaks it where a
    /// server has said before that it does (RFC 9114 3.1.1), and each run begins without such knowledge.
    pub version: Version,
    /// Header fields of the monitor. Those that let somebody in go to the origin of the page only.
    pub headers: &'a HeaderMap,
    /// Bytes of a body that are read at most.
    pub max_body_bytes: u64,
    /// How long one object may take.
    pub object_timeout: Duration,
    /// When all has to be over.
    pub deadline: Deadline,
    /// When the page was asked for.
    pub started: Instant,
}

/// What a page came to.
#[derive(Debug)]
pub struct LoadedPage {
    /// Its objects. `bytes` are those of the objects alone.
    pub page: FullPage,
    /// Whether the deadline came before the last object.
    pub timed_out: bool,
}
