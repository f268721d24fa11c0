//! What is kept of a step when it ends, and of the page that an act failed on.

use tokio::time::Instant;

use super::act_error::{ActError, to_act_error};
use super::inspect::{INSPECT_TIMEOUT, PageReport, evaluate_page, inspect_top};
use super::load_error::display_url;
use super::network_results::collect_network;
use super::options::UserExperience;
use super::step_recorder::StepRecorder;
use super::time_budget::TimeBudget;
use super::window_context::WindowContext;
use crate::browser::WebDriverError;
use crate::domain::{Failure, FailureKind, PageTiming};
use crate::redaction::redactor::Redactor;

/// What a monitor wants to know of the pages of its steps.
#[derive(Clone, Copy)]
pub(super) struct PageRules {
    pub(super) experience: UserExperience,
    /// Whether documents of other sites that could not be loaded count.
    pub(super) third_party_documents: bool,
}

/// What is kept of a step at its end; the page must be good then too. A dialog that is open hides it: that is no
/// failure where the next act `answers` it.
pub(super) async fn end_of_step(
    recorder: &mut StepRecorder<'_>,
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    masks: &Redactor,
    rules: PageRules,
    answers: bool,
) -> Result<(), Failure> {
    let experience = rules.experience;
    let time = budget.wait_limit(None, None);
    let latest = time.latest.max(Instant::now() + INSPECT_TIMEOUT);
    let seen = match inspect_top(window, experience, latest).await {
        Ok(seen) => seen,
        Err(WebDriverError::DialogOpen(_)) if answers => return Ok(()),
        Err(WebDriverError::DialogOpen(text)) => {
            return Err(window.dismiss_dialog("the end of the step", &text).await);
        }
        Err(trouble) => {
            return match to_act_error(window, budget, trouble, time.ending) {
                ActError::Failed(failure) => Err(failure),
                ActError::DialogOpen(_) => Ok(()),
            };
        }
    };
    let (new, timing) = (seen.origin != window.document, seen.page_timing(experience != UserExperience::Off));
    window.document.clone_from(&seen.origin);
    window.viewport.get_or_insert(seen.viewport);
    if new {
        recorder.step().phases = timing.phases;
    }
    record_page(recorder, masks, &seen, new, timing);
    let good = evaluate_page(window, &seen).await;
    let documents = collect_network(recorder, window, budget, masks, rules.third_party_documents).await;
    good.and(documents)
}

/// What is learned of the page that an act failed on, as far as the browser still answers.
pub(super) async fn record_evidence(
    recorder: &mut StepRecorder<'_>,
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    masks: &Redactor,
    rules: PageRules,
    failure: &Failure,
) {
    let is_lost = matches!(failure.kind, FailureKind::BrowserFailed | FailureKind::BrowserTimedOut);
    if is_lost || window.session.is_busy() {
        return;
    }
    if let Ok(seen) = inspect_top(window, UserExperience::Off, Instant::now() + INSPECT_TIMEOUT).await {
        record_page(recorder, masks, &seen, seen.origin != window.document, seen.page_timing(false));
    }
    // The act decides.
    let _ = collect_network(recorder, window, budget, masks, rules.third_party_documents).await;
}

/// Keeps in the step what was seen of the page, with its `timing` when it is `new` to the step.
fn record_page(
    recorder: &mut StepRecorder<'_>,
    masks: &Redactor,
    seen: &PageReport,
    new: bool,
    timing: PageTiming,
) {
    let played = recorder.browser_step();
    played.url = masks.redact(&display_url(&seen.url)).into_owned();
    played.title = masks.redact(&seen.title).into_owned();
    if new {
        played.http_status = seen.status;
        played.timing = Some(timing);
    }
}
