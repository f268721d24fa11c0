//! Actions that open addresses, press keys, scroll, answer dialogs and run the script's JavaScript.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::action_error::{ActionError, action_error};
use super::current_page::CurrentPage;
use super::dom;
use super::element_lookup_failure::DEFAULT_ELEMENT_WAIT;
use super::interactions::{Interaction, interact};
use super::page_inspection::{check_opened_page, reject_download_or_empty};
use super::script_browser::ScriptBrowser;
use super::time_budget::{DRIVER_GRACE, LimitKind, TimeBudget};
use crate::browser::WebDriverError;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{EscapeContext, Variables};
use crate::script::language::{Action, ActionKind, DialogResponse, ElementTarget, KeyChord, OptionSelector};
use crate::syntax::template::{TemplatePart, parse_template};

/// Sets the driver's page load and script timeouts for `action`; without one, for the rest of the step.
pub(super) async fn set_driver_timeouts(
    browser: &mut ScriptBrowser<'_>,
    budget: &mut TimeBudget,
    action: Option<&Action>,
) -> Result<(), ActionError> {
    // Drivers take whole milliseconds. Round up by up to 50 ms so that they do not time out early.
    let round_up_to_50_ms = |time: Duration| {
        Duration::from_millis(50 * (u64::try_from(time.as_millis()).unwrap_or(u64::MAX) / 50 + 1))
    };
    let (page_load_timeout, limit_kind) = budget.page_load_limit(action.and_then(own_page_load_timeout));
    budget.set_page_load_limit_kind(limit_kind);
    let page_load_timeout = if matches!(limit_kind, LimitKind::PageLoad | LimitKind::OwnPageLoad(_)) {
        page_load_timeout
    } else {
        round_up_to_50_ms(page_load_timeout)
    };
    let (deadline, _) = budget.deadline_for(action.and_then(|action| action.timeout));
    // Our own queries end by themselves, so the driver waits longer; the script's JavaScript is ended by the driver.
    let runs_javascript = action.is_some_and(|action| matches!(action.kind, ActionKind::RunJs { .. }));
    let grace = if runs_javascript { Duration::ZERO } else { 2 * DRIVER_GRACE };
    let script_timeout = round_up_to_50_ms(deadline.saturating_duration_since(Instant::now()) + grace);
    match browser.session.set_timeouts(page_load_timeout, script_timeout, dom::query_deadline()).await {
        // The next command reports the dialog.
        Ok(()) | Err(WebDriverError::DialogOpen(_)) => Ok(()),
        Err(error) => Err(action_error(browser, budget, error, LimitKind::Step)),
    }
}

/// Navigates to `url`, an absolute URL.
pub(super) async fn open_url(
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    url: &str,
    action: &Action,
) -> Result<(), ActionError> {
    let (page_load_limit, _) = budget.page_load_limit(own_page_load_timeout(action));
    let response_deadline = Instant::now() + page_load_limit + DRIVER_GRACE;
    match browser.session.navigate(url, response_deadline).await {
        Ok(()) => check_opened_page(browser, budget, response_deadline).await,
        Err(WebDriverError::TimedOut) => Err(Failure::new(
            Phase::RunScript,
            FailureKind::BrowserTimedOut,
            "the driver did not report that the page load took too long",
        )
        .into()),
        Err(error) => {
            // When the response is a download, Firefox waits for a page until the timeout.
            if error == WebDriverError::PageTimedOut {
                reject_download_or_empty(browser, true).await?;
            }
            Err(action_error(browser, budget, error, LimitKind::PageLoad))
        }
    }
}

/// Returns how the option is selected, and the value to select it by.
pub(super) fn option_key_and_value(
    page: CurrentPage<'_>,
    option: &OptionSelector,
) -> Result<(&'static str, Value), Failure> {
    Ok(match option {
        OptionSelector::Value(text) => ("value", Value::String(page.render(text, EscapeContext::Value)?)),
        OptionSelector::Label(text) => ("label", Value::String(page.render(text, EscapeContext::Value)?)),
        OptionSelector::Index(index) => ("index", json!(index)),
    })
}

pub(super) async fn press_key(
    page: CurrentPage<'_>,
    key: &str,
    target: Option<&ElementTarget>,
    action: &Action,
) -> Result<(), ActionError> {
    let Some(KeyChord { modifiers, key }) = KeyChord::parse(key) else {
        return Err(Failure::new(
            Phase::RunScript,
            FailureKind::ScriptInvalid,
            format!("`{key}` is not a key"),
        )
        .into());
    };
    if let Some(target) = target {
        interact(page, target, &Interaction::Focus, action).await?;
    }
    let (deadline, limit_kind) = page.budget.deadline_for(action.timeout);
    let keys: Vec<char> = modifiers.into_iter().chain([key]).collect();
    let key_down_events = keys.iter().map(|key| json!({"type": "keyDown", "value": key}));
    let key_up_events = keys.iter().rev().map(|key| json!({"type": "keyUp", "value": key}));
    let actions: Vec<Value> = key_down_events.chain(key_up_events).collect();
    let sources = json!([{"type": "key", "id": "keyboard", "actions": actions}]);
    page.session()
        .perform_input_actions(sources, deadline + DRIVER_GRACE)
        .await
        .map_err(|error| page.action_error(error, limit_kind))
}

pub(super) async fn scroll(
    page: CurrentPage<'_>,
    to: Option<&ElementTarget>,
    offset: (i64, i64),
    action: &Action,
) -> Result<(), ActionError> {
    if let Some(target) = to {
        interact(page, target, &Interaction::ScrollTo, action).await?;
    }
    if offset == (0, 0) {
        return Ok(());
    }
    let (deadline, limit_kind) = page.budget.deadline_for(action.timeout);
    let scrolled = page.session().execute_script(
        "window.scrollBy(arguments[0], arguments[1]);",
        vec![json!(offset.0), json!(offset.1)],
        deadline + DRIVER_GRACE,
    );
    scrolled.await.map(drop).map_err(|error| page.action_error(error, limit_kind))
}

/// Answers the dialog that is open, or that opens in time.
pub(super) async fn answer_dialog(
    page: CurrentPage<'_>,
    response: &DialogResponse,
    action: &Action,
) -> Result<(), ActionError> {
    let wait_limit = page.budget.action_wait_limit(action.timeout, Some(DEFAULT_ELEMENT_WAIT));
    let text = match response {
        DialogResponse::AcceptWithText(text) => Some(page.render(text, EscapeContext::Value)?),
        DialogResponse::Accept | DialogResponse::Dismiss => None,
    };
    let accept = *response != DialogResponse::Dismiss;
    loop {
        match page.session().close_dialog(accept, text.as_deref(), wait_limit.response_deadline).await {
            Ok(()) => return Ok(()),
            Err(WebDriverError::NoDialog) if Instant::now() < wait_limit.retry_until => {
                dom::wait_before_retry().await;
            }
            Err(error) => return Err(page.action_error(error, wait_limit.response_limit_kind)),
        }
    }
}

/// Runs `code` in the page and returns its result as text.
pub(super) async fn run_js(
    page: CurrentPage<'_>,
    code: &str,
    action: &Action,
) -> Result<String, ActionError> {
    let (deadline, limit_kind) = page.budget.deadline_for(action.timeout);
    let script = substitute_variables(page.variables, code)?;
    let result = page.session().execute_script(&script, Vec::new(), deadline + DRIVER_GRACE).await;
    Ok(match result.map_err(|error| page.action_error(error, limit_kind))? {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    })
}

/// Returns `code` with each placeholder replaced by a JavaScript string literal, so that no value becomes code.
fn substitute_variables(variables: &Variables, code: &str) -> Result<String, Failure> {
    let mut script = String::with_capacity(code.len());
    for part in parse_template(code) {
        match part {
            TemplatePart::Text(text) => script.push_str(text),
            TemplatePart::Placeholder(name) => {
                let unknown = || {
                    let detail = format!("`{{{{{name}}}}}` was not set by an earlier act");
                    Failure::new(Phase::RunScript, FailureKind::VariableNotSet, detail)
                };
                script.push_str(&json!(variables.get(name).ok_or_else(unknown)?).to_string());
            }
        }
    }
    Ok(script)
}

/// Returns the page load limit of `action` itself, if it has one.
fn own_page_load_timeout(action: &Action) -> Option<Duration> {
    action.timeout.filter(|_| matches!(action.kind, ActionKind::Open { .. }))
}
