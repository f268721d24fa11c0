//! What changed between two scans.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::finding_table::{ScanArea, find_definition};
use crate::domain::{SecurityFinding, SecurityScanFacts, Severity};

/// The findings that differ from an earlier scan, by their labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingChanges {
    /// Findings that the earlier scan did not have.
    pub new: Vec<String>,
    /// Findings that the later scan does not have.
    pub gone: Vec<String>,
    /// Findings whose severity rose, with both severities.
    pub worse: Vec<String>,
}

impl FindingChanges {
    /// Compares the scan `now` with the findings of the scan before. A finding is the same if id and subject are. Where
    /// `now` left a question open, no finding of that area is gone.
    #[must_use]
    pub fn between(before: &[SecurityFinding], now: &SecurityScanFacts) -> Self {
        let find = |findings: &[SecurityFinding], wanted: &SecurityFinding| -> Option<Severity> {
            let same = |known: &&SecurityFinding| known.id == wanted.id && known.subject == wanted.subject;
            findings.iter().find(same).map(|known| known.severity)
        };
        let mut changes = Self::default();
        for finding in &now.findings {
            match find(before, finding) {
                None => changes.new.push(finding.label()),
                Some(severity) if severity < finding.severity => {
                    let (before, now) = (severity.name(), finding.severity.name());
                    changes.worse.push(format!("{} from {before} to {now}", finding.label()));
                }
                Some(_) => {}
            }
        }
        let gone = before
            .iter()
            .filter(|finding| find(&now.findings, finding).is_none() && !has_open_question(now, &finding.id));
        changes.gone.extend(gone.map(SecurityFinding::label));
        changes
    }

    /// Returns the findings to compare the next scan with: those of `now`, and those of before that it could not look
    /// for again.
    #[must_use]
    pub fn next_baseline(before: &[SecurityFinding], now: &SecurityScanFacts) -> Vec<SecurityFinding> {
        let is_known = |finding: &SecurityFinding| {
            now.findings.iter().any(|known| known.id == finding.id && known.subject == finding.subject)
        };
        let kept = before.iter().filter(|finding| !is_known(finding) && has_open_question(now, &finding.id));
        now.findings.iter().chain(kept).take(MAX_BASELINE_FINDINGS).cloned().collect()
    }

    /// Whether nothing is worth telling.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty() && self.worse.is_empty()
    }
}

/// Names of each kind that the text has.
const MAX_NAMED: usize = 5;

impl fmt::Display for FindingChanges {
    /// Writes the change in one line: `new: hsts-missing; gone: exposed-file (/.env)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (kind, labels) in [("new", &self.new), ("worse", &self.worse), ("gone", &self.gone)] {
            if labels.is_empty() {
                continue;
            }
            let named = labels.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            write!(f, "{separator}{kind}: {named}")?;
            if labels.len() > MAX_NAMED {
                write!(f, " and {} more", labels.len() - MAX_NAMED)?;
            }
            separator = "; ";
        }
        Ok(())
    }
}

/// Findings that the next scan is compared with.
const MAX_BASELINE_FINDINGS: usize = 400;

/// Whether `scan` left a question open in the area of the finding `id`. Nobody knows the area of an id that is not in
/// the table any more: it is gone.
fn has_open_question(scan: &SecurityScanFacts, id: &str) -> bool {
    let Some(definition) = find_definition(id) else { return false };
    scan.open_questions.iter().any(|question| area_of_question(question) == Some(definition.area))
}

/// Returns the text of an open question.
#[must_use]
pub fn open_question(area: ScanArea, reason: &str) -> String {
    format!("{}: {reason}", area.name())
}

fn area_of_question(question: &str) -> Option<ScanArea> {
    let (name, _) = question.split_once(": ")?;
    ScanArea::ALL.into_iter().find(|area| area.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, subject: Option<&str>, severity: Severity) -> SecurityFinding {
        SecurityFinding {
            id: id.to_owned(),
            severity,
            title: String::new(),
            subject: subject.map(str::to_owned),
            evidence: String::new(),
            remedy: String::new(),
            reference: String::new(),
        }
    }

    #[test]
    fn new_gone_and_worse_findings_are_told_apart() {
        let before = [
            finding("a", None, Severity::Low),
            finding("port", Some("22"), Severity::Low),
            finding("better", None, Severity::High),
            finding("worse", None, Severity::Low),
        ];
        let now = [
            finding("a", None, Severity::Low),
            finding("port", Some("23"), Severity::Low),
            finding("better", None, Severity::Low),
            finding("worse", None, Severity::Medium),
        ];
        let now = SecurityScanFacts { findings: now.to_vec(), ..SecurityScanFacts::default() };
        let changes = FindingChanges::between(&before, &now);
        assert_eq!(changes.new, ["port (23)"]);
        assert_eq!(changes.gone, ["port (22)"]);
        assert_eq!(changes.worse, ["worse from low to medium"]);
        assert_eq!(changes.to_string(), "new: port (23); worse: worse from low to medium; gone: port (22)");
        assert!(FindingChanges::between(&now.findings, &now).is_empty());
    }

    #[test]
    fn what_a_scan_could_not_look_for_is_not_gone() {
        let before =
            [finding("csp-missing", None, Severity::Low), finding("caa-missing", None, Severity::Low)];
        let partial = SecurityScanFacts {
            open_questions: vec![open_question(ScanArea::Web, "the page timed out")],
            ..SecurityScanFacts::default()
        };
        assert_eq!(FindingChanges::between(&before, &partial).gone, ["caa-missing"]);
        let baseline = FindingChanges::next_baseline(&before, &partial);
        assert_eq!(baseline, [before[0].clone()]);
        let complete = SecurityScanFacts::default();
        assert_eq!(FindingChanges::between(&baseline, &complete).gone, ["csp-missing"]);
        assert!(FindingChanges::next_baseline(&baseline, &complete).is_empty());
    }
}
