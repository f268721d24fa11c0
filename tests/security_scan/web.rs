//! What sites serve: one with every weakness, one without, one that answers everything.

use rustls::version::{TLS12, TLS13};
use serde_json::json;
use vigie::domain::Severity;

use super::site::{Site, response};
use super::{facts, find, labels, scan, severity};
use crate::support::tls_server::{Authority, config, self_signed};

fn weak(path: &str, head: &str) -> String {
    let headers = "Content-Type: text/html\r\nServer: nginx/1.22.1\r\nX-Powered-By: PHP/8.2.7\r\n\
        Strict-Transport-Security: max-age=60\r\nContent-Security-Policy: script-src 'unsafe-inline'\r\n\
        Referrer-Policy: unsafe-url\r\nX-Frame-Options: ALLOWALL\r\n\
        Set-Cookie: SESSIONID=s3cret\r\nSet-Cookie: __Host-a=s3cret; HttpOnly; SameSite=Lax\r\n";
    let origin =
        head.lines().find_map(|line| line.strip_prefix("origin: ").or_else(|| line.strip_prefix("Origin: ")));
    let cors = origin.map_or(String::new(), |origin| {
        format!("Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Credentials: true\r\n")
    });
    match path {
        "/" => response(
            "200 OK",
            &format!("{headers}{cors}"),
            "<script src=http://cdn.test/a.js></script><p>Shop",
        ),
        "/.git/HEAD" => response("200 OK", "", "ref: refs/heads/main\n"),
        "/.env" => response("200 OK", "", "DB_PASSWORD=s3cret\n"),
        "/uploads/" => response("200 OK", "Content-Type: text/html\r\n", "<title>Index of /uploads/</title>"),
        _ => response("404 Not Found", "", "gone"),
    }
}

fn sound(path: &str, _: &str) -> String {
    let headers = "Content-Type: text/html\r\nStrict-Transport-Security: max-age=31536000\r\n\
        Content-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\n\
        X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nPermissions-Policy: camera=()\r\n\
        Set-Cookie: __Host-sid=s3cret; Secure; HttpOnly; SameSite=Lax; Path=/\r\nServer: nginx\r\n";
    match path {
        "/" => response("302 Found", &format!("{headers}Location: /shop\r\n"), ""),
        "/shop" => response("200 OK", headers, "<img src=/a.png>"),
        "/.well-known/security.txt" => response("200 OK", "", "Contact: mailto:security@shop.test\n"),
        _ => response("404 Not Found", headers, "gone"),
    }
}

fn answers_everything(_: &str, _: &str) -> String {
    response(
        "200 OK",
        "Content-Type: text/html\r\n",
        "<!doctype html><title>Shop</title><p>Welcome = hello: 1",
    )
}

#[tokio::test]
async fn every_weakness_of_a_site_is_found() {
    let identity = self_signed(&["shop.test"], false);
    let site = Site::start("127.0.71.1", Some(config(&identity, &[&TLS12, &TLS13], None)), weak).await;
    let observation = scan(json!({"url": site.url("https"), "expected_ports": [site.at.port()]})).await;
    let found = labels(&observation);
    for label in [
        "certificate-lifetime-long",
        "certificate-name-mismatch",
        "certificate-untrusted",
        "content-type-sniffed",
        "cookie-not-httponly (SESSIONID)",
        "cookie-not-secure (SESSIONID)",
        "cookie-not-secure (__Host-a)",
        "cookie-prefix-broken (__Host-a)",
        "cookie-samesite-weak (SESSIONID)",
        "cors-origin-reflected",
        "csp-weak",
        "directory-listing (/uploads/)",
        "exposed-file (/.env)",
        "exposed-file (/.git/HEAD)",
        "framing-allowed",
        "hsts-weak",
        "mixed-content",
        "permissions-policy-missing",
        "referrer-policy-weak",
        "security-txt-missing",
        "version-banner (server)",
        "version-banner (x-powered-by)",
    ] {
        assert!(found.contains(label), "{label} is not among {found:#?}");
    }
    assert_eq!(severity(&observation, "exposed-file (/.env)"), Some(Severity::Critical));
    assert_eq!(severity(&observation, "cors-origin-reflected"), Some(Severity::High));
    assert_eq!(facts(&observation).grade, "F");
    assert!(!format!("{observation:?}").contains("s3cret"), "values are never evidence");
    let failure = observation.failure.as_ref().unwrap();
    assert_eq!((failure.kind.label(), failure.status().0), ("security_findings", 5));
    assert!(
        failure.detail.starts_with("grade F, ") && failure.detail.contains("exposed-file (/.env)"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_sound_site_has_no_findings() {
    let authority = Authority::new("scan");
    let identity = authority.issue(&["127.0.71.2"], (2026, 2027));
    let tls = config(&identity, &[&TLS12, &TLS13], None);
    let site = Site::start("127.0.71.2", Some(tls), sound).await;
    let observation = scan(json!({"url": site.url("https"), "expected_ports": [site.at.port()]})).await;
    let mut found = labels(&observation);
    // The authority of the test is unknown to the location, and its clock is that of the host.
    for label in
        ["certificate-untrusted", "certificate-expired", "certificate-expiring", "certificate-not-yet-valid"]
    {
        found.remove(label);
    }
    assert!(found.is_empty(), "{:#?}", facts(&observation));
    assert_eq!(facts(&observation).open_questions, Vec::<String>::new());
    assert_eq!(facts(&observation).offered_tls_versions, ["TLS 1.2", "TLS 1.3"]);
    assert!(facts(&observation).offered_tls_groups.iter().any(|group| group == "X25519MLKEM768"));
    assert!(find(&observation, "certificate-untrusted").is_some());
}

#[tokio::test]
async fn a_server_that_answers_everything_exposes_nothing() {
    let site = Site::start("127.0.71.3", None, answers_everything).await;
    let observation = scan(json!({"url": site.url("http"), "expected_ports": [site.at.port()]})).await;
    let found = labels(&observation);
    assert!(!found.iter().any(|label| label.starts_with("exposed-file")), "{found:#?}");
    assert!(!found.iter().any(|label| label.starts_with("directory-listing")), "{found:#?}");
    assert!(found.contains("https-missing") && !found.contains("hsts-missing"), "{found:#?}");
    // All of it was asked for.
    assert!(site.connections() > 30, "{}", site.connections());
}

#[tokio::test]
async fn a_redirect_to_another_site_is_not_followed() {
    static OTHER: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let other = Site::start("127.0.71.5", None, answers_everything).await;
    OTHER.set(other.url("http")).unwrap();
    let leads_away =
        |_: &str, _: &str| response("302 Found", &format!("Location: {}\r\n", OTHER.get().unwrap()), "");
    let site = Site::start("127.0.71.4", None, leads_away).await;
    let observation = scan(json!({"url": site.url("http")})).await;
    assert!(observation.facts.security.is_some());
    assert_eq!(other.connections(), 0);
}
