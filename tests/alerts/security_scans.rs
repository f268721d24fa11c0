//! Web Change of security scans: findings that are new, gone or worse.

use serde_json::json;
use vigie::domain::{
    CheckResult, MonitorId, MonitorType, Outcome, SecurityFinding, SecurityScanFacts, Severity, Status,
};

use crate::alerts::harness::{Harness, result, run};

fn finding((id, subject, severity): (&str, Option<&str>, Severity)) -> SecurityFinding {
    SecurityFinding {
        id: id.to_owned(),
        severity,
        title: "a title".to_owned(),
        subject: subject.map(str::to_owned),
        evidence: "what was seen".to_owned(),
        remedy: "Do it.".to_owned(),
        reference: "https://a.test/".to_owned(),
    }
}

/// Returns the result of a scan with these findings; from severity high on it failed.
fn scan(monitor: MonitorId, number: i64, findings: &[(&str, Option<&str>, Severity)]) -> CheckResult {
    let failed = findings.iter().any(|(.., severity)| *severity >= Severity::High);
    let mut result = result(monitor, 1, run(number), if failed { Outcome::Error } else { Outcome::Warning });
    result.monitor_type = MonitorType::SecurityScan;
    if failed {
        result.status = Status::VALIDATION_FAILED;
    }
    result.facts.security = Some(Box::new(SecurityScanFacts {
        grade: "B".to_owned(),
        findings: findings.iter().copied().map(finding).collect(),
        ..SecurityScanFacts::default()
    }));
    result
}

async fn scanned(harness: &mut Harness) -> MonitorId {
    harness.recipient(json!({})).await;
    harness.monitor(&[1], json!({"mode": "Global Notify"})).await
}

const BEFORE: &[(&str, Option<&str>, Severity)] =
    &[("hsts-missing", None, Severity::Medium), ("port-unexpected", Some("22"), Severity::Low)];
const AFTER: &[(&str, Option<&str>, Severity)] = &[
    ("port-unexpected", Some("22"), Severity::Medium),
    ("exposed-file", Some("/.git/HEAD"), Severity::Medium),
];

#[tokio::test]
async fn new_gone_and_worse_findings_are_told_once() {
    let mut harness = Harness::new().await;
    let monitor = scanned(&mut harness).await;
    harness.submit_results(1, vec![scan(monitor, 1, BEFORE)]).await;
    assert_eq!(harness.summaries().await, Vec::<String>::new(), "the first scan has nothing to compare with");
    harness.submit_results(2, vec![scan(monitor, 2, AFTER)]).await;
    harness.submit_results(3, vec![scan(monitor, 3, AFTER)]).await;
    assert_eq!(harness.summaries().await, ["web_change of run 2, error 0"]);
    let content = harness.notifications().await.remove(0).message.content;
    assert_eq!(
        content.status_text,
        "findings of the security scan changed: new: exposed-file (/.git/HEAD); worse: port-unexpected (22) from low \
         to medium; gone: hsts-missing"
    );
    assert_eq!(content.extra["findings_new"], json!(["exposed-file (/.git/HEAD)"]));
    assert_eq!(content.extra["findings_worse"], json!(["port-unexpected (22) from low to medium"]));
    assert_eq!(content.extra["findings_gone"], json!(["hsts-missing"]));
    assert!(!content.extra.contains_key("bytes_now"));
}

#[tokio::test]
async fn scans_are_compared_across_a_restart_and_checks_without_a_scan() {
    let mut harness = Harness::new().await;
    let monitor = scanned(&mut harness).await;
    harness.submit_results(1, vec![scan(monitor, 1, BEFORE)]).await;
    harness.submit_results(2, vec![result(monitor, 1, run(2), Outcome::Unknown)]).await;
    let harness = harness.restart().await;
    harness.submit_results(3, vec![result(monitor, 1, run(3), Outcome::Unknown)]).await;
    harness.submit_results(4, vec![scan(monitor, 4, BEFORE)]).await;
    assert_eq!(harness.summaries().await, Vec::<String>::new(), "nothing was gone meanwhile");
    harness.submit_results(5, vec![scan(monitor, 5, AFTER)]).await;
    assert_eq!(harness.summaries().await, ["web_change of run 5, error 0"]);
}

#[tokio::test]
async fn a_scan_that_fails_by_its_findings_tells_the_change_too() {
    let mut harness = Harness::new().await;
    let monitor = scanned(&mut harness).await;
    harness.submit_results(1, vec![scan(monitor, 1, BEFORE)]).await;
    let worse = [BEFORE, &[("exposed-file", Some("/.env"), Severity::Critical)]].concat();
    harness.submit_results(2, vec![scan(monitor, 2, &worse)]).await;
    let summaries = harness.summaries().await;
    assert!(summaries.contains(&"web_change of run 2, error 0".to_owned()), "{summaries:?}");
}

#[tokio::test]
async fn what_could_not_be_looked_for_is_not_gone() {
    let mut harness = Harness::new().await;
    let monitor = scanned(&mut harness).await;
    harness.submit_results(1, vec![scan(monitor, 1, BEFORE)]).await;
    let mut partial = scan(monitor, 2, &BEFORE[1..]);
    partial.facts.security.as_mut().unwrap().open_questions = vec!["web: it timed out".to_owned()];
    harness.submit_results(2, vec![partial]).await;
    assert_eq!(harness.summaries().await, Vec::<String>::new());
    harness.submit_results(3, vec![scan(monitor, 3, &BEFORE[1..])]).await;
    assert_eq!(harness.summaries().await, ["web_change of run 3, error 0"]);
}
