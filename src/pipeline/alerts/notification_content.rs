//! What somebody is told, written out of the decision, the result and the account.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::alerting::{LocationResult, NotificationDraft};
use crate::catalog::AccountFacts;
use crate::catalog::monitor_summary::{custom_properties, display_target};
use crate::domain::{
    CheckId, CheckResult, ContentViewResult, LocationId, LocationReport, NotificationContent,
    NotificationKind, Phase, Status, Timestamp,
};
use crate::schema::Monitor;

/// Reasons of one content view that are told.
const MAX_REASONS: usize = 5;

/// What a notice is written from, beside the news.
pub(super) struct ContentSources<'a, 'r> {
    pub(super) monitor: &'a Monitor,
    pub(super) facts: &'a AccountFacts,
    /// Results that are at hand.
    pub(super) results: &'a dyn Fn(CheckId) -> Option<&'r CheckResult>,
    /// Names of locations that the account does not have, such as verifying ones.
    pub(super) name: &'a dyn Fn(LocationId) -> String,
    pub(super) now: Timestamp,
}

/// `draft` as it is told.
pub(super) fn build_content(draft: &NotificationDraft, from: &ContentSources<'_, '_>) -> NotificationContent {
    let (monitor, facts) = (from.monitor, from.facts);
    let cause = draft.deciding_result.as_ref();
    let result = cause.and_then(|cause| (from.results)(cause.check_id));
    let (status, status_text) = status_line(draft, result, from.now);
    NotificationContent {
        kind: draft.kind,
        customer: monitor.customer,
        company: facts.name.clone(),
        brand: facts.brand.clone(),
        monitor_id: Some(monitor.id),
        monitor_name: monitor.name().to_owned(),
        monitor_type: Some(monitor.monitor_type()),
        episode: draft.episode,
        check_id: cause.map(|cause| cause.check_id),
        at: draft.planned_at,
        since: draft.started_at,
        status,
        status_text,
        reasons: result.map(|result| result.reasons.clone()).unwrap_or_default(),
        errcount: draft.errcount,
        http_status: result.and_then(|result| Some(result.facts.http.as_ref()?.http_status)),
        location_id: cause.map(|cause| cause.location),
        location: cause.map(|cause| location_name(cause.location, from)).unwrap_or_default(),
        locations: locations(draft, from),
        verification: draft.verification.clone(),
        target: display_target(monitor),
        step: result.and_then(CheckResult::failing_step).map(|step| (step.number, step.name.clone())),
        alert_note: monitor.document.alert_note().to_owned(),
        properties: custom_properties(monitor, facts),
        phases: result.map(phases).unwrap_or_default(),
        certificate: result.map(certificate).unwrap_or_default(),
        extra: extra_fields(draft, result, from.now),
    }
}

/// The status code, 0 for what is over or no error, and its words.
fn status_line(news: &NotificationDraft, result: Option<&CheckResult>, now: Timestamp) -> (Status, String) {
    let cause = news.deciding_result.as_ref();
    let found = cause.map_or(Status::INTERNAL, |cause| cause.status);
    match news.kind {
        NotificationKind::SiteClear => (Status::OK, "is available again".to_owned()),
        NotificationKind::NoData => (found, format!("no data of {} runs in a row", news.errcount)),
        NotificationKind::WebChange => {
            let page = cause.and_then(|cause| cause.page.as_ref());
            let text = page.map(|page| match &page.object_changes {
                Some(objects) => format!("objects of the page changed: {objects}"),
                None => format!("content changed from {} to {} bytes", page.before, page.now),
            });
            (Status::OK, text.unwrap_or_else(|| "content changed".to_owned()))
        }
        NotificationKind::CertificateExpiration => match cause.and_then(|cause| cause.certificate.as_ref()) {
            Some(news) if news.not_after < now => (
                Status::VALIDATION_FAILED,
                format!("the certificate `{}` ended {}", news.subject, news.not_after),
            ),
            Some(news) => (Status::OK, format!("the certificate `{}` ends {}", news.subject, news.not_after)),
            None => (Status::OK, "the certificate ends soon".to_owned()),
        },
        _ => (found, result.map_or_else(|| found.text().to_owned(), |result| result.status_text.clone())),
    }
}

/// Every location of the run, those that were not heard too.
fn locations(draft: &NotificationDraft, from: &ContentSources<'_, '_>) -> Vec<LocationReport> {
    let heard = |heard: &LocationResult| LocationReport {
        location_id: heard.location,
        name: location_name(heard.location, from),
        status: Some(heard.status),
        status_text: match (from.results)(heard.check_id).and_then(|result| result.reasons.first()) {
            Some(reason) => format!("{}: {reason}", heard.status.text()),
            None => heard.status.text().to_owned(),
        },
    };
    let silent = |location: &LocationId| LocationReport {
        location_id: *location,
        name: location_name(*location, from),
        status: None,
        status_text: "not heard".to_owned(),
    };
    draft.location_results.iter().map(heard).chain(draft.unreported_locations.iter().map(silent)).collect()
}

fn location_name(location: LocationId, from: &ContentSources<'_, '_>) -> String {
    let known = from.facts.locations.get(&location.0);
    known.map_or_else(|| (from.name)(location), |known| known.name.clone())
}

/// Those of the attempt that decided.
fn phases(result: &CheckResult) -> Vec<(String, u64)> {
    let phases = result.phases();
    let took = |phase: Phase| Some((phase.name().to_owned(), u64::from(phases.micros(phase)?)));
    Phase::ALL.into_iter().filter_map(took).collect()
}

/// The peer's own certificate, as results show it.
fn certificate(result: &CheckResult) -> Value {
    let own = result.facts.tls.as_ref().and_then(|tls| tls.certificates.first());
    own.and_then(|own| serde_json::to_value(own).ok()).unwrap_or_default()
}

/// The content views that failed, of those whose errors are told.
fn failed_views(result: &CheckResult) -> Vec<Value> {
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
    result.details.views.iter().filter(|view| view.should_notify()).map(view).collect()
}

/// What else the kind has to tell.
fn extra_fields(
    news: &NotificationDraft,
    result: Option<&CheckResult>,
    now: Timestamp,
) -> Map<String, Value> {
    let mut more = Map::new();
    let views = result.map(failed_views).unwrap_or_default();
    if !views.is_empty() {
        more.insert("content_views".to_owned(), Value::Array(views));
    }
    let browser = result.and_then(|result| result.details.browser.as_ref());
    if let Some(trace) = browser.and_then(|browser| browser.trace_id.as_ref()) {
        more.insert("trace_id".to_owned(), json!(trace));
    }
    let cause = news.deciding_result.as_ref();
    if let (NotificationKind::WebChange, Some(page)) =
        (news.kind, cause.and_then(|cause| cause.page.as_ref()))
    {
        more.insert("bytes_before".to_owned(), json!(page.before));
        more.insert("bytes_now".to_owned(), json!(page.now));
    }
    let certificate = cause.and_then(|cause| cause.certificate.as_ref());
    if let (NotificationKind::CertificateExpiration, Some(news)) = (news.kind, certificate) {
        let days = if news.not_after > now { news.not_after.since(now).as_secs() / 86_400 } else { 0 };
        more.insert("certificate_subject".to_owned(), json!(news.subject));
        more.insert("certificate_not_after".to_owned(), json!(news.not_after));
        more.insert("certificate_days_left".to_owned(), json!(days));
    }
    more
}

/// Names what is told to whom; a repeat of the same news makes the same key, which the store drops and receivers
/// get as idempotency key.
pub(super) fn deduplication_key(
    content: &NotificationContent,
    recipient: crate::domain::RecipientId,
) -> String {
    let about = match (content.episode, content.check_id) {
        (Some(episode), _) => episode.to_string(),
        (None, Some(check)) => check.to_string(),
        (None, None) => content.monitor_id.map_or_else(String::new, |monitor| format!("m{monitor}")),
    };
    format!("{}-{about}-{}-{recipient}", content.kind.name(), content.at.as_micros())
}

/// Results that a notice about `news` is written from.
pub(super) fn referenced_results(draft: &NotificationDraft) -> impl Iterator<Item = &LocationResult> {
    draft.deciding_result.iter().chain(&draft.location_results)
}

/// Finds results in `at_hand` and then in `fetched`.
pub(super) fn find_result<'a>(
    at_hand: &HashMap<CheckId, &'a CheckResult>,
    fetched: &'a HashMap<CheckId, CheckResult>,
    id: CheckId,
) -> Option<&'a CheckResult> {
    at_hand.get(&id).copied().or_else(|| fetched.get(&id))
}
