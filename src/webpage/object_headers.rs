//! The header fields of requests for objects.

use std::sync::Arc;

use http::header::{ACCEPT, AUTHORIZATION, COOKIE, HOST, REFERER};
use http::{HeaderMap, HeaderValue, Method, Version};
use url::{Position, Url};

use super::header_cache::{CachedHeaders, filter_headers};
use super::load_task::invalid_url_failure;
use super::loader::PageLoader;
use super::object::LoadingObject;
use crate::domain::{Failure, PageObjectKind};
use crate::protocol::http::client::{is_same_origin, is_secret_header};

/// Maximum number of cached sets of header fields.
const MAX_CACHED_HEADER_SETS: usize = 16;

impl CachedHeaders {
    fn matches(&self, object: &LoadingObject, version: Version) -> bool {
        let LoadingObject { origin_index: origin, found, .. } = object;
        (self.object_kind, self.origin_index, self.http_version) == (found.kind, *origin, version)
            && Arc::ptr_eq(&self.referrer, &found.referrer)
    }
}

impl PageLoader<'_> {
    /// Returns the header fields of the request for `object_index`.
    ///
    /// # Errors
    /// Fails, as Vigie's own fault, when the host name is not valid in a header.
    pub(super) fn headers_for(
        &mut self,
        object_index: usize,
        version: Version,
    ) -> Result<HeaderMap, Failure> {
        let object = &self.objects[object_index];
        let cached_headers = self.header_cache.iter().find(|cached| cached.matches(object, version));
        let mut headers = if let Some(cached) = cached_headers {
            cached.headers.clone()
        } else {
            let (kind, referrer, origin) =
                (object.found.kind, Arc::clone(&object.found.referrer), object.origin_index);
            let headers = self.build_cacheable_headers(object, version)?;
            if self.header_cache.len() == MAX_CACHED_HEADER_SETS {
                self.header_cache.remove(0);
            }
            self.header_cache.push(CachedHeaders {
                object_kind: kind,
                referrer,
                origin_index: origin,
                http_version: version,
                headers: headers.clone(),
            });
            headers
        };
        if self.origins[object.origin_index].is_page_site
            && let Some(cookies) = self.cookie_jar.cookie_header(&object.url)
        {
            headers.append(COOKIE, cookies);
        }
        let auth_state = self.auth_state.as_mut();
        if let Some(value) =
            auth_state.and_then(|auth_state| auth_state.authorization_header(&Method::GET, &object.url))
        {
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// Builds the header fields that do not depend on the path, so that they can be cached.
    fn build_cacheable_headers(
        &self,
        object: &LoadingObject,
        version: Version,
    ) -> Result<HeaderMap, Failure> {
        let LoadingObject { found, url, .. } = object;
        let mut headers = HeaderMap::with_capacity(12);
        if version == Version::HTTP_11 {
            let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]);
            headers.insert(HOST, host.map_err(|_| invalid_url_failure(url))?);
        }
        let is_page_origin = self.origins[object.origin_index].is_page_origin;
        headers.extend(filter_headers(&self.inherited_headers, |name| {
            is_page_origin || !is_secret_header(name)
        }));
        set_accept(&mut headers, found.kind);
        if let Some(value) =
            referer_value(&found.referrer, url).and_then(|value| HeaderValue::try_from(value).ok())
        {
            headers.insert(REFERER, value);
        }
        Ok(headers)
    }
}

/// Sets `Accept` as browsers do, unless the monitor sets it.
fn set_accept(headers: &mut HeaderMap, kind: PageObjectKind) {
    let value_for_kind = match kind {
        PageObjectKind::Image => "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
        PageObjectKind::StyleSheet => "text/css,*/*;q=0.1",
        PageObjectKind::Frame => "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        _ => return,
    };
    if headers.get(ACCEPT).is_some_and(|value| value == "*/*") {
        headers.insert(ACCEPT, HeaderValue::from_static(value_for_kind));
    }
}

/// Returns the `Referer` of a request: the whole URL within the same origin, the origin only to others, and nothing
/// from https to http (`strict-origin-when-cross-origin`).
fn referer_value(referrer: &Url, url: &Url) -> Option<String> {
    if referrer.scheme() == "https" && url.scheme() != "https" {
        return None;
    }
    if is_same_origin(referrer, url) {
        let scheme_prefix = &referrer[..Position::BeforeUsername];
        return Some(format!("{scheme_prefix}{}", &referrer[Position::BeforeHost..Position::AfterQuery]));
    }
    Some(format!("{}/", referrer.origin().ascii_serialization()))
}
