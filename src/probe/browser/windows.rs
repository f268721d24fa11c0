//! Actions that switch and close windows and frames.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::action_error::{ActionError, action_error};
use super::current_page::CurrentPage;
use super::dom;
use super::element_lookup_failure::DEFAULT_ELEMENT_WAIT;
use super::interactions::{Interaction, interact};
use super::page_reads::wait_for_text;
use super::script_browser::ScriptBrowser;
use super::text_condition::render_condition;
use super::time_budget::{TimeBudget, WaitLimit};
use crate::browser::WebDriverError;
use crate::evaluate::template::Variables;
use crate::script::language::{Action, FrameSelector, Matcher, WindowSelector};

pub(super) async fn switch_frame(
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    selector: &FrameSelector,
    action: &Action,
) -> Result<(), ActionError> {
    let mut wait_limit = budget.action_wait_limit(action.timeout, Some(DEFAULT_ELEMENT_WAIT));
    let frame_id = match selector {
        FrameSelector::Parent => {
            let switched = browser.session.switch_to_parent_frame(wait_limit.response_deadline).await;
            switched.map_err(|error| action_error(browser, budget, error, wait_limit.response_limit_kind))?;
            browser.entered_frames.pop();
            return Ok(());
        }
        FrameSelector::Top => {
            let entered = browser.session.switch_to_frame(Value::Null, wait_limit.response_deadline).await;
            entered.map_err(|error| action_error(browser, budget, error, wait_limit.response_limit_kind))?;
            browser.entered_frames.clear();
            return Ok(());
        }
        FrameSelector::Index(index) => json!(index),
        FrameSelector::Element(target) => {
            let page = CurrentPage { browser, budget, variables };
            let frame_id = interact(page, target, &Interaction::EnterFrame, action).await?.to_argument();
            browser.entered_frames.push(frame_id);
            return Ok(());
        }
    };
    loop {
        let sent_at = Instant::now();
        let entered = browser.session.switch_to_frame(frame_id.clone(), wait_limit.response_deadline).await;
        wait_limit.restart_if_response_late(sent_at);
        match entered {
            Ok(()) => break,
            Err(WebDriverError::NotFound(_)) if Instant::now() < wait_limit.retry_until => {
                dom::wait_before_retry().await;
            }
            Err(error) => {
                return Err(action_error(browser, budget, error, wait_limit.response_limit_kind));
            }
        }
    }
    browser.entered_frames.push(frame_id);
    Ok(())
}

pub(super) async fn close_window(
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
) -> Result<(), ActionError> {
    browser.record_requests_before_attach(budget).await;
    browser.wait_until_driver_idle(budget).await;
    let wait_limit = budget.action_wait_limit(None, None);
    let closed = async {
        browser.session.close_window(wait_limit.response_deadline).await?;
        let remaining_windows = browser.session.window_handles(wait_limit.response_deadline).await?;
        let next_window = browser
            .window_handles
            .iter()
            .find(|window_handle| remaining_windows.contains(window_handle))
            .or(remaining_windows.first());
        match next_window {
            Some(next_window) => {
                browser.session.switch_to_window(next_window, wait_limit.response_deadline).await
            }
            None => Err(WebDriverError::SessionLost("the last window was closed".to_owned())),
        }
    };
    closed.await.map_err(|error| action_error(browser, budget, error, wait_limit.response_limit_kind))?;
    browser.entered_frames.clear();
    Ok(())
}

pub(super) async fn switch_window(
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    selector: &WindowSelector,
    action: &Action,
) -> Result<(), ActionError> {
    browser.record_requests_before_attach(budget).await;
    browser.wait_until_driver_idle(budget).await;
    let mut wait_limit = budget.action_wait_limit(action.timeout, Some(DEFAULT_ELEMENT_WAIT));
    loop {
        let sent_at = Instant::now();
        let entered = enter_selected_window(browser, budget, variables, selector, wait_limit).await?;
        wait_limit.restart_if_response_late(sent_at);
        if entered {
            browser.entered_frames.clear();
            return Ok(());
        }
        if Instant::now() >= wait_limit.retry_until {
            let reason = format!("none of the {} windows matches", browser.window_handles.len());
            return Err(action_error(
                browser,
                budget,
                WebDriverError::NotFound(reason),
                wait_limit.retry_limit_kind,
            ));
        }
        dom::wait_before_retry().await;
    }
}

/// Returns the first window whose title or address matches. Switches to each window to read it, and not back.
async fn find_window_by_switching(
    page: CurrentPage<'_>,
    source: &dom::TextSource<'_>,
    matcher: &Matcher,
    wait_limit: WaitLimit,
) -> Result<Option<String>, ActionError> {
    let condition = render_condition(page, matcher)?;
    for window_handle in &page.browser.window_handles {
        if page.session().switch_to_window(window_handle, wait_limit.response_deadline).await.is_err() {
            continue;
        }
        if wait_for_text(page, source, wait_limit.without_wait(), &condition).await?.is_ok() {
            return Ok(Some(window_handle.clone()));
        }
    }
    Ok(None)
}

/// Updates the list of windows and switches to that of `selector`; returns `false` when no such window is open yet.
async fn enter_selected_window(
    browser: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    selector: &WindowSelector,
    wait_limit: WaitLimit,
) -> Result<bool, ActionError> {
    let open_windows = browser.session.window_handles(wait_limit.response_deadline).await;
    let open_windows =
        open_windows.map_err(|error| action_error(browser, budget, error, wait_limit.response_limit_kind))?;
    browser.window_handles.retain(|window_handle| open_windows.contains(window_handle));
    let main_window = browser.window_handles.first().cloned();
    let new_windows: Vec<String> = open_windows
        .iter()
        .filter(|window_handle| !browser.window_handles.contains(window_handle))
        .cloned()
        .collect();
    browser.window_handles.extend(new_windows);
    let page = CurrentPage { browser, budget, variables };
    let selected = match selector {
        WindowSelector::Main => main_window,
        WindowSelector::Newest => {
            browser.window_handles.last().filter(|_| browser.window_handles.len() > 1).cloned()
        }
        WindowSelector::Index(index) => browser.window_handles.get(*index as usize).cloned(),
        WindowSelector::Title(matcher) => {
            find_window_by_switching(page, &dom::TextSource::Title, matcher, wait_limit).await?
        }
        WindowSelector::Url(matcher) => {
            find_window_by_switching(page, &dom::TextSource::Url, matcher, wait_limit).await?
        }
    };
    let Some(chosen) = selected else { return Ok(false) };
    let entered = browser.enter_window(chosen, wait_limit.response_deadline).await;
    entered.map_err(|error| action_error(browser, budget, error, wait_limit.response_limit_kind))?;
    Ok(true)
}
