//! `fail_severity`: which findings are errors, and which warnings.

use serde_json::json;
use vigie::domain::{FailureKind, WarningKind};

use super::site::{Site, response};
use super::{facts, scan};

/// Lists a directory, which is a finding of severity medium, and lacks headers of severity low.
fn listing(_: &str, _: &str) -> String {
    response("200 OK", "Content-Type: text/html\r\n", "<title>Index of /</title>")
}

#[tokio::test]
async fn findings_fail_from_the_severity_on_and_warn_below() {
    let site = Site::start("127.0.77.1", None, listing).await;
    let at = |severity: &str| json!({"url": site.url("http"), "fail_severity": severity, "expected_ports": [site.at.port()]});
    let medium = scan(at("medium")).await;
    let failure = medium.failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.status().0), (FailureKind::SecurityFindings, 5));
    assert!(failure.detail.contains("directory-listing (/)"), "{failure}");
    assert!(medium.warnings.is_empty());
    let high = scan(json!({"url": site.url("http"), "expected_ports": [site.at.port()]})).await;
    assert_eq!(high.failure, None, "the default is high");
    let warnings: Vec<&str> = high.warnings.iter().map(|warning| warning.detail.as_str()).collect();
    assert!(high.warnings.iter().all(|warning| warning.kind == WarningKind::SecurityFinding));
    assert!(warnings.iter().any(|text| text.starts_with("medium directory-listing (/): ")), "{warnings:?}");
    assert!(warnings.iter().any(|text| text.starts_with("low csp-missing: ")), "{warnings:?}");
    assert!(!warnings.iter().any(|text| text.starts_with("info ")), "{warnings:?}");
    assert!(facts(&high).findings.iter().any(|finding| finding.id == "security-txt-missing"));
    assert!(scan(at("info")).await.failure.is_some());
    assert_eq!(scan(at("critical")).await.failure, None);
}
