//! Header fields shared by requests for several objects.

use std::sync::Arc;

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName};
use http::{HeaderMap, HeaderValue, Version};
use url::Url;

use crate::domain::PageObjectKind;

/// Header fields for all objects of one kind from one server that the same document or style sheet refers to.
pub(super) struct CachedHeaders {
    pub(super) object_kind: PageObjectKind,
    pub(super) referrer: Arc<Url>,
    pub(super) origin_index: usize,
    pub(super) http_version: Version,
    pub(super) headers: HeaderMap,
}

/// Returns those of `monitor_headers` that requests for objects of the page's own server send as well: all except the
/// ones that describe the page's own request.
pub(super) fn inherited_headers(monitor_headers: &HeaderMap) -> HeaderMap {
    filter_headers(monitor_headers, |name| ![HOST, CONNECTION, CONTENT_TYPE, CONTENT_LENGTH].contains(name))
        .collect()
}

/// Returns the `headers` for which `is_included` is true, in their order.
pub(super) fn filter_headers(
    headers: &HeaderMap,
    is_included: impl Fn(&HeaderName) -> bool,
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let filtered = headers.iter().filter(move |(name, _)| is_included(name));
    filtered.map(|(name, value)| (name.clone(), value.clone()))
}
