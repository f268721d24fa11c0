//! Judges the cookies that a site sets (RFC 6265, and its successor for `SameSite` and prefixes).

use super::finding_collector::FindingCollector;
use super::finding_table::{COOKIE_HTTP_ONLY, COOKIE_PREFIX, COOKIE_SAME_SITE, COOKIE_SECURE};
use super::scanned_response::ScannedResponse;
use crate::domain::Severity;

/// Maximum number of cookies that are judged.
const MAX_COOKIES: usize = 50;

/// Judges the cookies of `response`. Evidence has names and flags, never values.
pub fn judge_cookies(response: &ScannedResponse, findings: &mut FindingCollector) {
    for header in response.headers_named("set-cookie").take(MAX_COOKIES) {
        if let Some(cookie) = Cookie::parse(header) {
            judge_cookie(&cookie, response.is_https(), findings);
        }
    }
}

fn judge_cookie(cookie: &Cookie<'_>, is_https: bool, findings: &mut FindingCollector) {
    let name = cookie.name;
    let evidence = cookie.describe();
    if is_https && !cookie.secure {
        findings.add_about(&COOKIE_SECURE, name, &evidence);
    }
    if !cookie.http_only {
        let severity = if is_session_name(name) { Severity::Medium } else { Severity::Low };
        findings.add_with_severity(&COOKIE_HTTP_ONLY, severity, Some(name), &evidence);
    }
    let same_site_severity = match cookie.same_site {
        Some(value) if value.eq_ignore_ascii_case("none") => (!cookie.secure).then_some(Severity::Medium),
        Some(_) => None,
        None => Some(Severity::Info),
    };
    if let Some(severity) = same_site_severity {
        findings.add_with_severity(&COOKIE_SAME_SITE, severity, Some(name), &evidence);
    }
    let breaks_host_prefix = starts_with(name, "__Host-")
        && (!cookie.secure || cookie.domain.is_some() || cookie.path != Some("/"));
    if breaks_host_prefix || starts_with(name, "__Secure-") && !cookie.secure {
        findings.add_about(&COOKIE_PREFIX, name, &evidence);
    }
}

fn starts_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Whether the name is that of a login, which no script needs to read. Tokens against forged requests are read by
/// scripts on purpose.
fn is_session_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_token = ["csrf", "xsrf"].iter().any(|part| name.contains(part));
    !is_token
        && ["sess", "sid", "auth", "token", "jwt", "login", "remember"].iter().any(|part| name.contains(part))
}

/// The parts of a `Set-Cookie` that are judged.
struct Cookie<'a> {
    name: &'a str,
    secure: bool,
    http_only: bool,
    same_site: Option<&'a str>,
    domain: Option<&'a str>,
    path: Option<&'a str>,
}

impl<'a> Cookie<'a> {
    fn parse(header: &'a str) -> Option<Self> {
        let mut parts = header.split(';');
        let (name, _) = parts.next()?.split_once('=')?;
        let mut cookie = Self {
            name: name.trim(),
            secure: false,
            http_only: false,
            same_site: None,
            domain: None,
            path: None,
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "secure" => cookie.secure = true,
                "httponly" => cookie.http_only = true,
                "samesite" => cookie.same_site = Some(value),
                "domain" if !value.is_empty() => cookie.domain = Some(value),
                "path" => cookie.path = Some(value),
                _ => {}
            }
        }
        (!cookie.name.is_empty()).then_some(cookie)
    }

    /// Returns the flags as text, without the value.
    fn describe(&self) -> String {
        let flags: Vec<String> = [
            self.secure.then(|| "Secure".to_owned()),
            self.http_only.then(|| "HttpOnly".to_owned()),
            self.same_site.map(|value| format!("SameSite={value}")),
            self.domain.map(|value| format!("Domain={value}")),
            self.path.map(|value| format!("Path={value}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        match flags.as_slice() {
            [] => "set without flags".to_owned(),
            flags => format!("set with {}", flags.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scanned_response::test_response::response;
    use super::*;

    fn found(url: &str, cookie: &str) -> Vec<(String, Severity)> {
        let mut findings = FindingCollector::default();
        judge_cookies(&response(url, &[("set-cookie", cookie)]), &mut findings);
        let (findings, _) = findings.into_findings();
        for finding in &findings {
            assert!(!finding.evidence.contains("s3cret"), "{}", finding.evidence);
        }
        findings.into_iter().map(|finding| (finding.label(), finding.severity)).collect()
    }

    #[test]
    fn each_flag_of_a_cookie_flips_its_finding() {
        let https = "https://a.test/";
        assert_eq!(found(https, "id=s3cret; Secure; HttpOnly; SameSite=Lax"), []);
        assert_eq!(
            found(https, "id=s3cret; HttpOnly; SameSite=Lax"),
            [("cookie-not-secure (id)".into(), Severity::Medium)]
        );
        assert_eq!(found("http://a.test/", "id=s3cret; httponly; samesite=strict"), []);
        assert_eq!(
            found(https, "id=s3cret; Secure; SameSite=Lax"),
            [("cookie-not-httponly (id)".into(), Severity::Low)]
        );
        assert_eq!(
            found(https, "PHPSESSID=s3cret; Secure; SameSite=Lax"),
            [("cookie-not-httponly (PHPSESSID)".into(), Severity::Medium)]
        );
        assert_eq!(
            found(https, "csrftoken=s3cret; Secure; SameSite=Lax"),
            [("cookie-not-httponly (csrftoken)".into(), Severity::Low)]
        );
        assert_eq!(
            found(https, "id=s3cret; Secure; HttpOnly"),
            [("cookie-samesite-weak (id)".into(), Severity::Info)]
        );
        assert_eq!(
            found("http://a.test/", "id=s3cret; HttpOnly; SameSite=None"),
            [("cookie-samesite-weak (id)".into(), Severity::Medium)]
        );
        assert_eq!(found(https, "id=s3cret; Secure; HttpOnly; SameSite=None"), []);
    }

    #[test]
    fn prefixes_bind() {
        let flags = "=s3cret; HttpOnly; SameSite=Lax";
        let broken = |cookie: String| {
            found("http://a.test/", &cookie).iter().any(|(id, _)| id.starts_with("cookie-prefix"))
        };
        assert!(broken(format!("__Secure-a{flags}")) && !broken(format!("__Secure-a{flags}; Secure")));
        assert!(!broken(format!("__Host-a{flags}; Secure; Path=/")));
        assert!(broken(format!("__Host-a{flags}; Secure")));
        assert!(broken(format!("__host-a{flags}; Secure; Path=/; Domain=a.test")));
        assert_eq!(found("https://a.test/", "nonsense"), []);
    }
}
