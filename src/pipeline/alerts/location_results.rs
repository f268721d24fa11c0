//! Conversion of check results for alerting, with comparisons to earlier runs.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::alerting::{ExpiringCertificate, LocationResult, PageChange};
use crate::domain::{CheckResult, Outcome, Status, Warning};
use crate::evaluate::page_comparison;
use crate::evaluate::page_comparison::{PageBaseline, PageComparisonRule};
use crate::evaluate::security::FindingChanges;

use super::monitor_rules::MonitorRules;
use super::tracked_monitor::{PageFingerprint, TrackedMonitor};

impl TrackedMonitor {
    /// Converts `result`; records its page changes and its page. `object_change` is the change of its page's objects.
    pub(super) fn build_location_result(
        &mut self,
        result: &mut CheckResult,
        rules: &MonitorRules,
        object_change: Option<PageChange>,
    ) -> LocationResult {
        let content_change =
            if rules.policy.notify_on_content_change { self.detect_page_change(result) } else { None };
        LocationResult {
            planned_at: result.planned_at,
            location_id: result.location_id,
            check_id: result.check_id,
            outcome: result.outcome,
            status: result.status,
            run_count: result.run_count(),
            last_planned_at: result.missed.map_or(result.planned_at, |missed| missed.last_planned_at),
            failing_step: result.failing_step().map(|step| step.number),
            failed_views: result
                .details
                .content_views
                .iter()
                .filter(|view| view.should_notify())
                .map(|view| view.id)
                .collect(),
            page_change: object_change.or(content_change).or_else(|| self.detect_finding_change(result)),
            expiring_certificate: expiring_certificate(result, rules),
        }
    }

    /// Detects a change of the page's size since the last passing run at this location (behaviour.md 4, content
    /// change). A change of its text is recorded in the result, too.
    fn detect_page_change(&mut self, result: &mut CheckResult) -> Option<PageChange> {
        let current = passing_page_fingerprint(result)?;
        let entry = self.last_pages.iter_mut().find(|(location, _)| *location == result.location_id);
        let Some((_, previous)) = entry else {
            self.last_pages.push((result.location_id, Some(current)));
            return None;
        };
        let (current_bytes, current_text_hash) = (current.body_bytes, current.text_hash.clone());
        let previous = previous.replace(current)?;
        let is_resized = previous.body_bytes != current_bytes;
        let is_reworded = previous.text_hash.is_some()
            && current_text_hash.is_some()
            && previous.text_hash != current_text_hash;
        if let Some(facts) = &mut result.facts.http {
            facts.content_changed = is_resized || is_reworded;
            facts.previous_text_sha256 = previous.text_hash.filter(|_| is_reworded);
        }
        is_resized.then_some(PageChange {
            bytes_before: previous.body_bytes,
            bytes_now: current_bytes,
            object_changes: None,
            finding_changes: None,
        })
    }

    /// Compares the findings of a security scan with those of the scan before at this location. A check without a scan
    /// changes nothing.
    fn detect_finding_change(&mut self, result: &CheckResult) -> Option<PageChange> {
        let scan = result.facts.security.as_deref()?;
        let entry = self.last_scans.iter_mut().find(|(location, _)| *location == result.location_id);
        let Some((_, previous)) = entry else {
            self.last_scans.push((result.location_id, Some(scan.findings.clone())));
            return None;
        };
        let before = previous.replace(scan.findings.clone())?;
        let changes = FindingChanges::between(&before, scan);
        *previous = Some(FindingChanges::next_baseline(&before, scan));
        let mut hasher = DefaultHasher::new();
        changes.hash(&mut hasher);
        let change_hash = hasher.finish();
        (!changes.is_empty()).then_some(PageChange {
            bytes_before: change_hash,
            bytes_now: change_hash,
            object_changes: None,
            finding_changes: Some(changes),
        })
    }

    /// Compares the objects of the page with those of the previous run at this location, and makes the result an error
    /// or a warning when they differ (fields.md 3). A warning is returned as a page change.
    pub(super) fn apply_object_comparison(
        &mut self,
        result: &mut CheckResult,
        rule: PageComparisonRule,
    ) -> Option<PageChange> {
        let has_passed = matches!(result.outcome, Outcome::Ok | Outcome::Warning);
        let full_page = result.details.page_load.as_deref_mut()?;
        let entry = self.object_baselines.iter_mut().find(|(location, _)| *location == result.location_id);
        let (_, baseline) = entry?;
        let changes = match baseline {
            Some(previous) if has_passed => {
                page_comparison::compare_with_baseline(previous, full_page, &rule)
            }
            _ => Vec::new(),
        };
        let bytes_before = baseline.as_ref().map_or(0, PageBaseline::total_bytes);
        if let Some(new_baseline) = PageBaseline::from_page(full_page, baseline.as_ref()) {
            *baseline = Some(new_baseline);
        }
        let failure = page_comparison::changes_failure(&changes)?;
        full_page.changes = page_comparison::truncate_changes(changes);
        let change = PageChange {
            bytes_before,
            bytes_now: full_page.decoded_bytes,
            object_changes: Some(failure.detail.clone()),
            finding_changes: None,
        };
        let status = failure.status();
        result.reasons.insert(0, failure.to_string());
        if rule.changes_are_errors {
            (result.outcome, result.status) = (Outcome::Error, status);
            result.warning_status = None;
        } else {
            result.outcome = Outcome::Warning;
            if result.status == Status::OK {
                result.status = status;
            }
        }
        result.status.text().clone_into(&mut result.status_text);
        if let Some(attempt) = result.attempts.last_mut() {
            if rule.changes_are_errors {
                attempt.failure = Some(failure);
            } else {
                attempt.warnings.push(Warning::from_page_object_failure(&failure));
            }
        }
        (!rule.changes_are_errors).then_some(change)
    }
}

/// Returns the page of a passing run. A redirect that was not followed has no page.
pub(super) fn passing_page_fingerprint(result: &CheckResult) -> Option<PageFingerprint> {
    let http_facts = result.facts.http.as_ref()?;
    let has_passed = matches!(result.outcome, Outcome::Ok | Outcome::Warning);
    (has_passed && !(300..400).contains(&http_facts.http_status)).then(|| PageFingerprint {
        body_bytes: http_facts.body_bytes,
        text_hash: http_facts.text_sha256.clone(),
    })
}

/// Returns the certificate to report as expiring, if there is one.
fn expiring_certificate(result: &CheckResult, rules: &MonitorRules) -> Option<ExpiringCertificate> {
    let certificate =
        rules.certificate_expiry.reported_certificate(result.facts.tls.as_deref()?, result.started_at)?;
    Some(ExpiringCertificate { subject: certificate.subject.clone(), not_after: certificate.not_after })
}
