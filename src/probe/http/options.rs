//! The fields of a website monitor (fields.md 2), typed and checked.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PRAGMA,
    USER_AGENT,
};
use http::{HeaderMap, Method, Version};
use url::Url;

use super::login::Login;
use super::{ProbeSettings, Unusable};
use crate::judge::certificate::ExpiryRule;
use crate::judge::keyword::{Keyword, KeywordRule};
use crate::model::Document;
use crate::net::{Family, TlsOptions, TlsVersions};
use crate::wire::http as wire;

/// What a website monitor asks for.
#[derive(Debug)]
pub(super) struct Options {
    /// The first URL, with the monitor's own port, without credentials and fragment.
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) version: Version,
    pub(super) body: Bytes,
    /// Header fields of every request; `Host` stands first and is set for each one. HTTP/2 goes without
    /// those of the connection.
    pub(super) headers: HeaderMap,
    pub(super) login: Option<Login>,
    /// Address of the first host, when its name is not to be resolved.
    pub(super) pinned: Option<IpAddr>,
    pub(super) family: Family,
    pub(super) follows: bool,
    pub(super) error_302: bool,
    pub(super) error_401: bool,
    pub(super) tls: TlsOptions,
    pub(super) expiry: ExpiryRule,
    pub(super) keyword: Option<Arc<Keyword>>,
    pub(super) body_bytes: u64,
    /// What every result has to say about options without effect.
    pub(super) notes: Vec<String>,
}

impl Options {
    pub(super) fn of(document: &Document, settings: &ProbeSettings) -> Result<Self, Unusable> {
        let mut url = first_url(document)?;
        let login = Login::of(document, &url);
        // Neither has a setter that can fail on an http URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let method = method(document)?;
        let body = match document.text("post_body") {
            Some(text) if method == Method::POST => Bytes::copy_from_slice(text.as_bytes()),
            _ => Bytes::new(),
        };
        let version = version(document)?;
        Ok(Self {
            headers: headers(document, settings, &method)?,
            pinned: pinned(document)?,
            family: family(document)?,
            follows: document.flag("http_follow_redirects"),
            error_302: document.flag("http_302_is_error"),
            error_401: document.flag("http_401_is_error"),
            tls: tls(document, version),
            expiry: ExpiryRule::of(document, settings.certificate_days),
            keyword: keyword(document)?,
            body_bytes: settings.body_bytes,
            notes: notes(document),
            url,
            method,
            version,
            body,
            login,
        })
    }
}

fn unusable(field: &'static str, reason: impl Into<String>) -> Unusable {
    Unusable { field, reason: reason.into() }
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
        Some(other) => Err(unusable("http_version", format!("`{other}` is not 1.0, 1.1 or 2"))),
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

fn family(document: &Document) -> Result<Family, Unusable> {
    match document.text("ipv6_enabled") {
        None | Some("Disabled") => Ok(Family::V4Only),
        Some("Preferred") => Ok(Family::V6Preferred),
        Some("Enforced") => Ok(Family::V6Only),
        Some(other) => Err(unusable("ipv6_enabled", format!("`{other}` is no choice"))),
    }
}

fn tls(document: &Document, version: Version) -> TlsOptions {
    let id = |field| Some(document.number(field)).filter(|&id| id != 0);
    let alpn: &[&[u8]] = match version {
        Version::HTTP_2 => &[b"h2", b"http/1.1"],
        Version::HTTP_11 => &[b"http/1.1"],
        _ => &[],
    };
    TlsOptions {
        versions: TlsVersions::of_field(document.text("use_ssl_version").unwrap_or_default()),
        alpn: alpn.iter().map(|name| name.to_vec()).collect(),
        verify: document.flag("verify_certificate"),
        ca: id("ca_cert_id"),
        client_certificate: id("ssl_cert_id").filter(|_| document.flag("use_client_ssl_cert")),
    }
}

fn keyword(document: &Document) -> Result<Option<Arc<Keyword>>, Unusable> {
    let compile = |rule: KeywordRule| rule.compile().map(Arc::new);
    let keyword = KeywordRule::of(document).map(compile).transpose();
    keyword.map_err(|error| unusable("keyword_string", error.to_string()))
}

fn headers(document: &Document, settings: &ProbeSettings, method: &Method) -> Result<HeaderMap, Unusable> {
    let agent = HeaderValue::from_str(&settings.user_agent);
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(HOST, HeaderValue::from_static(""));
    headers.insert(USER_AGENT, agent.map_err(|_| unusable("user_agent", "it is no header value"))?);
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(wire::ACCEPT_ENCODING));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if document.text("http_caching") != Some("Enabled") {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    }
    if method == Method::POST {
        let default = "application/x-www-form-urlencoded";
        let kind = document.text("post_content_type").filter(|kind| !kind.is_empty()).unwrap_or(default);
        let kind = HeaderValue::from_str(kind);
        headers
            .insert(CONTENT_TYPE, kind.map_err(|_| unusable("post_content_type", "it is no header value"))?);
    }
    add_own(document, &mut headers)?;
    Ok(headers)
}

/// Adds the monitor's own header fields; the first of a name replaces the default, further ones follow it.
fn add_own(document: &Document, headers: &mut HeaderMap) -> Result<(), Unusable> {
    let mut set = Vec::new();
    for entry in document.list("http_headers") {
        let text = |key: &str| entry.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let (name, value) = (text("name"), text("value"));
        let name = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .filter(|name| !belongs_to_the_exchange(name))
            .ok_or_else(|| unusable("http_headers", format!("`{name}` cannot be set")))?;
        // The value may be a secret: it is not shown.
        let value = HeaderValue::from_str(value).map_err(|_| {
            unusable("http_headers", format!("the value of `{name}` has a character that is not allowed"))
        })?;
        if set.contains(&name) {
            headers.append(name, value);
        } else {
            headers.insert(&name, value);
            set.push(name);
        }
    }
    Ok(())
}

/// Fields that frame the message or belong to the connection (RFC 9110 7.6.1), and `Host`.
fn belongs_to_the_exchange(name: &HeaderName) -> bool {
    const NAMES: [&str; 9] = [
        "host",
        "content-length",
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    NAMES.contains(&name.as_str())
}

/// Options that are kept but that this build does not act on. A result says so rather than nothing.
fn notes(document: &Document) -> Vec<String> {
    let number_differs = |field, default: i64| {
        document.value(field).and_then(serde_json::Value::as_i64).is_some_and(|number| number != default)
    };
    let mut idle = Vec::new();
    for (field, default) in [("interval_fullpage", -1), ("fullpage_object_timeout", 10), ("proxy_id", 0)] {
        if number_differs(field, default) {
            idle.push(field);
        }
    }
    for field in [
        "check_fullpage_missing_objects",
        "check_fullpage_object_sizes",
        "notify_on_fullpage_errors",
        "notify_on_content_change",
    ] {
        if document.flag(field) {
            idle.push(field);
        }
    }
    idle.into_iter().map(|field| format!("`{field}` is set, but this build does not act on it")).collect()
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
