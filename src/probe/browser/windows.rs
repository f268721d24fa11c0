//! Actions that switch and close windows and frames.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::act_error::{ActionError, to_action_error};
use super::assertions::render_condition;
use super::dom;
use super::element_failure::DEFAULT_ELEMENT_WAIT;
use super::interactions::{Interaction, interact};
use super::page_access::PageAccess;
use super::page_reads::wait_for_text;
use super::time_budget::{TimeBudget, WaitLimit};
use super::window_context::ScriptBrowser;
use crate::browser::WebDriverError;
use crate::evaluate::template::Variables;
use crate::script::language::{Action, FrameSelector, Matcher, WindowSelector};

pub(super) async fn switch_frame(
    window: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    frame: &FrameSelector,
    action: &Action,
) -> Result<(), ActionError> {
    let mut time = budget.action_wait_limit(action.timeout, Some(DEFAULT_ELEMENT_WAIT));
    let id = match frame {
        FrameSelector::Parent => {
            let left = window.session.switch_to_parent_frame(time.response_deadline).await;
            left.map_err(|error| to_action_error(window, budget, error, time.response_limit_kind))?;
            window.entered_frames.pop();
            return Ok(());
        }
        FrameSelector::Top => {
            let entered = window.session.switch_to_frame(Value::Null, time.response_deadline).await;
            entered.map_err(|error| to_action_error(window, budget, error, time.response_limit_kind))?;
            window.entered_frames.clear();
            return Ok(());
        }
        FrameSelector::Index(index) => json!(index),
        FrameSelector::Element(target) => {
            let page = PageAccess { browser: window, budget, variables };
            let id = interact(page, target, &Interaction::EnterFrame, action).await?.to_argument();
            window.entered_frames.push(id);
            return Ok(());
        }
    };
    loop {
        let asked_at = Instant::now();
        let entered = window.session.switch_to_frame(id.clone(), time.response_deadline).await;
        time.restart_if_response_late(asked_at);
        match entered {
            Ok(()) => break,
            Err(WebDriverError::NotFound(_)) if Instant::now() < time.retry_until => {
                dom::wait_before_retry().await
            }
            Err(error) => return Err(to_action_error(window, budget, error, time.response_limit_kind)),
        }
    }
    window.entered_frames.push(id);
    Ok(())
}

pub(super) async fn close_window(
    window: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
) -> Result<(), ActionError> {
    window.record_requests_before_attach(budget).await;
    window.wait_until_driver_idle(budget).await;
    let time = budget.action_wait_limit(None, None);
    let closed = async {
        window.session.close_window(time.response_deadline).await?;
        let left = window.session.window_handles(time.response_deadline).await?;
        let main = window.window_handles.iter().find(|window| left.contains(window)).or(left.first());
        match main {
            Some(main) => window.session.switch_to_window(main, time.response_deadline).await,
            None => Err(WebDriverError::SessionLost("the last window was closed".to_owned())),
        }
    };
    closed.await.map_err(|error| to_action_error(window, budget, error, time.response_limit_kind))?;
    window.entered_frames.clear();
    Ok(())
}

pub(super) async fn switch_window(
    window: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    choice: &WindowSelector,
    action: &Action,
) -> Result<(), ActionError> {
    window.record_requests_before_attach(budget).await;
    window.wait_until_driver_idle(budget).await;
    let mut time = budget.action_wait_limit(action.timeout, Some(DEFAULT_ELEMENT_WAIT));
    loop {
        let asked_at = Instant::now();
        let entered = enter_selected_window(window, budget, variables, choice, time).await?;
        time.restart_if_response_late(asked_at);
        if entered {
            window.entered_frames.clear();
            return Ok(());
        }
        if Instant::now() >= time.retry_until {
            let reason = format!("none of the {} windows matches", window.window_handles.len());
            return Err(to_action_error(
                window,
                budget,
                WebDriverError::NotFound(reason),
                time.retry_limit_kind,
            ));
        }
        dom::wait_before_retry().await;
    }
}

/// Searches the windows in order for the first whose title or address matches.
async fn find_window(
    page: PageAccess<'_>,
    source: &dom::TextSource<'_>,
    condition: &Matcher,
    time: WaitLimit,
) -> Result<Option<String>, ActionError> {
    let condition = render_condition(page, condition)?;
    for window in &page.browser.window_handles {
        if page.session().switch_to_window(window, time.response_deadline).await.is_err() {
            continue;
        }
        if wait_for_text(page, source, time.without_wait(), &condition).await?.is_ok() {
            return Ok(Some(window.clone()));
        }
    }
    Ok(None)
}

/// Switches to the window of `selector`; returns `false` when no such window is open yet.
async fn enter_selected_window(
    window: &mut ScriptBrowser<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    choice: &WindowSelector,
    time: WaitLimit,
) -> Result<bool, ActionError> {
    let open = window.session.window_handles(time.response_deadline).await;
    let open = open.map_err(|error| to_action_error(window, budget, error, time.response_limit_kind))?;
    window.window_handles.retain(|known| open.contains(known));
    let main = window.window_handles.first().cloned();
    let new: Vec<String> =
        open.iter().filter(|found| !window.window_handles.contains(found)).cloned().collect();
    window.window_handles.extend(new);
    let page = PageAccess { browser: window, budget, variables };
    let selected = match choice {
        WindowSelector::Main => main,
        WindowSelector::Newest => {
            window.window_handles.last().filter(|_| window.window_handles.len() > 1).cloned()
        }
        WindowSelector::Index(index) => window.window_handles.get(*index as usize).cloned(),
        WindowSelector::Title(matcher) => find_window(page, &dom::TextSource::Title, matcher, time).await?,
        WindowSelector::Url(matcher) => find_window(page, &dom::TextSource::Url, matcher, time).await?,
    };
    let Some(chosen) = selected else { return Ok(false) };
    let entered = window.enter_window(chosen, time.response_deadline).await;
    entered.map_err(|error| to_action_error(window, budget, error, time.response_limit_kind))?;
    Ok(true)
}
