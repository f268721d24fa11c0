//! Credentials in a URL (`https://user:password@host/`, and tokens as the user): a secret like those with a field of
//! their own (fields.md 2, `realm_userid` and `realm_password`).

use crate::syntax::MASK;

/// Returns `url` with its credentials masked; `None` when it has none.
pub(super) fn mask(url: &str) -> Option<String> {
    let (prefix, _, suffix) = split_credentials(url)?;
    Some([prefix, MASK, suffix].concat())
}

/// Whether the credentials of `url` are masked.
pub(super) fn is_masked(url: &str) -> bool {
    split_credentials(url).is_some_and(|(_, credentials, _)| credentials == MASK)
}

/// Returns `new` with the credentials of `old` in place of the mask. Only for the same scheme, host and port, so that a
/// mask never sends credentials to another host.
pub(super) fn restore(new: &str, old: &str) -> Option<String> {
    let (prefix, credentials, suffix) = split_credentials(new)?;
    let (old_prefix, old_credentials, old_suffix) = split_credentials(old)?;
    let is_same_host = prefix == old_prefix && host_and_port(suffix) == host_and_port(old_suffix);
    (credentials == MASK && is_same_host).then(|| [prefix, old_credentials, suffix].concat())
}

/// Returns the user and password of `url`, decoded; either may be empty.
pub(super) fn login(url: &str) -> Option<(String, String)> {
    let (_, credentials, _) = split_credentials(url)?;
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decode(user), decode(password)))
}

/// Splits a URL into the part before the credentials, the credentials, and the part from the `@` on.
fn split_credentials(url: &str) -> Option<(&str, &str, &str)> {
    // As lenient as browsers: any number of slashes of either kind (WHATWG URL, "authority state").
    let scheme_end = url.find(':')? + 1;
    let authority_start = scheme_end + url[scheme_end..].find(|c| !is_slash(c) && !c.is_ascii_control())?;
    let authority_end =
        url[authority_start..].find(is_authority_end).map_or(url.len(), |length| authority_start + length);
    let at_sign = authority_start + url[authority_start..authority_end].rfind('@')?;
    (at_sign > authority_start)
        .then(|| (&url[..authority_start], &url[authority_start..at_sign], &url[at_sign..]))
}

fn host_and_port(suffix: &str) -> &str {
    suffix.split(is_authority_end).next().unwrap_or_default()
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\')
}

fn is_authority_end(c: char) -> bool {
    is_slash(c) || matches!(c, '?' | '#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_in_every_form_of_url() {
        for (url, masked) in [
            ("https://anna:hunter2@shop.test/a?b@c", Some("https://********@shop.test/a?b@c")),
            ("http://t0ken@shop.test", Some("http://********@shop.test")),
            ("http://a:b@c:d@[::1]:8080/", Some("http://********@[::1]:8080/")),
            ("http:\\\\a:b@shop.test\\x", Some("http:\\\\********@shop.test\\x")),
            ("http:a:b@shop.test/", Some("http:********@shop.test/")),
            ("ht\ntp:/\t/a:b@shop.test/", Some("ht\ntp:/\t/********@shop.test/")),
            ("http://{{user}}:x@{{host}}/{{id}}", Some("http://********@{{host}}/{{id}}")),
            ("http://shop.test/a@b", None),
            ("http://shop.test?a@b", None),
            ("http://@shop.test/", None),
            ("{{base}}/a@b", None),
            ("", None),
        ] {
            assert_eq!(mask(url).as_deref(), masked, "{url}");
            // What the HTTP client of a check takes for credentials must be masked.
            let has_credentials = url::Url::parse(url).is_ok_and(|url| !url.username().is_empty());
            assert!(!has_credentials || masked.is_some(), "{url}");
        }
    }

    #[test]
    fn a_mask_is_restored_for_the_same_host_only() {
        let old = "https://anna:hunter2@shop.test:444/a";
        let restored = |new: &str| restore(new, old);
        assert_eq!(
            restored("https://********@shop.test:444/b").as_deref(),
            Some("https://anna:hunter2@shop.test:444/b")
        );
        for other in [
            "https://********@evil.test:444/a",
            "https://********@shop.test/a",
            "http://********@shop.test:444/a",
            "https://bert@shop.test:444/a",
            "https://shop.test:444/a",
        ] {
            assert_eq!(restored(other), None, "{other}");
        }
        assert!(
            is_masked("http://********@a/") && !is_masked("http://********:x@a/") && !is_masked("http://a/")
        );
        assert_eq!(restore("http://********@a/", "http://a/"), None);
    }
}
