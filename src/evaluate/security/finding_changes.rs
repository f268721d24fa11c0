//! What changed between two scans.

use crate::domain::{SecurityFinding, Severity};

/// The findings that differ from an earlier scan, by their labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingChanges {
    /// Findings that the earlier scan did not have.
    pub new: Vec<String>,
    /// Findings that the later scan does not have.
    pub gone: Vec<String>,
    /// Findings whose severity rose, with both severities.
    pub worse: Vec<String>,
}

impl FindingChanges {
    /// Compares the findings `now` with those of the scan before. A finding is the same if id and subject are.
    #[must_use]
    pub fn between(before: &[SecurityFinding], now: &[SecurityFinding]) -> Self {
        let find = |findings: &[SecurityFinding], wanted: &SecurityFinding| -> Option<Severity> {
            let same = |known: &&SecurityFinding| known.id == wanted.id && known.subject == wanted.subject;
            findings.iter().find(same).map(|known| known.severity)
        };
        let mut changes = Self::default();
        for finding in now {
            match find(before, finding) {
                None => changes.new.push(finding.label()),
                Some(severity) if severity < finding.severity => {
                    let (before, now) = (severity.name(), finding.severity.name());
                    changes.worse.push(format!("{} from {before} to {now}", finding.label()));
                }
                Some(_) => {}
            }
        }
        let gone = before.iter().filter(|finding| find(now, finding).is_none());
        changes.gone.extend(gone.map(SecurityFinding::label));
        changes
    }

    /// Whether nothing is worth telling.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty() && self.worse.is_empty()
    }
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
        let changes = FindingChanges::between(&before, &now);
        assert_eq!(changes.new, ["port (23)"]);
        assert_eq!(changes.gone, ["port (22)"]);
        assert_eq!(changes.worse, ["worse from low to medium"]);
        assert!(FindingChanges::between(&now, &now).is_empty());
    }
}
