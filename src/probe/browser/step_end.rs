//! Records the results of a step at its end, and the page that an action failed on.

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

/// Which results of pages a monitor records and evaluates.
#[derive(Clone, Copy)]
pub(super) struct PageRules {
    pub(super) experience: UserExperience,
    /// Whether documents of other sites that could not be loaded are failures.
    pub(super) third_party_document_errors: bool,
}

/// Records the results of a step at its end, and fails when the page is an error page. An open dialog hides the page;
/// that is no failure if the next action answers the dialog.
pub(super) async fn end_of_step(
    recorder: &mut StepRecorder<'_>,
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    redactor: &Redactor,
    rules: PageRules,
    answers: bool,
) -> Result<(), Failure> {
    let experience = rules.experience;
    let time = budget.wait_limit(None, None);
    let latest = time.latest.max(Instant::now() + INSPECT_TIMEOUT);
    let report = match inspect_top(window, experience, latest).await {
        Ok(report) => report,
        Err(WebDriverError::DialogOpen(_)) if answers => return Ok(()),
        Err(WebDriverError::DialogOpen(text)) => {
            return Err(window.dismiss_dialog("the end of the step", &text).await);
        }
        Err(error) => {
            return match to_act_error(window, budget, error, time.latest_kind) {
                ActError::Failed(failure) => Err(failure),
                ActError::DialogOpen(_) => Ok(()),
            };
        }
    };
    let (is_new, timing) =
        (report.origin != window.document, report.page_timing(experience != UserExperience::Off));
    window.document.clone_from(&report.origin);
    window.viewport.get_or_insert(report.viewport);
    if is_new {
        recorder.step().phases = timing.phases;
    }
    record_page(recorder, redactor, &report, is_new, timing);
    let page = evaluate_page(window, &report).await;
    let documents =
        collect_network(recorder, window, budget, redactor, rules.third_party_document_errors).await;
    page.and(documents)
}

/// Records the page that an action failed on, if the browser still responds.
pub(super) async fn record_evidence(
    recorder: &mut StepRecorder<'_>,
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    redactor: &Redactor,
    rules: PageRules,
    failure: &Failure,
) {
    let is_lost = matches!(failure.kind, FailureKind::BrowserFailed | FailureKind::BrowserTimedOut);
    if is_lost || window.session.is_busy() {
        return;
    }
    if let Ok(report) = inspect_top(window, UserExperience::Off, Instant::now() + INSPECT_TIMEOUT).await {
        record_page(recorder, redactor, &report, report.origin != window.document, report.page_timing(false));
    }
    // The failure of the action is reported, whatever else failed.
    let _ = collect_network(recorder, window, budget, redactor, rules.third_party_document_errors).await;
}

/// Records the inspected page in the step, with its `timing` if the document was loaded in this step.
fn record_page(
    recorder: &mut StepRecorder<'_>,
    redactor: &Redactor,
    report: &PageReport,
    is_new: bool,
    timing: PageTiming,
) {
    let step = recorder.browser_step();
    step.url = redactor.redact(&display_url(&report.url)).into_owned();
    step.title = redactor.redact(&report.title).into_owned();
    if is_new {
        step.http_status = report.status;
        step.timing = Some(timing);
    }
}
