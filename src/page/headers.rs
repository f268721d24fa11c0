//! What the request for an object says in its header.

use std::sync::Arc;

use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, REFERER,
};
use http::{HeaderMap, HeaderValue, Method};
use url::{Position, Url};

use super::load::Loader;
use super::same_site;
use crate::model::ObjectKind;
use crate::wire::http::client::{is_same_origin, is_secret};

impl Loader<'_> {
    /// The header of the request for `object`.
    pub(super) fn headers(&mut self, object: usize) -> HeaderMap {
        let object = &self.objects[object];
        let (page, url) = (self.terms.page, &object.url);
        let is_own = is_same_origin(url, page);
        let mut headers = if is_own { self.own.clone() } else { only(&self.own, |name| !is_secret(name)) };
        accept(&mut headers, object.found.kind);
        let by = &object.found.by;
        let is_home = is_same_origin(by, url);
        let known = self.referer.as_ref().filter(|(known, _)| is_home && Arc::ptr_eq(known, by));
        let referer = match known {
            Some((_, value)) => Some(value.clone()),
            None => referer(by, url).and_then(|value| HeaderValue::try_from(value).ok()),
        };
        if let Some(value) = referer {
            if is_home {
                self.referer = Some((Arc::clone(by), value.clone()));
            }
            headers.insert(REFERER, value);
        }
        if same_site(page, url)
            && let Some(cookies) = self.jar.header(url)
        {
            headers.append(COOKIE, cookies);
        }
        if let Some(value) = self.pass.as_mut().and_then(|pass| pass.authorization(&Method::GET, url)) {
            headers.insert(AUTHORIZATION, value);
        }
        headers
    }
}

/// Those of the monitor's `fields` that a request for an object of its own server has too.
pub(super) fn own(fields: &HeaderMap) -> HeaderMap {
    only(fields, |name| ![HOST, CONNECTION, CONTENT_TYPE, CONTENT_LENGTH].contains(name))
}

/// Those of `fields` that are wanted, in their order.
fn only(fields: &HeaderMap, is_wanted: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(12);
    for (name, value) in fields.iter().filter(|(name, _)| is_wanted(name)) {
        headers.append(name, value.clone());
    }
    headers
}

/// What browsers ask for, unless the monitor asks for something itself.
fn accept(headers: &mut HeaderMap, kind: ObjectKind) {
    let wanted = match kind {
        ObjectKind::Image => "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
        ObjectKind::Style => "text/css,*/*;q=0.1",
        ObjectKind::Frame => "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
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
