//! The cookies of one attempt: RFC 6265, with the rules of its successor (draft-ietf-httpbis-rfc6265bis) that browsers
//! enforce: name prefixes, and `Secure` from secure origins only.

use std::cmp::Reverse;

use cookie_store::{CookieStore, RawCookie};
use http::HeaderMap;
use http::header::{HeaderValue, SET_COOKIE};
use url::{Host, Url};

/// The cookies of one attempt.
#[derive(Debug, Default)]
pub struct CookieJar(Option<Box<CookieStore>>);

impl CookieJar {
    /// Stores the cookies of a response from `url`.
    pub fn store_response_cookies(&mut self, url: &Url, headers: &HeaderMap) {
        for text in headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            let Ok(mut cookie) = RawCookie::parse(text.to_owned()) else { continue };
            if accept_cookie(&mut cookie, url) {
                // One that does not match its origin is ignored.
                let _ = self.0.get_or_insert_default().insert_raw(&cookie, url);
            }
        }
    }

    /// Returns the value of `Cookie` for a request to `url`; `None` without cookies. Those with longer paths come first
    /// (RFC 6265 5.4).
    #[must_use]
    pub fn cookie_header(&self, url: &Url) -> Option<HeaderValue> {
        let mut cookies = self.0.as_ref()?.matches(url);
        cookies.sort_by_key(|cookie| Reverse(cookie.path.len()));
        let pairs: Vec<String> =
            cookies.iter().map(|cookie| format!("{}={}", cookie.name(), cookie.value())).collect();
        if pairs.is_empty() { None } else { HeaderValue::from_str(&pairs.join("; ")).ok() }
    }
}

impl CookieJar {
    /// Returns names and values of the cookies for `url`, in the order in which they are sent.
    #[must_use]
    pub fn cookies_for(&self, url: &Url) -> Vec<(String, String)> {
        let mut cookies = self.0.as_ref().map(|store| store.matches(url)).unwrap_or_default();
        cookies.sort_by_key(|cookie| Reverse(cookie.path.len()));
        cookies.iter().map(|cookie| (cookie.name().to_owned(), cookie.value().to_owned())).collect()
    }

    /// Sets a cookie for the host of `url` and all of its paths.
    pub fn set(&mut self, url: &Url, name: &str, value: &str) {
        let cookie = RawCookie::build((name.to_owned(), value.to_owned())).path("/").build();
        // One that does not match its origin is ignored.
        let _ = self.0.get_or_insert_default().insert_raw(&cookie, url);
    }

    /// Removes the cookies for `url`, or the one that is called `name`.
    pub fn remove(&mut self, url: &Url, name: Option<&str>) {
        let Some(store) = &mut self.0 else { return };
        let keys: Vec<(String, String, String)> = store
            .matches(url)
            .iter()
            .filter(|cookie| name.is_none_or(|name| cookie.name() == name))
            .filter_map(|cookie| {
                let domain = cookie.domain.as_cow()?.into_owned();
                Some((domain, String::from(&cookie.path), cookie.name().to_owned()))
            })
            .collect();
        for (domain, path, name) in keys {
            store.remove(&domain, &path, &name);
        }
    }
}

/// Whether connections to `url` cannot be intercepted. Loopback counts, as in the store and in browsers.
fn is_trustworthy_origin(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || is_loopback
}

/// Returns whether `cookie` from `url` may be stored. One for a public suffix is made a host-only cookie if the host is
/// that suffix (RFC 6265 5.3, step 5).
fn accept_cookie(cookie: &mut RawCookie<'static>, url: &Url) -> bool {
    let has_secure_attribute = cookie.secure().unwrap_or(false);
    let name_has_prefix = |prefix: &str| {
        cookie.name().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let (has_secure_prefix, has_host_prefix) = (name_has_prefix("__Secure-"), name_has_prefix("__Host-"));
    if (has_secure_attribute && !is_trustworthy_origin(url))
        || ((has_secure_prefix || has_host_prefix) && !has_secure_attribute)
    {
        return false;
    }
    if has_host_prefix && (cookie.domain().is_some() || cookie.path() != Some("/")) {
        return false;
    }
    let domain = cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase());
    let Some(domain) = domain.filter(|domain| is_public_suffix(domain)) else { return true };
    let is_host_itself = matches!(url.host(), Some(Host::Domain(host)) if host == domain);
    if is_host_itself {
        cookie.unset_domain();
    }
    is_host_itself
}

/// Whether anyone can register names below `domain`, such as below `co.uk`. Names on no list, such as those of an
/// intranet, count as private.
fn is_public_suffix(domain: &str) -> bool {
    psl::suffix(domain.as_bytes())
        .is_some_and(|suffix| suffix.is_known() && suffix.as_bytes() == domain.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cookies sent to `to` after `from` has set `cookies`.
    fn cookies_sent_after(from: &str, cookies: &[&str], to: &str) -> String {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(SET_COOKIE, HeaderValue::from_str(cookie).unwrap());
        }
        let mut jar = CookieJar::default();
        jar.store_response_cookies(&Url::parse(from).unwrap(), &headers);
        let value = jar.cookie_header(&Url::parse(to).unwrap());
        value.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn cookies_are_set_read_and_removed() {
        let url = Url::parse("http://a.test/b").unwrap();
        let mut jar = CookieJar::default();
        jar.set(&url, "x", "1");
        jar.set(&url, "y", "2");
        let other_path = Url::parse("http://a.test/").unwrap();
        assert_eq!(jar.cookies_for(&other_path), [("x".into(), "1".into()), ("y".into(), "2".into())]);
        assert_eq!(jar.cookies_for(&Url::parse("http://b.test/").unwrap()), []);
        jar.remove(&url, Some("x"));
        assert_eq!(jar.cookies_for(&url), [("y".into(), "2".into())]);
        jar.remove(&url, None);
        assert_eq!(jar.cookies_for(&url), []);
    }

    #[test]
    fn cookies_go_where_they_belong() {
        for (from, cookies, to, expected) in [
            // Host and domain.
            ("http://a.shop.test/", &["x=1"][..], "http://a.shop.test/b", "x=1"),
            ("http://a.shop.test/", &["x=1"], "http://b.shop.test/", ""),
            ("http://a.shop.test/", &["x=1"], "http://c.a.shop.test/", ""),
            ("http://a.shop.test/", &["x=1; Domain=shop.test"], "http://b.shop.test/", "x=1"),
            ("http://a.shop.test/", &["x=1; Domain=.shop.test"], "http://shop.test/", "x=1"),
            ("http://a.shop.test/", &["x=1; Domain=shop.test"], "http://othershop.test/", ""),
            ("http://a.shop.test/", &["x=1; Domain=other.test"], "http://other.test/", ""),
            ("http://shop.test/", &["x=1; Domain=a.shop.test"], "http://a.shop.test/", ""),
            ("http://192.0.2.1/", &["x=1"], "http://192.0.2.1:81/", "x=1"),
            ("http://192.0.2.1/", &["x=1; Domain=2.1"], "http://192.0.2.1/", ""),
            // Public suffixes.
            ("http://a.co.uk/", &["x=1; Domain=co.uk"], "http://b.co.uk/", ""),
            ("http://a.com/", &["x=1; Domain=com"], "http://a.com/", ""),
            ("http://github.io/", &["x=1; Domain=github.io"], "http://github.io/", "x=1"),
            ("http://github.io/", &["x=1; Domain=github.io"], "http://a.github.io/", ""),
            ("http://web.intranet/", &["x=1; Domain=intranet"], "http://mail.intranet/", "x=1"),
            // Path.
            ("http://a.test/b/c", &["x=1"], "http://a.test/b/", "x=1"),
            ("http://a.test/b/c", &["x=1"], "http://a.test/bb", ""),
            ("http://a.test/", &["x=1; Path=/b"], "http://a.test/b", "x=1"),
            ("http://a.test/", &["x=1; Path=/b"], "http://a.test/b/c", "x=1"),
            ("http://a.test/", &["x=1; Path=/b"], "http://a.test/bc", ""),
            ("http://a.test/b", &["x=1; Path=/", "y=2; Path=/b"], "http://a.test/b", "y=2; x=1"),
            // Secure.
            ("https://a.test/", &["x=1; Secure"], "https://a.test/", "x=1"),
            ("https://a.test/", &["x=1; Secure"], "http://a.test/", ""),
            ("http://localhost/", &["x=1; Secure"], "http://localhost/", "x=1"),
            ("http://127.0.0.1/", &["x=1; Secure"], "http://127.0.0.1:81/", "x=1"),
            ("http://a.test/", &["x=1; Secure"], "https://a.test/", ""),
            ("https://a.test/", &["x=1"], "http://a.test/", "x=1"),
            // Life.
            ("http://a.test/", &["x=1; Max-Age=60"], "http://a.test/", "x=1"),
            ("http://a.test/", &["x=1; Max-Age=0"], "http://a.test/", ""),
            ("http://a.test/", &["x=1", "x=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "http://a.test/", ""),
            (
                "http://a.test/",
                &["x=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
                "http://a.test/",
                "x=1",
            ),
            ("http://a.test/", &["x=1", "x=2"], "http://a.test/", "x=2"),
            // Prefixes.
            ("https://a.test/", &["__Secure-x=1; Secure"], "https://a.test/", "__Secure-x=1"),
            ("https://a.test/", &["__Secure-x=1"], "https://a.test/", ""),
            ("http://a.test/", &["__secure-x=1; Secure"], "https://a.test/", ""),
            ("https://a.test/b", &["__Host-x=1; Secure; Path=/"], "https://a.test/", "__Host-x=1"),
            ("https://a.test/", &["__Host-x=1; Secure; Path=/; Domain=a.test"], "https://a.test/", ""),
            ("https://a.test/", &["__Host-x=1; Secure"], "https://a.test/", ""),
            // Nonsense.
            ("http://a.test/", &["=1", "", ";", "x"], "http://a.test/", ""),
            ("http://a.test/", &["x=\"q\"; HttpOnly; Whatever"], "http://a.test/", "x=\"q\""),
        ] {
            assert_eq!(cookies_sent_after(from, cookies, to), expected, "{from} {cookies:?} {to}");
        }
    }
}
