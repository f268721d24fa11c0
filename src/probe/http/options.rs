//! The fields of a website monitor (fields.md 2), typed and checked.

use std::net::IpAddr;
use std::num::NonZeroU16;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Version};
use url::Url;

use super::request_headers::RequestHeaders;
use crate::evaluate::certificate::ExpiryRule;
use crate::evaluate::keyword::KeywordRule;
use crate::probe::contract::ProbeContext;
use crate::probe::full_page::FullPageRule;
use crate::probe::invalid_probe::invalid_setting;
use crate::probe::settings::ProbeSettings;
use crate::probe::{connect_settings, keyword_search};
use crate::protocol::http::client::{ConnectOptions, HttpCredentials, RequestSpec};
use crate::schema::typed::connection::PortSettings;
use crate::schema::typed::website::{HttpMethod, HttpVersion, WebsiteSettings};
use crate::schema::{InvalidSettings, MonitorDocument};

/// The settings of a website monitor.
#[derive(Debug)]
pub(super) struct Options {
    /// The first URL, with the monitor's own port, without credentials and fragment.
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) version: Version,
    pub(super) body: Option<Bytes>,
    pub(super) headers: RequestHeaders,
    pub(super) credentials: Option<Arc<HttpCredentials>>,
    pub(super) connect: ConnectOptions,
    pub(super) follow_redirects: bool,
    pub(super) error_302: bool,
    pub(super) error_401: bool,
    pub(super) expiry: ExpiryRule,
    pub(super) keyword: Option<Box<KeywordRule>>,
    pub(super) max_body_bytes: u64,
    /// The full page rule, if the monitor has full page checks.
    pub(super) full_page: Option<FullPageRule>,
    /// Whether a change of the content is reported.
    pub(super) detect_change: bool,
}

impl Options {
    pub(super) fn from_document(
        document: &MonitorDocument,
        settings: &ProbeSettings,
    ) -> Result<Self, InvalidSettings> {
        let website: WebsiteSettings<'_> = document.to_typed()?;
        let mut url = first_url(&website, document.to_typed::<PortSettings>()?.port)?;
        let (user, password) =
            (website.realm_userid.unwrap_or_default(), website.realm_password.unwrap_or_default());
        let login = HttpCredentials::from_user_or_url(user, password, &url).map(Arc::new);
        // Neither setter can fail on an http URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let method = method(website.http_method);
        let body = (method == Method::POST)
            .then(|| Bytes::copy_from_slice(website.post_body.unwrap_or_default().as_bytes()));
        let (monitor, is_head) = (document.settings(), method == Method::HEAD);
        Ok(Self {
            headers: RequestHeaders::from_settings(&website, settings, &method)?,
            connect: ConnectOptions {
                family: connect_settings::address_family(document)?,
                pinned: pinned(&website)?.zip(url.host()).map(|(address, host)| (host.to_owned(), address)),
                proxy: connect_settings::proxy_id(document)?,
                tls: connect_settings::tls_options(document)?,
            },
            follow_redirects: website.http_follow_redirects,
            error_302: website.http_302_is_error,
            error_401: website.http_401_is_error,
            expiry: monitor.certificate_dates.expiry_rule(settings.certificate_days),
            keyword: keyword_search::keyword_rule(document)?,
            max_body_bytes: settings.max_body_bytes,
            full_page: FullPageRule::from_settings(monitor.full_page).filter(|_| !is_head),
            detect_change: monitor.full_page.is_some_and(|page| page.notify_on_content_change) && !is_head,
            url,
            method,
            version: version(website.http_version),
            body,
            credentials: login,
        })
    }
}

impl Options {
    /// Whether a page that passed is analysed further in this attempt.
    pub(super) fn needs_page(&self, cx: &ProbeContext<'_>) -> bool {
        let is_due = |rule: &FullPageRule| rule.is_due(cx.full_page_at, cx.clock.now());
        self.detect_change || self.full_page.as_ref().is_some_and(is_due)
    }

    /// Builds the request of an attempt.
    pub(super) fn build_request(&self) -> RequestSpec {
        RequestSpec {
            url: self.url.clone(),
            method: self.method.clone(),
            version: self.version,
            headers: self.headers.to_header_map(),
            body: self.body.clone(),
            credentials: self.credentials.clone(),
            preemptive_auth: false,
            follow_redirects: self.follow_redirects,
        }
    }
}

/// Returns the URL of the first request, with the port of the monitor.
fn first_url(settings: &WebsiteSettings<'_>, port: Option<NonZeroU16>) -> Result<Url, InvalidSettings> {
    let mut url = Url::parse(settings.url).map_err(|error| invalid_setting("url", error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(invalid_setting("url", "it must begin with `http://` or `https://` and a host"));
    }
    if let Some(port) = port {
        url.set_port(Some(port.get())).map_err(|()| invalid_setting("port", "the URL takes none"))?;
    }
    Ok(url)
}

const fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Head => Method::HEAD,
    }
}

const fn version(version: HttpVersion) -> Version {
    match version {
        HttpVersion::Http10 => Version::HTTP_10,
        HttpVersion::Http11 => Version::HTTP_11,
        HttpVersion::Http2 => Version::HTTP_2,
        HttpVersion::Http3 => Version::HTTP_3,
    }
}

/// Returns the address used instead of resolving the URL's host (`ip_address`, when `resolve_dns` is false).
fn pinned(settings: &WebsiteSettings<'_>) -> Result<Option<IpAddr>, InvalidSettings> {
    match settings.ip_address.filter(|text| !text.is_empty()) {
        Some(text) if !settings.resolve_dns => text
            .parse()
            .map(Some)
            .map_err(|_| invalid_setting("ip_address", format!("`{text}` is not an address"))),
        _ => Ok(None),
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
