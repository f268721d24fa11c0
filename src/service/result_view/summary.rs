//! Summaries of a check in one line, and its reduced form for lists.

use crate::domain::{CheckResult, CheckTrigger, Outcome};

/// Describes the status codes of `result`; empty when it is ok.
#[must_use]
pub fn status_description(result: &CheckResult) -> String {
    match (result.outcome, result.warning_status) {
        (Outcome::Ok, _) => String::new(),
        (_, Some(status)) => format!("status {} after {status} ({})", result.status, status.text()),
        _ => format!("status {} ({})", result.status, result.status_text),
    }
}

/// Returns the status code and the deciding reason of `result`; empty for a run that passed.
#[must_use]
pub fn deciding_reason(result: &CheckResult) -> String {
    match (result.reasons.first(), result.status.0, result.warning_status) {
        (Some(reason), 0, None) => reason.clone(),
        (Some(reason), 0, Some(status)) => format!("{status}: {reason}"),
        (Some(reason), status, _) => format!("{status}: {reason}"),
        (None, 0, None) => String::new(),
        (None, 0, Some(status)) => format!("{status}: {}", status.text()),
        (None, status, _) => format!("{status}: {}", result.status_text),
    }
}

/// Returns what sets the check apart from those that reports count; empty for a check of a planned run.
#[must_use]
pub fn trigger_text(result: &CheckResult) -> &'static str {
    match result.trigger {
        CheckTrigger::Schedule => "",
        CheckTrigger::First => "first check",
        CheckTrigger::OnDemand => "on demand",
    }
}

/// Returns which monitors suppress the error of `result`; empty when none does.
#[must_use]
pub fn suppression_text(result: &CheckResult) -> String {
    let ids: Vec<String> = result.suppressed_by.iter().map(ToString::to_string).collect();
    match ids.as_slice() {
        [] => String::new(),
        [id] => format!("suppressed: monitor {id} is down"),
        _ => format!("suppressed: monitors {} are down", ids.join(", ")),
    }
}

/// Removes exchanges, browser objects and console messages, most of the size of a result, for long lists.
#[must_use]
pub fn without_exchanges_and_objects(mut result: CheckResult) -> CheckResult {
    result.details.exchanges.clear();
    for step in &mut result.details.steps {
        step.exchanges.clear();
        if let Some(browser) = &mut step.browser_step {
            browser.objects.clear();
            browser.console.clear();
        }
    }
    result
}
