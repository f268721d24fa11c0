//! Scans the site of a set-up and reduces what our scan finds in its header fields to a record.

use serde_json::json;
use vigie::domain::{Observation, Severity};

use super::record::{CookieRecord, HeaderRecord, Hsts};
use crate::security_scan::{facts, find, scan, severity};

/// Scans the site at `port` of loopback. `None` when its first page could not be read.
pub async fn scan_site(port: u16) -> Option<(HeaderRecord, CookieRecord)> {
    let url = format!("https://127.0.0.1:{port}/");
    let observation = scan(json!({"url": url, "timeout": 10})).await;
    let page_question = format!("`{url}`: ");
    let is_unread =
        facts(&observation).open_questions.iter().any(|question| question.contains(&page_question));
    (!is_unread).then(|| (headers(&observation), cookies(&observation)))
}

fn headers(observation: &Observation) -> HeaderRecord {
    let lacks = |label: &str| find(observation, label).is_some();
    HeaderRecord {
        hsts: match (lacks("hsts-missing"), severity(observation, "hsts-weak")) {
            (true, _) => Hsts::Missing,
            (_, Some(_)) => Hsts::Short,
            (_, None) => Hsts::Long,
        },
        has_content_security_policy: !lacks("csp-missing"),
        denies_framing: !lacks("framing-allowed"),
        denies_sniffing: !lacks("content-type-sniffed"),
        // A policy that is missing is worth knowing, a weak one a weakness.
        has_referrer_policy: severity(observation, "referrer-policy-weak") != Some(Severity::Info),
        tells_server_version: lacks("version-banner (server)"),
    }
}

fn cookies(observation: &Observation) -> CookieRecord {
    let count = |id: &str| facts(observation).findings.iter().filter(|finding| finding.id == id).count();
    CookieRecord { not_secure: count("cookie-not-secure"), readable_by_scripts: count("cookie-not-httponly") }
}
