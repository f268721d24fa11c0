//! The header fields of a monitor's requests, kept in a compact form between runs.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PRAGMA,
    USER_AGENT,
};

use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::invalid_setting;
use crate::protocol::http as http_protocol;
use crate::schema::InvalidFieldValue;
use crate::schema::typed::website::{HttpCaching, WebsiteSettings};

/// The header fields of a monitor's requests. A map is created for each request.
pub(super) struct RequestHeaders {
    user_agent: Arc<str>,
    allows_caching: bool,
    content_type: Option<HeaderValue>,
    custom_headers: Box<[(HeaderName, HeaderValue)]>,
}

/// Shows names only: values may be secrets.
impl std::fmt::Debug for RequestHeaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.custom_headers.iter().map(|(name, _)| name)).finish()
    }
}

impl RequestHeaders {
    pub(super) fn from_settings(
        website: &WebsiteSettings<'_>,
        context: &ProbeBuildContext,
        has_body: bool,
    ) -> Result<Self, InvalidFieldValue> {
        HeaderValue::from_str(&context.user_agent)
            .map_err(|_| invalid_setting("user_agent", "it is not a header value"))?;
        let content_type = has_body.then(|| post_content_type(website)).transpose()?;
        Ok(Self {
            user_agent: Arc::clone(&context.user_agent),
            allows_caching: website.http_caching == HttpCaching::Enabled,
            content_type,
            custom_headers: custom_headers(website)?,
        })
    }

    /// Whether the monitor itself sets the field `name`.
    pub(super) fn has_custom(&self, name: &HeaderName) -> bool {
        self.custom_headers.iter().any(|(custom_name, _)| custom_name == name)
    }

    /// Returns the fields of every request. `Host` is first; its value is set per request. A field of the monitor
    /// replaces the standard field of the same name; if the monitor sets a name several times, all values are sent.
    pub(super) fn to_header_map(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(HOST, HeaderValue::from_static(""));
        if let Ok(user_agent_value) = HeaderValue::from_str(&self.user_agent) {
            headers.insert(USER_AGENT, user_agent_value);
        }
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(http_protocol::ACCEPT_ENCODING));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if !self.allows_caching {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
        }
        if let Some(content_type) = &self.content_type {
            headers.insert(CONTENT_TYPE, content_type.clone());
        }
        for (index, (name, value)) in self.custom_headers.iter().enumerate() {
            if self.custom_headers[..index].iter().any(|(earlier_name, _)| earlier_name == name) {
                headers.append(name, value.clone());
            } else {
                headers.insert(name, value.clone());
            }
        }
        headers
    }
}

fn post_content_type(settings: &WebsiteSettings<'_>) -> Result<HeaderValue, InvalidFieldValue> {
    let default = "application/x-www-form-urlencoded";
    let value = Some(settings.post_content_type).filter(|value| !value.is_empty()).unwrap_or(default);
    HeaderValue::from_str(value).map_err(|_| invalid_setting("post_content_type", "it is not a header value"))
}

fn custom_headers(
    settings: &WebsiteSettings<'_>,
) -> Result<Box<[(HeaderName, HeaderValue)]>, InvalidFieldValue> {
    settings
        .http_headers
        .iter()
        .map(|entry| {
            let name = entry.name;
            let name = HeaderName::from_bytes(name.as_bytes())
                .ok()
                .filter(|name| !is_reserved(name))
                .ok_or_else(|| invalid_setting("http_headers", format!("`{name}` cannot be set")))?;
            // The value may be a secret, so the error does not quote it.
            let value = HeaderValue::from_str(entry.value).map_err(|_| {
                let reason = format!("the value of `{name}` has a character that is not allowed");
                invalid_setting("http_headers", reason)
            })?;
            Ok((name, value))
        })
        .collect()
}

/// Whether the field frames the message or belongs to the connection (RFC 9110 7.6.1), or is `Host`.
fn is_reserved(name: &HeaderName) -> bool {
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
