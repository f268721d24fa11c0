//! Which URLs can be requested.

use url::Url;

/// Longest URL that can be requested, in bytes.
pub const MAX_URL_BYTES: usize = 65_000;

/// Parses the URL of a request: one of HTTP with a host, of at most [`MAX_URL_BYTES`].
///
/// # Errors
/// Returns why it cannot be requested, to follow on "the URL cannot be used: ".
pub fn parse_request_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !is_http_url(&url) {
        return Err("it must begin with `http://` or `https://` and a host".to_owned());
    }
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(format!("it has more than {MAX_URL_BYTES} bytes"));
    }
    Ok(url)
}

/// Whether `url` is one of HTTP with a host.
#[must_use]
pub fn is_http_url(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| !host.is_empty())
}

/// Removes user name and password from `url`.
pub fn remove_login(url: &mut Url) {
    // Both fail only for a URL without a host, which has no login.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

/// Removes what is not part of the request line: user name, password and fragment.
pub fn remove_login_and_fragment(url: &mut Url) {
    remove_login(url);
    url.set_fragment(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_urls_of_bounded_length_can_be_requested() {
        for (text, reason) in [
            ("ftp://a.test/", "must begin"),
            ("a.test", "relative URL"),
            ("http://", "empty host"),
            (&format!("http://a.test/{}", "x".repeat(MAX_URL_BYTES)), "more than 65000 bytes"),
        ] {
            let error = parse_request_url(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        let mut url = parse_request_url("https://user:secret@a.test/x?y#z").unwrap();
        remove_login_and_fragment(&mut url);
        assert_eq!(url.as_str(), "https://a.test/x?y");
    }
}
