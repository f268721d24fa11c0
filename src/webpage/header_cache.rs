//! Header fields that requests for several objects share.

use std::sync::Arc;

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName};
use http::{HeaderMap, HeaderValue, Version};
use url::Url;

use crate::domain::PageObjectKind;

/// Header fields for all objects of one kind, that one document or style sheet names of one server.
pub(super) struct CachedHeaders {
    pub(super) kind: PageObjectKind,
    pub(super) by: Arc<Url>,
    pub(super) origin: usize,
    pub(super) version: Version,
    pub(super) headers: HeaderMap,
}

/// Those of the monitor's `fields` that a request for an object of its own server has too.
pub(super) fn own_headers(fields: &HeaderMap) -> HeaderMap {
    filter_headers(fields, |name| ![HOST, CONNECTION, CONTENT_TYPE, CONTENT_LENGTH].contains(name)).collect()
}

/// Those of `fields` that are wanted, in their order.
pub(super) fn filter_headers(
    fields: &HeaderMap,
    is_wanted: impl Fn(&HeaderName) -> bool,
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let wanted = fields.iter().filter(move |(name, _)| is_wanted(name));
    wanted.map(|(name, value)| (name.clone(), value.clone()))
}
