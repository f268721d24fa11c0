//! Options and result of loading the objects of a page.

use std::time::Duration;

use http::{HeaderMap, Version};
use tokio::time::Instant;
use url::Url;

use crate::domain::PageLoad;
use crate::net::{Deadline, Net};
use crate::protocol::http::client::ConnectOptions;

/// Options of loading the objects of a page.
#[derive(Debug)]
pub struct LoadOptions<'a> {
    /// The network of this location.
    pub location_net: &'a Net,
    /// Options of the connections. A client certificate is only presented to the page's own host.
    pub connect_options: &'a ConnectOptions,
    /// The final URL of the page.
    pub page_url: &'a Url,
    /// The HTTP version of the page. Over TLS, HTTP/2 is offered for the objects unless it is 1.0; with 3, the objects
    /// of the page's own server are requested over HTTP/3. Others are not: a browser uses it where a server announced
    /// it before (RFC 9114 3.1.1), and each run starts without such knowledge.
    pub page_http_version: Version,
    /// Header fields of the monitor. Credentials are only sent to the origin of the page.
    pub monitor_headers: &'a HeaderMap,
    /// Longest body of an object that is read, in bytes.
    pub max_body_bytes: u64,
    /// Time limit of each object.
    pub object_timeout: Duration,
    /// The deadline of the attempt.
    pub attempt_deadline: Deadline,
    /// When the page was requested.
    pub page_requested_at: Instant,
}

/// The loaded objects of a page.
#[derive(Debug)]
pub struct LoadedPage {
    /// Its objects. `decoded_bytes` are those of the objects only.
    pub page: PageLoad,
    /// Whether the deadline was reached before all objects were loaded.
    pub timed_out: bool,
}
