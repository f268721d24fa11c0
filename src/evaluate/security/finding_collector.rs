//! Collects the findings of a scan: bounded, each once, the worst first.

use super::finding_table::FindingDefinition;
use crate::domain::{SecurityFinding, Severity, replace_control_chars, truncate};

/// Maximum number of findings of a scan; the least severe are left out.
pub const MAX_FINDINGS: usize = 200;
/// Longest evidence and subject, in characters.
const MAX_EVIDENCE_CHARS: usize = 300;
const MAX_SUBJECT_CHARS: usize = 100;
/// Findings that are collected before the least severe are dropped.
const MAX_COLLECTED: usize = 1_000;

/// The findings of a scan so far.
#[derive(Debug, Default)]
pub struct FindingCollector {
    findings: Vec<SecurityFinding>,
}

impl FindingCollector {
    /// Adds a finding about the target as a whole, with its least severity.
    pub fn add(&mut self, definition: &FindingDefinition, evidence: impl Into<String>) {
        self.push(definition, definition.severity, None, evidence.into());
    }

    /// Adds a finding about `subject`, with its least severity.
    pub fn add_about(&mut self, definition: &FindingDefinition, subject: &str, evidence: impl Into<String>) {
        self.push(definition, definition.severity, Some(subject), evidence.into());
    }

    /// Adds a finding whose severity depends on what was seen; it stays within the bounds of the table.
    pub fn add_with_severity(
        &mut self,
        definition: &FindingDefinition,
        severity: Severity,
        subject: Option<&str>,
        evidence: impl Into<String>,
    ) {
        let severity = severity.clamp(definition.severity, definition.highest_severity);
        self.push(definition, severity, subject, evidence.into());
    }

    fn push(
        &mut self,
        definition: &FindingDefinition,
        severity: Severity,
        subject: Option<&str>,
        evidence: String,
    ) {
        let subject = subject.map(|subject| clean(subject, MAX_SUBJECT_CHARS));
        let is_same = |known: &&mut SecurityFinding| known.id == definition.id && known.subject == subject;
        if let Some(known) = self.findings.iter_mut().find(is_same) {
            if severity > known.severity {
                (known.severity, known.evidence) = (severity, clean(&evidence, MAX_EVIDENCE_CHARS));
            }
            return;
        }
        if self.findings.len() >= MAX_COLLECTED {
            return;
        }
        self.findings.push(SecurityFinding {
            id: definition.id.to_owned(),
            severity,
            title: definition.title.to_owned(),
            subject,
            evidence: clean(&evidence, MAX_EVIDENCE_CHARS),
            remedy: definition.remedy.to_owned(),
            reference: definition.reference.to_owned(),
        });
    }

    /// Returns the findings, the worst first, and how many were left out beyond [`MAX_FINDINGS`].
    #[must_use]
    pub fn into_findings(self) -> (Vec<SecurityFinding>, usize) {
        let mut findings = self.findings;
        // Stable: within a severity in the order of the scan.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let left_out = findings.len().saturating_sub(MAX_FINDINGS);
        findings.truncate(MAX_FINDINGS);
        (findings, left_out)
    }
}

/// Returns `text` of a server for people: one line, bounded.
fn clean(text: &str, max_chars: usize) -> String {
    truncate(&replace_control_chars(text), max_chars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::security::finding_table::{CSP_MISSING, EXPOSED_FILE, PORT_UNEXPECTED};

    #[test]
    fn a_finding_is_kept_once_with_its_worst_severity_within_the_table() {
        let mut collector = FindingCollector::default();
        collector.add(&CSP_MISSING, "a");
        collector.add(&CSP_MISSING, "b");
        collector.add_with_severity(&PORT_UNEXPECTED, Severity::Low, Some("23"), "low");
        collector.add_with_severity(&PORT_UNEXPECTED, Severity::Critical, Some("23"), "bad\n\u{1b}[0m");
        let (findings, left_out) = collector.into_findings();
        assert_eq!((findings.len(), left_out), (2, 0));
        assert_eq!((findings[0].severity, findings[0].subject.as_deref()), (Severity::High, Some("23")));
        assert!(!findings[0].evidence.contains(char::is_control), "{:?}", findings[0].evidence);
        assert_eq!(findings[1].evidence, "a");
    }

    #[test]
    fn findings_are_bounded_and_the_worst_stay() {
        let mut collector = FindingCollector::default();
        for number in 0..5_000 {
            collector.add_about(&PORT_UNEXPECTED, &format!("port {number}"), "x".repeat(10_000));
        }
        let mut with_worse = FindingCollector::default();
        for number in 0..300 {
            with_worse.add_about(&PORT_UNEXPECTED, &number.to_string(), "");
        }
        with_worse.add_with_severity(&EXPOSED_FILE, Severity::Critical, Some("/.env"), "");
        let (findings, left_out) = collector.into_findings();
        assert_eq!((findings.len(), left_out), (MAX_FINDINGS, MAX_COLLECTED - MAX_FINDINGS));
        assert!(findings.iter().all(|finding| finding.evidence.chars().count() <= MAX_EVIDENCE_CHARS + 1));
        let (findings, left_out) = with_worse.into_findings();
        assert_eq!((findings[0].id.as_str(), left_out), ("exposed-file", 101));
    }
}
