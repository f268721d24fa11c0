//! Results of the whole page as the browser loaded it: full page checks, and the fingerprint that detects content
//! changes (behaviour.md 4, fields.md 3).

use std::collections::HashSet;
use std::time::Duration;

use super::dom::{self, TextReading, TextSource};
use super::network_results::is_favicon;
use super::time_budget::WaitLimit;
use crate::browser::BrowserSession;
use crate::domain::{
    Failure, FailureKind, HttpFacts, Observation, PageLoad, PageObject, PageObjectKind, Phase, StepResult,
    Warning,
};
use crate::probe::full_page_rule::FullPageRule;
use crate::webpage::text_fingerprint;

/// Returns the facts that detect a content change, of the page that the script ended on; `steps` are those that ran.
pub(super) async fn last_page_facts(session: &BrowserSession, steps: &[StepResult]) -> Option<HttpFacts> {
    let reading =
        dom::read_text(session, &TextSource::PageSource, None, WaitLimit::immediate(dom::query_deadline()))
            .await;
    let Ok(TextReading::Text(text, _)) = reading else { return None };
    let step = steps.last()?.browser_step.as_deref()?;
    let text_bytes = text.len() as u64;
    let text_sha256 = tokio::task::spawn_blocking(move || text_fingerprint(&text)).await.ok();
    Some(HttpFacts {
        http_status: step.http_status,
        body_wire_bytes: text_bytes,
        body_bytes: text_bytes,
        text_sha256,
        url: step.url.clone(),
        ..HttpFacts::default()
    })
}

/// Evaluates the objects of all pages of the script like those of one page: without the documents of the steps, and
/// each address once.
pub(super) fn evaluate_full_page(
    rule: &FullPageRule,
    steps: &[StepResult],
    timeout: Duration,
    observation: &mut Observation,
) {
    let mut seen_urls = HashSet::new();
    let mut page = PageLoad::default();
    for step in steps {
        let Some(browser_step) = &step.browser_step else { continue };
        page.unlisted_objects += browser_step.unlisted_objects;
        page.duration_us = page.duration_us.max(step.start_offset_us + step.duration_us);
        for object in &browser_step.objects {
            page.decoded_bytes += object.body_bytes;
            let is_counted = object.kind != PageObjectKind::Document && !is_favicon(&object.url);
            if seen_urls.insert(object.url.clone()) && is_counted {
                let mut object = PageObject {
                    start_offset_us: step.start_offset_us + object.start_offset_us,
                    ..object.clone()
                };
                let is_too_slow =
                    !object.blocked && Duration::from_micros(object.duration_us) > rule.object_timeout;
                if object.failure.is_none() && is_too_slow {
                    let detail = format!("it took longer than {} s", rule.object_timeout.as_secs());
                    object.failure = Some(Failure::new(Phase::Transfer, FailureKind::TimedOut, detail));
                }
                page.objects.push(object);
            }
        }
    }
    // Not timed out: the pages were loaded within the limits of the script.
    let failure = rule.evaluate(&page, false, timeout);
    observation.details.page_load = Some(Box::new(page));
    match failure {
        Some(failure) if rule.object_failures_fail_check => observation.record_failure(failure),
        Some(failure) => observation.warnings.push(Warning::from_page_object_failure(&failure)),
        None => {}
    }
}
