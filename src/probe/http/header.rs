//! The header fields of a monitor's requests, small between two runs.

use std::sync::Arc;

use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PRAGMA,
    USER_AGENT,
};
use http::{HeaderMap, Method};

use super::unusable::{Unusable, unusable};
use crate::probe::settings::ProbeSettings;
use crate::protocol::http as wire;
use crate::schema::Document;

/// What a monitor's requests say in their header. A map of it is made for each request.
pub(super) struct Headers {
    agent: Arc<str>,
    caching: bool,
    content_type: Option<HeaderValue>,
    own: Box<[(HeaderName, HeaderValue)]>,
}

/// Shows names only: values may be secrets.
impl std::fmt::Debug for Headers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.own.iter().map(|(name, _)| name)).finish()
    }
}

impl Headers {
    pub(super) fn of(
        document: &Document,
        settings: &ProbeSettings,
        method: &Method,
    ) -> Result<Self, Unusable> {
        HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| unusable("user_agent", "it is no header value"))?;
        let content_type = (method == Method::POST).then(|| content_type(document)).transpose()?;
        Ok(Self {
            agent: Arc::clone(&settings.user_agent),
            caching: document.text("http_caching") == Some("Enabled"),
            content_type,
            own: own(document)?,
        })
    }

    /// The fields of every request; `Host` stands first and is set for each one. The first of the
    /// monitor's own fields of a name replaces the standard one, further ones follow it.
    pub(super) fn map(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(HOST, HeaderValue::from_static(""));
        if let Ok(agent) = HeaderValue::from_str(&self.agent) {
            headers.insert(USER_AGENT, agent);
        }
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(wire::ACCEPT_ENCODING));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if !self.caching {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
        }
        if let Some(kind) = &self.content_type {
            headers.insert(CONTENT_TYPE, kind.clone());
        }
        for (at, (name, value)) in self.own.iter().enumerate() {
            if self.own[..at].iter().any(|(earlier, _)| earlier == name) {
                headers.append(name, value.clone());
            } else {
                headers.insert(name, value.clone());
            }
        }
        headers
    }
}

fn content_type(document: &Document) -> Result<HeaderValue, Unusable> {
    let default = "application/x-www-form-urlencoded";
    let kind = document.text("post_content_type").filter(|kind| !kind.is_empty()).unwrap_or(default);
    HeaderValue::from_str(kind).map_err(|_| unusable("post_content_type", "it is no header value"))
}

fn own(document: &Document) -> Result<Box<[(HeaderName, HeaderValue)]>, Unusable> {
    document
        .list("http_headers")
        .iter()
        .map(|entry| {
            let text = |key: &str| entry.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
            let name = text("name");
            let name = HeaderName::from_bytes(name.as_bytes())
                .ok()
                .filter(|name| !belongs_to_the_exchange(name))
                .ok_or_else(|| unusable("http_headers", format!("`{name}` cannot be set")))?;
            // The value may be a secret: it is not shown.
            let value = HeaderValue::from_str(text("value")).map_err(|_| {
                let reason = format!("the value of `{name}` has a character that is not allowed");
                unusable("http_headers", reason)
            })?;
            Ok((name, value))
        })
        .collect()
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
