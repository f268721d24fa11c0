//! What a security scan found: its findings and the facts of the scan.

use serde::{Deserialize, Serialize};

/// How bad a finding is, the least first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    #[default]
    Info,
    /// A missing protection, of use to an attacker only together with another weakness.
    Low,
    /// A weakness that an attacker can use under conditions.
    Medium,
    /// A weakness that an attacker can use, or one that shuts out users.
    High,
    /// Secrets or data are open to everyone.
    Critical,
}

impl Severity {
    /// Every severity, the least first.
    pub const ALL: [Self; 5] = [Self::Info, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Returns the stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// One finding of a security scan. `title`, `remedy` and `reference` are those of the table of findings at the time of
/// the scan, so that old results stay readable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityFinding {
    /// Stable id in the table of findings, such as `hsts-missing`.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a few words.
    pub title: String,
    /// What it is about where one id can be found several times: a port, path, cookie or header field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What the scan saw, in at most 300 characters; never a secret.
    pub evidence: String,
    /// What to do about it.
    pub remedy: String,
    /// URL of the standard or guide behind it.
    pub reference: String,
}

impl SecurityFinding {
    /// Returns the id with the subject, as texts name the finding: `port-unexpected (3306)`.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{} ({subject})", self.id),
            None => self.id.clone(),
        }
    }
}

/// Number of findings of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCounts {
    /// Findings of severity critical.
    pub critical: u32,
    /// Findings of severity high.
    pub high: u32,
    /// Findings of severity medium.
    pub medium: u32,
    /// Findings of severity low.
    pub low: u32,
    /// Findings of severity info.
    pub info: u32,
}

impl FindingCounts {
    /// Counts `findings`.
    #[must_use]
    pub fn from_findings(findings: &[SecurityFinding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            *match finding.severity {
                Severity::Critical => &mut counts.critical,
                Severity::High => &mut counts.high,
                Severity::Medium => &mut counts.medium,
                Severity::Low => &mut counts.low,
                Severity::Info => &mut counts.info,
            } += 1;
        }
        counts
    }
}

/// Facts of a security scan. Every field name is unique over all protocols.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityScanFacts {
    /// `A+`, `A`, `B`, `C`, `D` or `F`.
    pub grade: String,
    /// The findings, the worst first.
    pub findings: Vec<SecurityFinding>,
    /// How many there are of each severity.
    pub finding_counts: FindingCounts,
    /// Ports that accepted a connection, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_ports: Vec<u16>,
    /// TLS versions that the server accepts, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered_tls_versions: Vec<String>,
    /// IANA names of the cipher suites that it accepts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered_tls_ciphers: Vec<String>,
    /// IANA names of the groups for the key exchange that it accepts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered_tls_groups: Vec<String>,
    /// What the scan could not find out: the area (`tls`, `web`, `ports` or `dns`), a colon, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_are_ordered_and_named() {
        assert!(Severity::ALL.is_sorted());
        for severity in Severity::ALL {
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.name());
        }
    }

    #[test]
    fn counts_are_by_severity() {
        let finding = |severity| SecurityFinding {
            id: "x".to_owned(),
            severity,
            title: String::new(),
            subject: Some("80".to_owned()),
            evidence: String::new(),
            remedy: String::new(),
            reference: String::new(),
        };
        let findings = [Severity::Low, Severity::Low, Severity::Critical].map(finding);
        let counts = FindingCounts::from_findings(&findings);
        assert_eq!((counts.low, counts.critical, counts.high), (2, 1, 0));
        assert_eq!(findings[0].label(), "x (80)");
    }
}
