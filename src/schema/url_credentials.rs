//! The login that may stand in a URL (`https://user:password@host/`, and tokens as the user): a secret like
//! those that have a field of their own (fields.md 2, `realm_userid` and `realm_password`).

use crate::syntax::MASK;

/// `url` with a mask in the place of its login; `None` when it has none.
pub(super) fn mask(url: &str) -> Option<String> {
    let (before, _, behind) = split_credentials(url)?;
    Some([before, MASK, behind].concat())
}

/// Whether a mask stands in the place of its login.
pub(super) fn is_masked(url: &str) -> bool {
    split_credentials(url).is_some_and(|(_, login, _)| login == MASK)
}

/// `new` with the login of `old` where a mask stands for it. Only for the same scheme, host and port: a login
/// goes to nobody else by a mask.
pub(super) fn restore(new: &str, old: &str) -> Option<String> {
    let (before, login, behind) = split_credentials(new)?;
    let (old_before, old_login, old_behind) = split_credentials(old)?;
    let same = before == old_before && host(behind) == host(old_behind);
    (login == MASK && same).then(|| [before, old_login, behind].concat())
}

/// What stands before the login, the login, and what follows from the `@` on.
fn split_credentials(url: &str) -> Option<(&str, &str, &str)> {
    // As lenient as browsers: any number of slashes, either way round (WHATWG URL, "authority state").
    let scheme = url.find(':')? + 1;
    let start = scheme + url[scheme..].find(|c| !is_slash(c) && !c.is_ascii_control())?;
    let end = url[start..].find(is_authority_end).map_or(url.len(), |length| start + length);
    let at = start + url[start..end].rfind('@')?;
    (at > start).then(|| (&url[..start], &url[start..at], &url[at..]))
}

fn host(behind: &str) -> &str {
    behind.split(is_authority_end).next().unwrap_or_default()
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
    fn a_login_is_found_wherever_a_url_may_have_one() {
        for (url, shown) in [
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
            assert_eq!(mask(url).as_deref(), shown, "{url}");
            // What the client of a check takes for a login is one here too.
            let has = url::Url::parse(url).is_ok_and(|url| !url.username().is_empty());
            assert!(!has || shown.is_some(), "{url}");
        }
    }

    #[test]
    fn a_mask_stands_for_the_login_of_the_same_host_alone() {
        let old = "https://anna:hunter2@shop.test:444/a";
        let now = |new: &str| restore(new, old);
        assert_eq!(
            now("https://********@shop.test:444/b").as_deref(),
            Some("https://anna:hunter2@shop.test:444/b")
        );
        for other in [
            "https://********@evil.test:444/a",
            "https://********@shop.test/a",
            "http://********@shop.test:444/a",
            "https://bert@shop.test:444/a",
            "https://shop.test:444/a",
        ] {
            assert_eq!(now(other), None, "{other}");
        }
        assert!(
            is_masked("http://********@a/") && !is_masked("http://********:x@a/") && !is_masked("http://a/")
        );
        assert_eq!(restore("http://********@a/", "http://a/"), None);
    }
}
