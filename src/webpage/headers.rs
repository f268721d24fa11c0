//! What the request for an object says in its header.

use std::sync::Arc;

use http::header::{ACCEPT, AUTHORIZATION, COOKIE, HOST, REFERER};
use http::{HeaderMap, HeaderValue, Method, Version};
use url::{Position, Url};

use super::flight::unaskable;
use super::loader::Loader;
use super::object::Object;
use super::prepared::{Prepared, only};
use crate::domain::{Failure, PageObjectKind};
use crate::protocol::http::client::{is_same_origin, is_secret_header};

/// Sets of header fields that are kept.
const MOST_PREPARED: usize = 16;

impl Prepared {
    fn is_for(&self, object: &Object, version: Version) -> bool {
        let Object { origin, found, .. } = object;
        (self.kind, self.origin, self.version) == (found.kind, *origin, version)
            && Arc::ptr_eq(&self.by, &found.by)
    }
}

impl Loader<'_> {
    /// The header of the request for `object`.
    ///
    /// # Errors
    /// Ours, when its server has a name that no request can have.
    pub(super) fn headers(&mut self, object: usize, version: Version) -> Result<HeaderMap, Failure> {
        let object = &self.objects[object];
        let known = self.prepared.iter().find(|prepared| prepared.is_for(object, version));
        let mut headers = if let Some(prepared) = known {
            prepared.headers.clone()
        } else {
            let (kind, by, origin) = (object.found.kind, Arc::clone(&object.found.by), object.origin);
            let headers = self.prepare(object, version)?;
            if self.prepared.len() == MOST_PREPARED {
                self.prepared.remove(0);
            }
            self.prepared.push(Prepared { kind, by, origin, version, headers: headers.clone() });
            headers
        };
        if self.origins[object.origin].is_near
            && let Some(cookies) = self.jar.cookie_header(&object.url)
        {
            headers.append(COOKIE, cookies);
        }
        let pass = self.pass.as_mut();
        if let Some(value) = pass.and_then(|pass| pass.authorization(&Method::GET, &object.url)) {
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// What does not depend on the path.
    fn prepare(&self, object: &Object, version: Version) -> Result<HeaderMap, Failure> {
        let Object { found, url, .. } = object;
        let mut headers = HeaderMap::with_capacity(12);
        if version == Version::HTTP_11 {
            let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]);
            headers.insert(HOST, host.map_err(|_| unaskable(url))?);
        }
        let is_own = self.origins[object.origin].is_own;
        headers.extend(only(&self.own, |name| is_own || !is_secret_header(name)));
        accept(&mut headers, found.kind);
        if let Some(value) = referer(&found.by, url).and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(REFERER, value);
        }
        Ok(headers)
    }
}

/// What browsers ask for, unless the monitor asks for something itself.
fn accept(headers: &mut HeaderMap, kind: PageObjectKind) {
    let wanted = match kind {
        PageObjectKind::Image => "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
        PageObjectKind::Style => "text/css,*/*;q=0.1",
        PageObjectKind::Frame => "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        _ => return,
    };
    if headers.get(ACCEPT).is_some_and(|value| value == "*/*") {
        headers.insert(ACCEPT, HeaderValue::from_static(wanted));
    }
}

/// What `by` says of itself to `to`: all of its URL to its own origin, the origin to others, nothing from TLS to
/// none (`strict-origin-when-cross-origin`).
fn referer(by: &Url, to: &Url) -> Option<String> {
    if by.scheme() == "https" && to.scheme() != "https" {
        return None;
    }
    if is_same_origin(by, to) {
        let before = &by[..Position::BeforeUsername];
        return Some(format!("{before}{}", &by[Position::BeforeHost..Position::AfterQuery]));
    }
    Some(format!("{}/", by.origin().ascii_serialization()))
}
