//! Turns what a scan found into an observation.

use std::time::Duration;

use super::scan::Scan;
use crate::domain::{
    Failure, FailureKind, FindingCounts, Observation, Phase, SecurityFinding, Severity, WarningKind,
};
use crate::evaluate::security::{ScanArea, grade};

/// Maximum number of findings that the reason of a failure names.
const MAX_NAMED_FINDINGS: usize = 5;
/// Maximum number of warnings.
const MAX_WARNINGS: usize = 30;

impl Scan<'_> {
    /// Returns the observation of a scan that ended with `result` after `duration`. A scan that could not begin has no
    /// facts of its own.
    pub(super) fn into_observation(mut self, result: Result<(), Failure>, duration: Duration) -> Observation {
        let mut observation = Observation { duration, ..Observation::default() };
        observation.phases = self.trace.phases;
        observation.address = self.trace.peer_address;
        observation.facts.resolved_addresses = std::mem::take(&mut self.trace.resolved_addresses);
        observation.facts.tls = self.trace.tls_facts.take();
        let findings_so_far = std::mem::take(&mut self.findings);
        let (findings, left_out) = findings_so_far.into_findings();
        let scan_failure = result.err();
        if findings.is_empty()
            && let Some(failure) = scan_failure
        {
            observation.record_failure(failure);
            return observation;
        }
        if left_out > 0 {
            self.add_question(ScanArea::Web, &format!("{left_out} more findings are left out"));
        }
        let mut facts = self.facts;
        facts.finding_counts = FindingCounts::from_findings(&findings);
        grade(&facts.finding_counts, !facts.open_questions.is_empty()).clone_into(&mut facts.grade);
        facts.findings = findings;
        let fail_severity = self.options.fail_severity;
        if let Some(failure) = failure_of_findings(&facts.grade, &facts.findings, fail_severity) {
            observation.record_failure(failure);
        } else if let Some(failure) = scan_failure {
            observation.record_failure(failure);
        } else {
            record_warnings(&facts.findings, &mut observation);
        }
        observation.facts.security = Some(Box::new(facts));
        observation
    }
}

fn failure_of_findings(
    grade: &str,
    findings: &[SecurityFinding],
    fail_severity: Severity,
) -> Option<Failure> {
    let severe: Vec<&SecurityFinding> =
        findings.iter().filter(|finding| finding.severity >= fail_severity).collect();
    let worst = severe.first()?;
    let labels: Vec<String> = severe.iter().take(MAX_NAMED_FINDINGS).map(|finding| finding.label()).collect();
    let more = match severe.len().saturating_sub(MAX_NAMED_FINDINGS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let detail = format!(
        "grade {grade}, {} of severity {} or above: {}{more}; {}: {}",
        severe.len(),
        fail_severity.name(),
        labels.join(", "),
        worst.title,
        worst.evidence
    );
    Some(Failure::new(Phase::Validate, FailureKind::SecurityFindings, detail))
}

/// Records a warning for each finding. Those of severity info are no reason to warn: nothing is wrong.
fn record_warnings(findings: &[SecurityFinding], observation: &mut Observation) {
    let warnings: Vec<&SecurityFinding> =
        findings.iter().filter(|finding| finding.severity > Severity::Info).collect();
    for finding in warnings.iter().take(MAX_WARNINGS) {
        let detail = format!(
            "{} {}: {}: {}",
            finding.severity.name(),
            finding.label(),
            finding.title,
            finding.evidence
        );
        observation.record_warning(WarningKind::SecurityFinding, detail);
    }
    if let Some(more) = warnings.len().checked_sub(MAX_WARNINGS).filter(|more| *more > 0) {
        observation.record_warning(WarningKind::SecurityFinding, format!("and {more} more findings"));
    }
}
