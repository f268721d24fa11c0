//! Credentials in a URL (`https://user:password@host/`, tokens as the user, and parameters such as `token=`): a secret
//! like those with a field of their own (fields.md 2, `realm_userid` and `realm_password`).

use std::ops::Range;

use crate::redaction::named_values::is_sensitive_name;
use crate::syntax::MASK;

/// Returns `url` with its credentials masked; `None` when it has none.
pub(super) fn mask(url: &str) -> Option<String> {
    let secrets = UrlParts::parse(url)?.secrets();
    (!secrets.is_empty()).then(|| replace(url, secrets.into_iter().map(|secret| (secret.range, MASK))))
}

/// Returns `text`, which may be no URL, with everything masked that could be credentials: a slash in a password ends
/// the host of a URL, but people write it nonetheless.
pub(super) fn mask_invalid(text: &str) -> String {
    let masked = mask(text).unwrap_or_else(|| text.to_owned());
    let path_end = masked.find(['?', '#']).unwrap_or(masked.len());
    let start = masked[..path_end].find("://").map_or(0, |at| at + "://".len());
    match masked[start..path_end].rfind('@') {
        Some(at) => format!("{}{MASK}{}", &masked[..start], &masked[start + at..]),
        None => masked,
    }
}

/// Whether any of the credentials of `url` are masked.
#[must_use]
pub fn is_masked(url: &str) -> bool {
    UrlParts::parse(url)
        .is_some_and(|parsed| parsed.secrets().iter().any(|secret| &url[secret.range.clone()] == MASK))
}

/// Returns `new` with the credentials of `old` in place of their masks. Only for the same scheme, host and port, so
/// that a mask never sends credentials to another host.
pub(super) fn restore(new: &str, old: &str) -> Option<String> {
    let (new_url, old_url) = (UrlParts::parse(new)?, UrlParts::parse(old)?);
    if new_url.origin() != old_url.origin() {
        return None;
    }
    let old_secrets = old_url.secrets();
    let restored: Vec<_> = new_url
        .secrets()
        .into_iter()
        .filter(|secret| &new[secret.range.clone()] == MASK)
        .filter_map(|secret| {
            let counterpart = old_secrets
                .iter()
                .find(|old| (old.name, old.occurrence) == (secret.name, secret.occurrence))?;
            Some((secret.range, &old[counterpart.range.clone()]))
        })
        .collect();
    (!restored.is_empty()).then(|| replace(new, restored))
}

/// Returns the user and password of `url`, decoded; either may be empty.
pub(super) fn login(url: &str) -> Option<(String, String)> {
    let credentials = &url[UrlParts::parse(url)?.login()?];
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decode(user), decode(password)))
}

fn replace<'t>(text: &str, replacements: impl IntoIterator<Item = (Range<usize>, &'t str)>) -> String {
    let (mut out, mut copied_until) = (String::with_capacity(text.len()), 0);
    for (Range { start, end }, replacement) in replacements {
        out.push_str(&text[copied_until..start]);
        out.push_str(replacement);
        copied_until = end;
    }
    out + &text[copied_until..]
}

/// A secret in a URL.
struct UrlSecret<'u> {
    /// Name of the parameter; empty for the login.
    name: &'u str,
    /// How many parameters of this name are before it.
    occurrence: usize,
    /// Where the secret is in the URL, in bytes.
    range: Range<usize>,
}

/// Where the parts of a URL are.
struct UrlParts<'u> {
    text: &'u str,
    /// Login, host and port, in bytes of `text`.
    authority: Range<usize>,
}

impl<'u> UrlParts<'u> {
    fn parse(text: &'u str) -> Option<Self> {
        // As lenient as browsers: any number of slashes of either kind (WHATWG URL, "authority state").
        let scheme_end = text.find(':')? + 1;
        let start = scheme_end + text[scheme_end..].find(|c| !is_slash(c) && !c.is_ascii_control())?;
        let end = text[start..].find(is_authority_end).map_or(text.len(), |length| start + length);
        Some(Self { text, authority: start..end })
    }

    /// Returns where the user and password are.
    fn login(&self) -> Option<Range<usize>> {
        let Range { start, end } = self.authority;
        let at_sign = start + self.text[start..end].rfind('@')?;
        (at_sign > start).then_some(start..at_sign)
    }

    /// Returns the scheme, and the host with its port.
    fn origin(&self) -> (&str, &str) {
        let authority = &self.text[self.authority.clone()];
        (&self.text[..self.authority.start], authority.rsplit('@').next().unwrap_or_default())
    }

    /// Returns the login, and the values of the query whose names mark them as credentials. A variable of a step is
    /// none.
    fn secrets(&self) -> Vec<UrlSecret<'u>> {
        let mut secrets: Vec<UrlSecret<'u>> =
            self.login().map(|range| UrlSecret { name: "", occurrence: 0, range }).into_iter().collect();
        let query_end = self.text.find('#').unwrap_or(self.text.len());
        let Some(question_mark) = self.text[..query_end].find('?') else { return secrets };
        let mut start = question_mark + 1;
        while start < query_end {
            let end = self.text[start..query_end].find('&').map_or(query_end, |length| start + length);
            if let Some((name, value)) = self.text[start..end].split_once('=')
                && !value.is_empty()
                && !value.contains("{{")
                && is_sensitive_name(name)
            {
                let occurrence = secrets.iter().filter(|secret| secret.name == name).count();
                secrets.push(UrlSecret { name, occurrence, range: end - value.len()..end });
            }
            start = end + 1;
        }
        secrets
    }
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
            (
                "http://shop.test/?token=a&x=b&api_key=c#token=d",
                Some("http://shop.test/?token=********&x=b&api_key=********#token=d"),
            ),
            (
                "http://a:b@shop.test/?token={{token}}&pwd=",
                Some("http://********@shop.test/?token={{token}}&pwd="),
            ),
            ("http://shop.test/?token={{token}}&pwd=&token", None),
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
    fn credentials_of_an_invalid_url_are_masked() {
        for (text, masked) in [
            ("http://anna:hun/ter2@shop.test/", "http://********@shop.test/"),
            ("anna:hun/ter2@shop.test", "********@shop.test"),
            ("http://shop test/?token=a&x=b@c", "http://shop test/?token=********&x=b@c"),
            ("shop", "shop"),
        ] {
            assert_eq!(mask_invalid(text), masked);
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
        let old_query = "http://a/?token=1&token=2&x=3";
        let restored_query = |new: &str| restore(new, old_query);
        assert_eq!(
            restored_query("http://a/b?token=********&y=4&token=********").as_deref(),
            Some("http://a/b?token=1&y=4&token=2")
        );
        assert_eq!(restored_query("http://b/?token=********"), None);
        assert_eq!(restored_query("http://a/?api_key=********"), None);
        assert!(is_masked("http://a/?api_key=********&x=1") && !is_masked("http://a/?x=********"));
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
