//! The fields of a website monitor (fields.md 2), typed and checked.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Version};
use url::Url;

use super::header::Headers;
use super::unusable::{Unusable, unusable};
use crate::evaluate::certificate::ExpiryRule;
use crate::evaluate::keyword::KeywordRule;
use crate::probe::contract::Context;
use crate::probe::full_page::FullPageRule;
use crate::probe::settings::ProbeSettings;
use crate::probe::{search, way};
use crate::protocol::http::client::{Login, Request, Way};
use crate::schema::Document;

/// What a website monitor asks for.
#[derive(Debug)]
pub(super) struct Options {
    /// The first URL, with the monitor's own port, without credentials and fragment.
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) version: Version,
    pub(super) body: Option<Bytes>,
    pub(super) headers: Headers,
    pub(super) login: Option<Arc<Login>>,
    pub(super) way: Way,
    pub(super) follows: bool,
    pub(super) error_302: bool,
    pub(super) error_401: bool,
    pub(super) expiry: ExpiryRule,
    pub(super) keyword: Option<Box<KeywordRule>>,
    pub(super) body_bytes: u64,
    /// Where it wants full pages.
    pub(super) full_page: Option<FullPageRule>,
    /// Whether a change of the content is told.
    pub(super) tells_change: bool,
}

impl Options {
    pub(super) fn of(document: &Document, settings: &ProbeSettings) -> Result<Self, Unusable> {
        let mut url = first_url(document)?;
        let text = |field| document.text(field).unwrap_or_default();
        let login = Login::of(text("realm_userid"), text("realm_password"), &url).map(Arc::new);
        // Neither has a setter that can fail on an http URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let method = method(document)?;
        let body = (method == Method::POST)
            .then(|| Bytes::copy_from_slice(document.text("post_body").unwrap_or_default().as_bytes()));
        let version = version(document)?;
        Ok(Self {
            headers: Headers::of(document, settings, &method)?,
            way: Way {
                family: way::family(document).ok_or_else(|| unusable("ipv6_enabled", "it is no choice"))?,
                pinned: pinned(document)?.zip(url.host()).map(|(address, host)| (host.to_owned(), address)),
                proxy: way::proxy(document),
                tls: way::tls(document),
            },
            follows: document.flag("http_follow_redirects"),
            error_302: document.flag("http_302_is_error"),
            error_401: document.flag("http_401_is_error"),
            expiry: document.settings().certificate_dates.rule(settings.certificate_days),
            keyword: search::rule(document).map_err(|why| unusable("keyword_string", why))?,
            body_bytes: settings.body_bytes,
            full_page: FullPageRule::of(document).filter(|_| method != Method::HEAD),
            tells_change: document.flag("notify_on_content_change") && method != Method::HEAD,
            url,
            method,
            version,
            body,
            login,
        })
    }
}

impl Options {
    /// Whether a good page is read any further in this attempt.
    pub(super) fn reads_page(&self, cx: &Context<'_>) -> bool {
        let is_due = |rule: &FullPageRule| rule.is_due(cx.full_page_at, cx.clock.now());
        self.tells_change || self.full_page.as_ref().is_some_and(is_due)
    }

    /// The request of an attempt.
    pub(super) fn request(&self) -> Request {
        Request {
            url: self.url.clone(),
            method: self.method.clone(),
            version: self.version,
            headers: self.headers.map(),
            body: self.body.clone(),
            login: self.login.clone(),
            preemptive: false,
            follows: self.follows,
        }
    }
}

fn first_url(document: &Document) -> Result<Url, Unusable> {
    let text = document.text("url").ok_or_else(|| unusable("url", "it is missing"))?;
    let mut url = Url::parse(text).map_err(|error| unusable("url", error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(unusable("url", "it must begin with `http://` or `https://` and a host"));
    }
    if document.value("port").is_some() {
        let port = u16::try_from(document.number("port")).ok().filter(|&port| port > 0);
        let port = port.ok_or_else(|| unusable("port", "it must be 1 to 65535"))?;
        url.set_port(Some(port)).map_err(|()| unusable("port", "the URL takes none"))?;
    }
    Ok(url)
}

fn method(document: &Document) -> Result<Method, Unusable> {
    match document.text("http_method") {
        None | Some("GET") => Ok(Method::GET),
        Some("POST") => Ok(Method::POST),
        Some("HEAD") => Ok(Method::HEAD),
        Some(other) => Err(unusable("http_method", format!("`{other}` is not GET, POST or HEAD"))),
    }
}

fn version(document: &Document) -> Result<Version, Unusable> {
    match document.text("http_version") {
        Some("1.0") => Ok(Version::HTTP_10),
        None | Some("1.1") => Ok(Version::HTTP_11),
        Some("2") => Ok(Version::HTTP_2),
        Some("3") => Ok(Version::HTTP_3),
        Some(other) => Err(unusable("http_version", format!("`{other}` is not 1.0, 1.1, 2 or 3"))),
    }
}

/// The address to use instead of a resolved one (behaviour.md 4, Addresses).
fn pinned(document: &Document) -> Result<Option<IpAddr>, Unusable> {
    match document.text("ip_address").filter(|text| !text.is_empty()) {
        Some(text) if !document.flag("resolve_dns") => {
            text.parse().map(Some).map_err(|_| unusable("ip_address", format!("`{text}` is no address")))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
