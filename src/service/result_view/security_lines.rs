//! The facts of a security scan as lines: grade, findings by severity with their remedies, what is offered.

use super::fact_line::FactLine;
use crate::domain::{FindingCounts, SecurityScanFacts};

/// Returns the lines of a scan, the worst findings first.
pub(super) fn security_lines(scan: &SecurityScanFacts) -> Vec<FactLine> {
    let mut lines = Vec::new();
    let mut push = |label: &'static str, value: String| lines.push(FactLine { label, value });
    push("grade", format!("{}: {}", scan.grade, describe_counts(&scan.finding_counts)));
    for finding in &scan.findings {
        push(
            finding.severity.name(),
            format!("{}: {}: {}", finding.label(), finding.title, finding.evidence),
        );
        push("", format!("{} {}", finding.remedy, finding.reference));
    }
    let ports: Vec<String> = scan.open_ports.iter().map(ToString::to_string).collect();
    for (label, values) in [
        ("open ports", &ports),
        ("tls", &scan.offered_tls_versions),
        ("ciphers", &scan.offered_tls_ciphers),
        ("groups", &scan.offered_tls_groups),
    ] {
        if !values.is_empty() {
            push(label, values.join(", "));
        }
    }
    for (index, question) in scan.open_questions.iter().enumerate() {
        push(if index == 0 { "unanswered" } else { "" }, question.clone());
    }
    lines
}

fn describe_counts(counts: &FindingCounts) -> String {
    let parts: Vec<String> = [
        (counts.critical, "critical"),
        (counts.high, "high"),
        (counts.medium, "medium"),
        (counts.low, "low"),
        (counts.info, "info"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, name)| format!("{count} {name}"))
    .collect();
    if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{SecurityFinding, Severity};

    #[test]
    fn the_grade_comes_first_and_each_finding_has_its_remedy() {
        let finding = SecurityFinding {
            id: "hsts-missing".to_owned(),
            severity: Severity::Medium,
            title: "It is missing".to_owned(),
            subject: None,
            evidence: "none was sent".to_owned(),
            remedy: "Send it.".to_owned(),
            reference: "https://a.test/".to_owned(),
        };
        let scan = SecurityScanFacts {
            grade: "B".to_owned(),
            finding_counts: FindingCounts::from_findings(std::slice::from_ref(&finding)),
            findings: vec![finding],
            open_ports: vec![80, 443],
            open_questions: vec!["dns: no reply".to_owned()],
            ..SecurityScanFacts::default()
        };
        let lines: Vec<String> =
            security_lines(&scan).iter().map(|line| format!("{}|{}", line.label, line.value)).collect();
        assert_eq!(
            lines,
            [
                "grade|B: 1 medium",
                "medium|hsts-missing: It is missing: none was sent",
                "|Send it. https://a.test/",
                "open ports|80, 443",
                "unanswered|dns: no reply",
            ]
        );
        assert_eq!(describe_counts(&FindingCounts::default()), "no findings");
    }
}
