//! Records the results of a step at its end, and the page that an action failed on.

use tokio::time::Instant;

use super::action_error::{ActionError, action_error};
use super::load_error::display_url;
use super::network_results::record_network_results;
use super::options::UserExperience;
use super::page_inspection::{INSPECTION_TIMEOUT, PageReport, check_page_status, inspect_top_page};
use super::script_browser::ScriptBrowser;
use super::step_recorder::StepRecorder;
use super::time_budget::TimeBudget;
use crate::browser::WebDriverError;
use crate::domain::{Failure, FailureKind, PageTiming};
use crate::redaction::redactor::Redactor;

/// Which results of pages a monitor records and evaluates.
#[derive(Clone, Copy)]
pub(super) struct PageResultOptions {
    pub(super) user_experience: UserExperience,
    /// Whether documents of other sites that could not be loaded are failures.
    pub(super) third_party_document_errors: bool,
}

/// Records the results of a step at its end, and fails when the page is an error page. An open dialog hides the page;
/// that is no failure if the next action answers the dialog.
pub(super) async fn record_step_end(
    recorder: &mut StepRecorder<'_>,
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    redactor: &Redactor,
    result_options: PageResultOptions,
    next_action_answers_dialog: bool,
) -> Result<(), Failure> {
    let experience = result_options.user_experience;
    let wait_limit = budget.action_wait_limit(None, None);
    let deadline = wait_limit.response_deadline.max(Instant::now() + INSPECTION_TIMEOUT);
    let report = match inspect_top_page(browser, experience, deadline).await {
        Ok(report) => report,
        Err(WebDriverError::DialogOpen(_)) if next_action_answers_dialog => return Ok(()),
        Err(WebDriverError::DialogOpen(text)) => {
            return Err(browser.dismiss_unexpected_dialog("the end of the step", &text).await);
        }
        Err(error) => {
            return match action_error(browser, budget, error, wait_limit.response_limit_kind) {
                ActionError::Failed(failure) => Err(failure),
                ActionError::DialogOpen(_) => Ok(()),
            };
        }
    };
    let (is_new_document, timing) = (
        report.time_origin != browser.inspected_document_id,
        report.page_timing(experience != UserExperience::Off),
    );
    browser.inspected_document_id.clone_from(&report.time_origin);
    browser.viewport.get_or_insert(report.viewport);
    if is_new_document {
        recorder.current_step().phases = timing.phases;
    }
    record_page(recorder, redactor, &report, is_new_document, timing);
    let page_result = check_page_status(browser, &report).await;
    let frames_result = record_network_results(
        recorder,
        browser,
        budget,
        redactor,
        result_options.third_party_document_errors,
    )
    .await;
    page_result.and(frames_result)
}

/// Records the page that an action failed on, if the browser still responds.
pub(super) async fn record_failed_page(
    recorder: &mut StepRecorder<'_>,
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    redactor: &Redactor,
    result_options: PageResultOptions,
    failure: &Failure,
) {
    let is_browser_lost = matches!(failure.kind, FailureKind::BrowserFailed | FailureKind::BrowserTimedOut);
    if is_browser_lost || browser.session.is_driver_busy() {
        return;
    }
    if let Ok(report) =
        inspect_top_page(browser, UserExperience::Off, Instant::now() + INSPECTION_TIMEOUT).await
    {
        record_page(
            recorder,
            redactor,
            &report,
            report.time_origin != browser.inspected_document_id,
            report.page_timing(false),
        );
    }
    // The failure of the action is reported, whatever else failed.
    let _ = record_network_results(
        recorder,
        browser,
        budget,
        redactor,
        result_options.third_party_document_errors,
    )
    .await;
}

/// Records the inspected page in the step, with its `timing` if the document was loaded in this step.
fn record_page(
    recorder: &mut StepRecorder<'_>,
    redactor: &Redactor,
    report: &PageReport,
    is_new_document: bool,
    timing: PageTiming,
) {
    let step = recorder.current_browser_step();
    step.url = redactor.redact(&display_url(&report.url)).into_owned();
    step.title = redactor.redact(&report.title).into_owned();
    if is_new_document {
        step.http_status = report.http_status;
        step.timing = Some(timing);
    }
}
