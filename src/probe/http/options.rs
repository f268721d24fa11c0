//! The fields of a website monitor (fields.md 2), typed and checked.

use std::net::IpAddr;
use std::num::NonZeroU16;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Version};
use url::Url;

use super::request_headers::RequestHeaders;
use crate::domain::TraceId;
use crate::evaluate::certificate::ExpiryRule;
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::full_page_rule::FullPageRule;
use crate::probe::invalid_probe::invalid_setting;
use crate::probe::probe_trait::ProbeContext;
use crate::probe::{connect_settings, keyword_search};
use crate::protocol::http::TRACEPARENT;
use crate::protocol::http::client::{
    ConnectOptions, HttpCredentials, RedirectRule, RequestSpec, parse_request_url, remove_login_and_fragment,
};
use crate::schema::typed::connection::PortSettings;
use crate::schema::typed::website::{BODY_METHODS, HttpMethod, HttpVersion, WebsiteSettings};
use crate::schema::{InvalidFieldValue, MonitorDocument};
use crate::syntax::status_codes::HttpStatusCodes;

/// The settings of a website monitor.
#[derive(Debug)]
pub(super) struct WebsiteOptions {
    /// The first URL, with the monitor's own port, without credentials and fragment.
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) http_version: Version,
    pub(super) body: Option<Bytes>,
    pub(super) request_headers: RequestHeaders,
    pub(super) credentials: Option<Arc<HttpCredentials>>,
    pub(super) connect_options: ConnectOptions,
    pub(super) follow_redirects: bool,
    pub(super) fails_on_302: bool,
    pub(super) fails_on_401: bool,
    /// Status codes that pass; alone they decide.
    pub(super) expected_statuses: Option<HttpStatusCodes>,
    pub(super) expiry_rule: ExpiryRule,
    pub(super) keyword_search: Option<Box<keyword_search::KeywordSearch>>,
    pub(super) max_body_bytes: u64,
    /// The full page rule, if the monitor has full page checks.
    pub(super) full_page_rule: Option<FullPageRule>,
    /// Whether a change of the content is reported.
    pub(super) detect_content_change: bool,
    /// Whether requests carry a trace (`trace_requests`), and the monitor sets none itself.
    pub(super) trace_requests: bool,
}

impl WebsiteOptions {
    pub(super) fn from_document(
        document: &MonitorDocument,
        context: &ProbeBuildContext,
    ) -> Result<Self, InvalidFieldValue> {
        let website: WebsiteSettings<'_> = document.deserialize()?;
        let mut url = first_url(&website, document.deserialize::<PortSettings>()?.port)?;
        let (user, password) =
            (website.realm_userid.unwrap_or_default(), website.realm_password.unwrap_or_default());
        let credentials = HttpCredentials::from_user_or_url(user, password, &url).map(Arc::new);
        remove_login_and_fragment(&mut url);
        let method = to_http_method(website.http_method);
        // A DELETE without a body has no length either.
        let default_body = (matches!(method, Method::POST | Method::PUT | Method::PATCH)).then_some("");
        let body = website.post_body.filter(|_| BODY_METHODS.contains(&method.as_str())).or(default_body);
        let body = body.map(|body| Bytes::copy_from_slice(body.as_bytes()));
        let (monitor, may_return_page) = (document.settings(), matches!(method, Method::GET | Method::POST));
        let request_headers = RequestHeaders::from_settings(&website, context, body.is_some())?;
        Ok(Self {
            trace_requests: website.trace_requests && !request_headers.has_custom(&TRACEPARENT),
            request_headers,
            connect_options: ConnectOptions {
                address_family: connect_settings::address_family(document)?,
                pinned_host: pinned_address(&website)?
                    .zip(url.host())
                    .map(|(address, host)| (host.to_owned(), address)),
                proxy_id: connect_settings::proxy_id(document)?,
                tls_options: connect_settings::tls_options(document)?,
            },
            follow_redirects: website.http_follow_redirects,
            fails_on_302: website.http_302_is_error,
            fails_on_401: website.http_401_is_error,
            expected_statuses: expected_statuses(&website)?,
            expiry_rule: monitor.certificate_dates.expiry_rule(context.certificate_warning_days),
            keyword_search: keyword_search::build_keyword_search(document, context)?,
            max_body_bytes: context.max_body_bytes,
            full_page_rule: FullPageRule::from_settings(monitor.full_page).filter(|_| may_return_page),
            detect_content_change: monitor.full_page.is_some_and(|page| page.notify_on_content_change)
                && may_return_page,
            url,
            method,
            http_version: to_http_version(website.http_version),
            body,
            credentials,
        })
    }
}

impl WebsiteOptions {
    /// Whether a page that passed is analysed further in this attempt.
    pub(super) fn needs_page_analysis(&self, cx: &ProbeContext<'_>) -> bool {
        let is_due = |rule: &FullPageRule| rule.is_due(cx.last_full_page_at, cx.clock.now());
        self.detect_content_change || self.full_page_rule.as_ref().is_some_and(is_due)
    }

    /// Builds the request of an attempt, which belongs to the trace `trace_id` if the monitor traces its requests.
    pub(super) fn build_request(&self, trace_id: TraceId) -> RequestSpec {
        RequestSpec {
            url: self.url.clone(),
            method: self.method.clone(),
            version: self.http_version,
            headers: self.request_headers.to_header_map(),
            body: self.body.clone(),
            credentials: self.credentials.clone(),
            preemptive_auth: false,
            redirects: RedirectRule::from_flag(self.follow_redirects),
            trace_id: self.trace_requests.then_some(trace_id),
        }
    }
}

/// Returns the URL of the first request, with the port of the monitor.
fn first_url(settings: &WebsiteSettings<'_>, port: Option<NonZeroU16>) -> Result<Url, InvalidFieldValue> {
    let mut url = parse_request_url(settings.url).map_err(|reason| invalid_setting("url", reason))?;
    if let Some(port) = port {
        url.set_port(Some(port.get())).map_err(|()| invalid_setting("port", "the URL takes none"))?;
    }
    Ok(url)
}

const fn to_http_method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Head => Method::HEAD,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Delete => Method::DELETE,
        HttpMethod::Options => Method::OPTIONS,
    }
}

fn expected_statuses(settings: &WebsiteSettings<'_>) -> Result<Option<HttpStatusCodes>, InvalidFieldValue> {
    let text = settings.expected_statuses.filter(|text| !text.is_empty());
    let parse = |text| {
        HttpStatusCodes::parse(text)
            .ok_or_else(|| invalid_setting("expected_statuses", format!("`{text}` is not a list of codes")))
    };
    text.map(parse).transpose()
}

const fn to_http_version(version: HttpVersion) -> Version {
    match version {
        HttpVersion::Http10 => Version::HTTP_10,
        HttpVersion::Http11 => Version::HTTP_11,
        HttpVersion::Http2 => Version::HTTP_2,
        HttpVersion::Http3 => Version::HTTP_3,
    }
}

/// Returns the address used instead of resolving the URL's host (`ip_address`, when `resolve_dns` is false).
fn pinned_address(settings: &WebsiteSettings<'_>) -> Result<Option<IpAddr>, InvalidFieldValue> {
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
