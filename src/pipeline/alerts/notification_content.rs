//! Builds the content of a notification from the decision, the result and the account.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::alerting::{LocationResult, NotificationDraft, PageChange};
use crate::catalog::AccountSnapshot;
use crate::catalog::monitor_description::{custom_properties, display_target};
use crate::domain::{
    CheckId, CheckResult, ContentViewResult, LocationId, LocationReport, NotificationContent,
    NotificationKind, Phase, Status, Timestamp,
};
use crate::schema::Monitor;

/// Most reasons of one content view in a notification.
const MAX_REASONS: usize = 5;

/// Sources of the content, beside the draft.
pub(super) struct ContentSources<'a, 'r> {
    pub(super) monitor: &'a Monitor,
    pub(super) account: &'a AccountSnapshot,
    /// Finds loaded results.
    pub(super) result_by_check: &'a dyn Fn(CheckId) -> Option<&'r CheckResult>,
    /// Returns names of locations that the account does not have, such as verifying ones.
    pub(super) location_name: &'a dyn Fn(LocationId) -> String,
    pub(super) now: Timestamp,
}

/// Builds the content for `draft`.
pub(super) fn build_notification_content(
    draft: &NotificationDraft,
    sources: &ContentSources<'_, '_>,
) -> NotificationContent {
    let (monitor, account) = (sources.monitor, sources.account);
    let deciding_result = draft.deciding_result.as_ref();
    let result =
        deciding_result.and_then(|deciding_result| (sources.result_by_check)(deciding_result.check_id));
    let (status, status_text) = status_line(draft, result, sources.now);
    NotificationContent {
        kind: draft.kind.for_monitor_type(monitor.monitor_type()),
        customer: monitor.customer,
        account_name: account.name.clone(),
        brand: account.brand.clone(),
        monitor_id: Some(monitor.id),
        monitor_name: monitor.name().to_owned(),
        monitor_type: Some(monitor.monitor_type()),
        episode_id: draft.episode_id,
        check_id: deciding_result.map(|deciding_result| deciding_result.check_id),
        occurred_at: draft.planned_at,
        outage_started_at: draft.started_at,
        status,
        status_text,
        reasons: result.map(|result| result.reasons.clone()).unwrap_or_default(),
        consecutive_failures: draft.consecutive_runs,
        http_status: result.and_then(|result| Some(result.facts.http.as_ref()?.http_status)),
        location_id: deciding_result.map(|deciding_result| deciding_result.location_id),
        location_name: deciding_result
            .map(|deciding_result| location_name(deciding_result.location_id, sources))
            .unwrap_or_default(),
        location_reports: location_reports(draft, sources),
        verification: draft.verification.clone(),
        target: display_target(monitor),
        failing_step: result.and_then(CheckResult::failing_step).map(|step| (step.number, step.name.clone())),
        alert_note: monitor.document.alert_note().to_owned(),
        properties: custom_properties(monitor, account),
        phases: result.map(named_phases).unwrap_or_default(),
        certificate: result.map(peer_certificate_json).unwrap_or_default(),
        extra: extra_fields(draft, result, sources.now),
    }
}

/// Returns the status code, 0 for clears and for what is not an error, and its text.
fn status_line(draft: &NotificationDraft, result: Option<&CheckResult>, now: Timestamp) -> (Status, String) {
    let deciding_result = draft.deciding_result.as_ref();
    let failed_status = deciding_result.map_or(Status::INTERNAL, |deciding_result| deciding_result.status);
    match draft.kind {
        NotificationKind::SiteClear => (Status::OK, "is available again".to_owned()),
        NotificationKind::NoDataClear => (Status::OK, "has data again".to_owned()),
        NotificationKind::NoData => {
            (failed_status, format!("no data from {} consecutive runs", draft.consecutive_runs))
        }
        NotificationKind::WebChange => {
            let page_change =
                deciding_result.and_then(|deciding_result| deciding_result.page_change.as_ref());
            let text = page_change.map(|page_change| match page_change {
                PageChange { finding_changes: Some(findings), .. } => {
                    format!("findings of the security scan changed: {findings}")
                }
                PageChange { object_changes: Some(objects), .. } => {
                    format!("objects of the page changed: {objects}")
                }
                PageChange { .. } => format!(
                    "content changed from {} to {} bytes",
                    page_change.bytes_before, page_change.bytes_now
                ),
            });
            (Status::OK, text.unwrap_or_else(|| "content changed".to_owned()))
        }
        NotificationKind::CertificateExpiration => {
            match deciding_result.and_then(|deciding_result| deciding_result.expiring_certificate.as_ref()) {
                Some(certificate) if certificate.not_after < now => (
                    Status::VALIDATION_FAILED,
                    format!("the certificate `{}` expired {}", certificate.subject, certificate.not_after),
                ),
                Some(certificate) => (
                    Status::OK,
                    format!("the certificate `{}` expires {}", certificate.subject, certificate.not_after),
                ),
                None => (Status::OK, "the certificate expires soon".to_owned()),
            }
        }
        _ => (
            failed_status,
            result.map_or_else(|| failed_status.text().to_owned(), |result| result.status_text.clone()),
        ),
    }
}

/// Returns every location of the run, also those without a result.
fn location_reports(draft: &NotificationDraft, sources: &ContentSources<'_, '_>) -> Vec<LocationReport> {
    let to_report = |location_result: &LocationResult| LocationReport {
        location_id: location_result.location_id,
        name: location_name(location_result.location_id, sources),
        status: Some(location_result.status),
        status_text: match (sources.result_by_check)(location_result.check_id)
            .and_then(|result| result.reasons.first())
        {
            Some(reason) => format!("{}: {reason}", location_result.status.text()),
            None => location_result.status.text().to_owned(),
        },
    };
    let unreported = |location: &LocationId| LocationReport {
        location_id: *location,
        name: location_name(*location, sources),
        status: None,
        status_text: "no result".to_owned(),
    };
    draft
        .location_results
        .iter()
        .map(to_report)
        .chain(draft.unreported_locations.iter().map(unreported))
        .collect()
}

/// Returns the name that the account gives to the location, else the one of the settings.
fn location_name(location_id: LocationId, sources: &ContentSources<'_, '_>) -> String {
    let account_location = sources.account.locations.get(&location_id.0);
    account_location.map_or_else(
        || (sources.location_name)(location_id),
        |account_location| account_location.name.clone(),
    )
}

/// Returns the phases of the attempt that decided.
fn named_phases(result: &CheckResult) -> Vec<(String, u64)> {
    let phases = result.phases();
    let duration = |phase: Phase| Some((phase.name().to_owned(), u64::from(phases.micros(phase)?)));
    Phase::ALL.into_iter().filter_map(duration).collect()
}

/// Returns the peer's own certificate, as results show it.
fn peer_certificate_json(result: &CheckResult) -> Value {
    result
        .peer_certificate()
        .and_then(|certificate| serde_json::to_value(certificate).ok())
        .unwrap_or_default()
}

/// Returns the failed content views whose errors are notified.
fn failed_views_json(result: &CheckResult) -> Vec<Value> {
    let view = |view: &ContentViewResult| {
        let reasons: Vec<String> = view.failures.iter().take(MAX_REASONS).map(ToString::to_string).collect();
        json!({
            "id": view.id.to_string(),
            "name": view.name,
            "status": view.status.to_string(),
            "status_text": view.status.text(),
            "reasons": reasons,
        })
    };
    result.details.content_views.iter().filter(|view| view.should_notify()).map(view).collect()
}

/// Returns additional fields of the kind.
fn extra_fields(
    draft: &NotificationDraft,
    result: Option<&CheckResult>,
    now: Timestamp,
) -> Map<String, Value> {
    let mut extra = Map::new();
    let views = result.map(failed_views_json).unwrap_or_default();
    if !views.is_empty() {
        extra.insert("content_views".to_owned(), Value::Array(views));
    }
    if let Some(trace_id) = result.and_then(|result| result.details.trace_id()) {
        extra.insert("trace_id".to_owned(), json!(trace_id));
    }
    let deciding_result = draft.deciding_result.as_ref();
    if let (NotificationKind::WebChange, Some(page_change)) =
        (draft.kind, deciding_result.and_then(|deciding_result| deciding_result.page_change.as_ref()))
    {
        if let Some(findings) = &page_change.finding_changes {
            extra.insert("findings_new".to_owned(), json!(findings.new));
            extra.insert("findings_worse".to_owned(), json!(findings.worse));
            extra.insert("findings_gone".to_owned(), json!(findings.gone));
        } else {
            extra.insert("bytes_before".to_owned(), json!(page_change.bytes_before));
            extra.insert("bytes_now".to_owned(), json!(page_change.bytes_now));
        }
    }
    let certificate =
        deciding_result.and_then(|deciding_result| deciding_result.expiring_certificate.as_ref());
    if let (NotificationKind::CertificateExpiration, Some(certificate)) = (draft.kind, certificate) {
        let days_left =
            if certificate.not_after > now { certificate.not_after.since(now).as_secs() / 86_400 } else { 0 };
        extra.insert("certificate_subject".to_owned(), json!(certificate.subject));
        extra.insert("certificate_not_after".to_owned(), json!(certificate.not_after));
        extra.insert("certificate_days_left".to_owned(), json!(days_left));
    }
    extra
}

/// Returns the idempotency key for a recipient. A repeat of the same notification has the same key: the store drops it,
/// and receivers get the key as idempotency key.
pub(super) fn notification_idempotency_key(
    content: &NotificationContent,
    recipient: crate::domain::RecipientId,
) -> String {
    let subject_id = match (content.episode_id, content.check_id) {
        (Some(episode), _) => episode.to_string(),
        (None, Some(check)) => check.to_string(),
        (None, None) => content.monitor_id.map_or_else(String::new, |monitor| format!("m{monitor}")),
    };
    format!("{}-{subject_id}-{}-{recipient}", content.kind.name(), content.occurred_at.as_micros())
}

/// Returns the results that the content of `draft` is built from.
pub(super) fn referenced_results(draft: &NotificationDraft) -> impl Iterator<Item = &LocationResult> {
    draft.deciding_result.iter().chain(&draft.location_results)
}

/// Finds a result among those of the batch, then among those read from the store.
pub(super) fn find_result<'a>(
    batch_results: &HashMap<CheckId, &'a CheckResult>,
    stored_results: &'a HashMap<CheckId, CheckResult>,
    check_id: CheckId,
) -> Option<&'a CheckResult> {
    batch_results.get(&check_id).copied().or_else(|| stored_results.get(&check_id))
}
