//! The findings of security scans as SARIF 2.1.0 (OASIS), which code hosts and scanners' consoles read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::domain::{CheckResult, SecurityFinding, Severity};

/// Returns the log of `results`, each of which is a run. The rules of a run are those of its findings.
pub(super) fn to_sarif(results: &[CheckResult]) -> Value {
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": results.iter().map(run).collect::<Vec<_>>(),
    })
}

fn run(result: &CheckResult) -> Value {
    let scan = result.facts.security.as_deref();
    let findings = scan.map(|scan| scan.findings.as_slice()).unwrap_or_default();
    let mut seen = BTreeSet::new();
    let rules: Vec<&SecurityFinding> = findings.iter().filter(|finding| seen.insert(&finding.id)).collect();
    let rule_index = |finding: &SecurityFinding| rules.iter().position(|rule| rule.id == finding.id);
    let open_questions = scan.map(|scan| scan.open_questions.as_slice()).unwrap_or_default();
    let notifications: Vec<Value> = result
        .reasons
        .iter()
        .filter(|_| scan.is_none())
        .chain(open_questions)
        .map(|text| json!({"level": "warning", "message": {"text": text}}))
        .collect();
    json!({
        "tool": {"driver": {
            "name": "vigie",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules.iter().map(|rule| self::rule(rule)).collect::<Vec<_>>(),
        }},
        "invocations": [{
            // A scan that could not be made found nothing, and that must not look like a good result.
            "executionSuccessful": scan.is_some(),
            "startTimeUtc": result.started_at,
            "toolExecutionNotifications": notifications,
        }],
        "results": findings
            .iter()
            .map(|finding| sarif_result(finding, rule_index(finding), &result.monitor_name))
            .collect::<Vec<_>>(),
        "properties": {"grade": scan.map(|scan| scan.grade.as_str()), "target": result.monitor_name},
    })
}

fn rule(finding: &SecurityFinding) -> Value {
    json!({
        "id": finding.id,
        "shortDescription": {"text": finding.title},
        "help": {"text": finding.remedy},
        "helpUri": finding.reference,
        "defaultConfiguration": {"level": level(finding.severity)},
    })
}

fn sarif_result(finding: &SecurityFinding, rule_index: Option<usize>, target: &str) -> Value {
    let subject = finding.subject.as_deref().unwrap_or_default();
    json!({
        "ruleId": finding.id,
        "ruleIndex": rule_index,
        "level": level(finding.severity),
        "message": {"text": format!("{}: {}", finding.title, finding.evidence)},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": format!("{target} {subject}").trim_end(), "kind": "resource"}]}],
        "partialFingerprints": {"target/v1": format!("{target} {} {subject}", finding.id).trim_end()},
        // What code hosts sort by; it is a text there.
        "properties": {"severity": finding.severity.name(), "security-severity": score(finding.severity)},
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium | Severity::Low => "warning",
        Severity::Info => "note",
    }
}

const fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "2.5",
        Severity::Info => "0.0",
    }
}
