//! Judges the header fields of a site: HSTS, CSP and its kin, CORS, versions.

use super::finding_collector::FindingCollector;
use super::finding_table::{
    CORS_ANY, CORS_REFLECTED, CSP_MISSING, CSP_WEAK, FRAMING, HSTS_MISSING, HSTS_WEAK, NOSNIFF,
    PERMISSIONS_POLICY, REFERRER_POLICY, VERSION_BANNER,
};
use super::scanned_response::ScannedResponse;
use crate::domain::Severity;

/// Shortest `max-age` that is not weak: half a year, in seconds.
const MIN_HSTS_SECONDS: u64 = 15_768_000;

/// Header fields that tell software with its version.
const VERSION_HEADERS: [&str; 6] =
    ["server", "x-powered-by", "x-aspnet-version", "x-aspnetmvc-version", "x-generator", "via"];

/// Judges the header fields of the page of a site.
pub fn judge_headers(page: &ScannedResponse, findings: &mut FindingCollector) {
    if page.is_https() {
        judge_hsts(page, findings);
    }
    judge_versions(page, findings);
    // What follows protects documents; a redirect or an image needs none of it.
    if page.is_html() {
        judge_policy(page, findings);
        judge_document_headers(page, findings);
    }
}

fn judge_hsts(page: &ScannedResponse, findings: &mut FindingCollector) {
    let Some(value) = page.header("strict-transport-security") else {
        return findings.add(&HSTS_MISSING, format!("`{}` sent none", page.url));
    };
    let max_age = value.split(';').find_map(|directive| {
        let (name, seconds) = directive.split_once('=')?;
        name.trim().eq_ignore_ascii_case("max-age").then(|| seconds.trim().trim_matches('"').parse::<u64>())
    });
    let severity = match max_age {
        Some(Ok(MIN_HSTS_SECONDS..)) => return,
        Some(Ok(1..)) => Severity::Low,
        // 0 turns it off, and without a valid `max-age` it is ignored.
        _ => Severity::Medium,
    };
    findings.add_with_severity(&HSTS_WEAK, severity, None, format!("`Strict-Transport-Security: {value}`"));
}

fn judge_policy(page: &ScannedResponse, findings: &mut FindingCollector) {
    let policies: Vec<&str> = page.headers_named("content-security-policy").collect();
    if policies.is_empty() {
        let evidence = match page.header("content-security-policy-report-only") {
            Some(_) => "only `Content-Security-Policy-Report-Only`, which prevents nothing",
            None => "the page has none",
        };
        return findings.add(&CSP_MISSING, evidence);
    }
    // With several, all must allow a source: one strict policy is enough.
    let weaknesses: Vec<String> = policies.iter().filter_map(|policy| script_weakness(policy)).collect();
    if weaknesses.len() == policies.len()
        && let Some(weakness) = weaknesses.first()
    {
        findings.add(&CSP_WEAK, weakness.as_str());
    }
}

/// Returns why a policy does not restrict scripts.
fn script_weakness(policy: &str) -> Option<String> {
    let directive = directive(policy, "script-src").or_else(|| directive(policy, "default-src"));
    let Some(sources) = directive else { return Some("neither `script-src` nor `default-src`".to_owned()) };
    let has_nonce_or_hash = sources.iter().any(|source| {
        ["'nonce-", "'sha256-", "'sha384-", "'sha512-"].iter().any(|prefix| source.starts_with(prefix))
    });
    let is_weak = |source: &&&str| match **source {
        // Browsers ignore it beside a nonce or hash (CSP 3, 6.7.3.2).
        "'unsafe-inline'" => !has_nonce_or_hash,
        // With 'strict-dynamic' hosts and schemes are ignored.
        "*" | "http:" | "https:" | "data:" => !sources.contains(&"'strict-dynamic'"),
        "'unsafe-eval'" => true,
        _ => false,
    };
    sources.iter().find(is_weak).map(|source| format!("scripts may come from {source}"))
}

/// Returns the values of a directive, in lower case.
fn directive<'a>(policy: &'a str, name: &str) -> Option<Vec<&'a str>> {
    policy.split(';').find_map(|directive| {
        let mut words = directive.split_ascii_whitespace();
        words.next().filter(|word| word.eq_ignore_ascii_case(name)).map(|_| words.collect())
    })
}

fn judge_document_headers(page: &ScannedResponse, findings: &mut FindingCollector) {
    let has_frame_ancestors = page
        .headers_named("content-security-policy")
        .filter_map(|policy| directive(policy, "frame-ancestors"))
        .any(|sources| !sources.contains(&"*"));
    let frame_options = page.header("x-frame-options");
    let is_framing_denied = frame_options
        .is_some_and(|value| ["deny", "sameorigin"].contains(&value.to_ascii_lowercase().as_str()));
    if !has_frame_ancestors && !is_framing_denied {
        let evidence = frame_options.map_or_else(
            || "neither `frame-ancestors` nor `X-Frame-Options`".to_owned(),
            |value| format!("`X-Frame-Options: {value}`"),
        );
        findings.add(&FRAMING, evidence);
    }
    let nosniff = page.header("x-content-type-options");
    if !nosniff.is_some_and(|value| value.eq_ignore_ascii_case("nosniff")) {
        findings.add(&NOSNIFF, nosniff.map_or("the page has none".to_owned(), |value| format!("`{value}`")));
    }
    match page.header("referrer-policy") {
        None => {
            findings.add(&REFERRER_POLICY, "the page has none; browsers then tell other sites the origin");
        }
        // The last value that a browser knows counts; `unsafe-url` is known to all.
        Some(value) if value.rsplit(',').next().is_some_and(|last| last.trim() == "unsafe-url") => {
            let evidence = format!("`Referrer-Policy: {value}`");
            findings.add_with_severity(&REFERRER_POLICY, Severity::Low, None, evidence);
        }
        Some(_) => {}
    }
    if page.header("permissions-policy").is_none() {
        findings.add(&PERMISSIONS_POLICY, "the page has none");
    }
}

fn judge_versions(page: &ScannedResponse, findings: &mut FindingCollector) {
    for name in VERSION_HEADERS {
        for value in page.headers_named(name).filter(|value| has_version(value)) {
            findings.add_about(&VERSION_BANNER, name, format!("`{name}: {value}`"));
        }
    }
}

/// Whether a text names software with its version: a number with a dot, as in `nginx/1.22.1`.
pub(super) fn has_version(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .windows(3)
        .any(|window| window[0].is_ascii_digit() && window[1] == b'.' && window[2].is_ascii_digit())
}

/// Judges the response to a request with the header field `Origin: origin`, of a site that nobody knows.
pub fn judge_cors(response: &ScannedResponse, origin: &str, findings: &mut FindingCollector) {
    let Some(allowed) = response.header("access-control-allow-origin") else { return };
    let allows_credentials = response.header("access-control-allow-credentials") == Some("true");
    let evidence = format!(
        "`Access-Control-Allow-Origin: {allowed}` for `Origin: {origin}`{}",
        if allows_credentials { ", with credentials" } else { "" }
    );
    if allowed == origin {
        let severity = if allows_credentials { Severity::High } else { Severity::Medium };
        findings.add_with_severity(&CORS_REFLECTED, severity, None, evidence);
    } else if allowed == "*" {
        // Browsers refuse `*` with credentials.
        findings.add(&CORS_ANY, evidence);
    }
}

#[cfg(test)]
mod tests {
    use super::super::scanned_response::test_response::response;
    use super::*;

    fn found(url: &str, headers: &[(&str, &str)]) -> Vec<(String, Severity)> {
        let mut findings = FindingCollector::default();
        judge_headers(&response(url, headers), &mut findings);
        let (findings, _) = findings.into_findings();
        findings.into_iter().map(|finding| (finding.label(), finding.severity)).collect()
    }

    fn severity_of(url: &str, headers: &[(&str, &str)], label: &str) -> Option<Severity> {
        found(url, headers).into_iter().find(|(id, _)| id == label).map(|(_, severity)| severity)
    }

    const HTTPS: &str = "https://a.test/";
    const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");

    #[test]
    fn hsts_is_required_over_https_alone_and_for_half_a_year() {
        let hsts = |value| severity_of(HTTPS, &[("strict-transport-security", value)], "hsts-weak");
        assert_eq!(severity_of(HTTPS, &[], "hsts-missing"), Some(Severity::Medium));
        assert_eq!(severity_of("http://a.test/", &[], "hsts-missing"), None);
        assert_eq!(hsts("max-age=31536000; includeSubDomains"), None);
        assert_eq!(hsts("includeSubDomains; Max-Age=\"15768000\""), None);
        assert_eq!(hsts("max-age=86400"), Some(Severity::Low));
        assert_eq!(hsts("max-age=0"), Some(Severity::Medium));
        assert_eq!(hsts("max-age=soon"), Some(Severity::Medium));
    }

    #[test]
    fn a_policy_must_restrict_scripts() {
        let weak =
            |value| severity_of(HTTPS, &[HTML, ("content-security-policy", value)], "csp-weak").is_some();
        assert!(severity_of(HTTPS, &[HTML], "csp-missing").is_some());
        assert!(severity_of(HTTPS, &[("content-type", "image/png")], "csp-missing").is_none());
        assert!(
            severity_of(
                HTTPS,
                &[HTML, ("content-security-policy-report-only", "default-src 'self'")],
                "csp-missing"
            )
            .is_some()
        );
        assert!(!weak("default-src 'self'"));
        assert!(!weak("script-src 'nonce-a' 'unsafe-inline'"));
        assert!(!weak("script-src 'nonce-a' 'strict-dynamic' https:"));
        assert!(!weak("default-src *; script-src 'self'"));
        for value in [
            "default-src *",
            "script-src 'unsafe-inline'",
            "script-src 'self' 'unsafe-eval'",
            "img-src 'self'",
            "script-src https:",
        ] {
            assert!(weak(value), "{value}");
        }
        let two = [
            HTML,
            ("content-security-policy", "default-src *"),
            ("content-security-policy", "script-src 'self'"),
        ];
        assert!(severity_of(HTTPS, &two, "csp-weak").is_none(), "one strict policy is enough");
    }

    #[test]
    fn documents_need_their_headers() {
        let all = [
            HTML,
            ("content-security-policy", "default-src 'self'; frame-ancestors 'none'"),
            ("x-content-type-options", "NoSniff"),
            ("referrer-policy", "no-referrer"),
            ("permissions-policy", "camera=()"),
        ];
        assert_eq!(found("http://a.test/", &all), []);
        for (without, id) in
            [(2, "content-type-sniffed"), (3, "referrer-policy-weak"), (4, "permissions-policy-missing")]
        {
            let some: Vec<_> = all
                .iter()
                .enumerate()
                .filter(|(index, _)| *index != without)
                .map(|(_, header)| *header)
                .collect();
            let ids: Vec<String> = found("http://a.test/", &some).into_iter().map(|(id, _)| id).collect();
            assert_eq!(ids, [id]);
        }
        let framing = |value| severity_of(HTTPS, &[HTML, ("x-frame-options", value)], "framing-allowed");
        assert_eq!((framing("DENY"), framing("sameorigin")), (None, None));
        assert!(framing("ALLOW-FROM https://b.test").is_some());
        assert_eq!(
            severity_of(
                HTTPS,
                &[HTML, ("referrer-policy", "no-referrer, unsafe-url")],
                "referrer-policy-weak"
            ),
            Some(Severity::Low)
        );
    }

    #[test]
    fn versions_are_told_only_with_a_number() {
        let is_disclosed =
            |value| severity_of(HTTPS, &[("server", value)], "version-banner (server)").is_some();
        assert!(is_disclosed("nginx/1.22.1") && is_disclosed("Apache/2.4.57 (Debian)"));
        assert!(!is_disclosed("nginx") && !is_disclosed("Apache") && !is_disclosed("ECS (x/1234)"));
        assert!(
            severity_of(HTTPS, &[("x-powered-by", "PHP/8.2.7")], "version-banner (x-powered-by)").is_some()
        );
    }

    #[test]
    fn a_repeated_origin_is_worse_with_credentials() {
        let cors = |headers: &[(&str, &str)]| {
            let mut findings = FindingCollector::default();
            judge_cors(&response(HTTPS, headers), "https://x.invalid", &mut findings);
            findings.into_findings().0.into_iter().next().map(|finding| (finding.id, finding.severity))
        };
        let credentials = ("access-control-allow-credentials", "true");
        let origin = |value| ("access-control-allow-origin", value);
        assert_eq!(cors(&[]), None);
        assert_eq!(cors(&[origin("https://friend.test")]), None);
        assert_eq!(cors(&[origin("*"), credentials]), Some(("cors-any-origin".into(), Severity::Info)));
        assert_eq!(
            cors(&[origin("https://x.invalid")]),
            Some(("cors-origin-reflected".into(), Severity::Medium))
        );
        assert_eq!(
            cors(&[origin("https://x.invalid"), credentials]),
            Some(("cors-origin-reflected".into(), Severity::High))
        );
    }
}
