//! What the request for an object says in its header.

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
        let mut headers = HeaderMap::with_capacity(12);
        for (name, value) in self.terms.headers {
            let is_ours = [HOST, CONNECTION, CONTENT_TYPE, CONTENT_LENGTH].contains(name);
            if !is_ours && (is_own || !is_secret(name)) {
                headers.append(name, value.clone());
            }
        }
        accept(&mut headers, object.found.kind);
        if let Some(referer) = referer(&object.found.by, url) {
            set(&mut headers, REFERER, &referer);
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

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
