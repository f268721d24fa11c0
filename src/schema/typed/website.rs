//! The settings of `website` and `website-ssl`.

use serde::Deserialize;

/// One HTTP request.
#[derive(Clone, Debug, Deserialize)]
pub struct WebsiteSettings<'a> {
    /// Requested URL.
    pub url: &'a str,
    /// Method of the request.
    pub http_method: HttpMethod,
    /// Body of a POST, PUT, PATCH or DELETE.
    pub post_body: Option<&'a str>,
    /// Type of that body.
    pub post_content_type: &'a str,
    /// Further headers of the request.
    #[serde(borrow)]
    pub http_headers: Vec<HeaderSettings<'a>>,
    /// Version of HTTP.
    pub http_version: HttpVersion,
    /// Whether the name is resolved afresh for each attempt.
    pub resolve_dns: bool,
    /// Address to connect to when `resolve_dns` is false.
    pub ip_address: Option<&'a str>,
    /// Whether redirects are followed.
    pub http_follow_redirects: bool,
    /// Whether a 302 anywhere in the chain is an error.
    pub http_302_is_error: bool,
    /// Whether a 401 is an error.
    pub http_401_is_error: bool,
    /// Status codes that pass; alone they decide.
    pub expected_statuses: Option<&'a str>,
    /// Whether caches on the path may respond.
    pub http_caching: HttpCaching,
    /// Whether requests carry a W3C traceparent.
    pub trace_requests: bool,
    /// User name for HTTP authentication.
    pub realm_userid: Option<&'a str>,
    /// Password for HTTP authentication.
    pub realm_password: Option<&'a str>,
}

/// Method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// GET.
    Get,
    /// POST.
    Post,
    /// HEAD.
    Head,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
    /// OPTIONS.
    Options,
}

/// Methods whose requests may have a body.
pub const BODY_METHODS: &[&str] = &["POST", "PUT", "PATCH", "DELETE"];

/// Version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    Http11,
    /// HTTP/1.0.
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/2.
    #[serde(rename = "2")]
    Http2,
    /// HTTP/3.
    #[serde(rename = "3")]
    Http3,
}

/// Whether caches on the path may respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum HttpCaching {
    /// They must revalidate.
    Disabled,
    /// They may respond.
    Enabled,
}

/// A header of a request.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct HeaderSettings<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}
