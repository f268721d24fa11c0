//! Actions that switch and close windows and frames.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::act_error::{ActError, to_act_error};
use super::assertions::resolve_condition;
use super::dom;
use super::element_failure::ELEMENT_TIMEOUT;
use super::interactions::{Interaction, interact};
use super::page_access::PageAccess;
use super::page_reads::wait_for_text;
use super::time_budget::{TimeBudget, WaitLimit};
use super::window_context::WindowContext;
use crate::browser::WebDriverError;
use crate::evaluate::template::Variables;
use crate::script::language::{Action, FrameSelector, Matcher, WindowSelector};

pub(super) async fn switch_frame(
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    frame: &FrameSelector,
    action: &Action,
) -> Result<(), ActError> {
    let mut time = budget.wait_limit(action.timeout, Some(ELEMENT_TIMEOUT));
    let id = match frame {
        FrameSelector::Parent => {
            let left = window.session.switch_to_parent_frame(time.latest).await;
            left.map_err(|error| to_act_error(window, budget, error, time.latest_kind))?;
            window.frames.pop();
            return Ok(());
        }
        FrameSelector::Top => {
            let entered = window.session.switch_to_frame(Value::Null, time.latest).await;
            entered.map_err(|error| to_act_error(window, budget, error, time.latest_kind))?;
            window.frames.clear();
            return Ok(());
        }
        FrameSelector::Index(index) => json!(index),
        FrameSelector::Element(target) => {
            let page = PageAccess { window, budget, variables };
            let id = interact(page, target, &Interaction::EnterFrame, action).await?.to_argument();
            window.frames.push(id);
            return Ok(());
        }
    };
    loop {
        let asked_at = Instant::now();
        let entered = window.session.switch_to_frame(id.clone(), time.latest).await;
        time.extend_if_late(asked_at);
        match entered {
            Ok(()) => break,
            Err(WebDriverError::NotFound(_)) if Instant::now() < time.until => dom::retry_delay().await,
            Err(error) => return Err(to_act_error(window, budget, error, time.latest_kind)),
        }
    }
    window.frames.push(id);
    Ok(())
}

pub(super) async fn close_window(
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
) -> Result<(), ActError> {
    window.read_new_window(budget).await;
    window.recover(budget).await;
    let time = budget.wait_limit(None, None);
    let closed = async {
        window.session.close_window(time.latest).await?;
        let left = window.session.windows(time.latest).await?;
        let main = window.windows.iter().find(|window| left.contains(window)).or(left.first());
        match main {
            Some(main) => window.session.switch_to_window(main, time.latest).await,
            None => Err(WebDriverError::SessionLost("the last window was closed".to_owned())),
        }
    };
    closed.await.map_err(|error| to_act_error(window, budget, error, time.latest_kind))?;
    window.frames.clear();
    Ok(())
}

pub(super) async fn switch_window(
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    choice: &WindowSelector,
    action: &Action,
) -> Result<(), ActError> {
    window.read_new_window(budget).await;
    window.recover(budget).await;
    let mut time = budget.wait_limit(action.timeout, Some(ELEMENT_TIMEOUT));
    loop {
        let asked_at = Instant::now();
        let entered = enter_chosen(window, budget, variables, choice, time).await?;
        time.extend_if_late(asked_at);
        if entered {
            window.frames.clear();
            return Ok(());
        }
        if Instant::now() >= time.until {
            let reason = format!("none of the {} windows matches", window.windows.len());
            return Err(to_act_error(window, budget, WebDriverError::NotFound(reason), time.until_kind));
        }
        dom::retry_delay().await;
    }
}

/// Searches the windows in order for the first whose title or address matches.
async fn find_window(
    page: PageAccess<'_>,
    source: &dom::TextSource<'_>,
    condition: &Matcher,
    time: WaitLimit,
) -> Result<Option<String>, ActError> {
    let condition = resolve_condition(page, condition)?;
    for window in &page.window.windows {
        if page.session().switch_to_window(window, time.latest).await.is_err() {
            continue;
        }
        if wait_for_text(page, source, time.without_wait(), &condition).await?.is_ok() {
            return Ok(Some(window.clone()));
        }
    }
    Ok(None)
}

/// Switches to the window of `selector`; returns `false` when no such window is open yet.
async fn enter_chosen(
    window: &mut WindowContext<'_>,
    budget: &TimeBudget,
    variables: &Variables,
    choice: &WindowSelector,
    time: WaitLimit,
) -> Result<bool, ActError> {
    let open = window.session.windows(time.latest).await;
    let open = open.map_err(|error| to_act_error(window, budget, error, time.latest_kind))?;
    window.windows.retain(|known| open.contains(known));
    let main = window.windows.first().cloned();
    let new: Vec<String> = open.iter().filter(|found| !window.windows.contains(found)).cloned().collect();
    window.windows.extend(new);
    let page = PageAccess { window, budget, variables };
    let selected = match choice {
        WindowSelector::Main => main,
        WindowSelector::Newest => window.windows.last().filter(|_| window.windows.len() > 1).cloned(),
        WindowSelector::Index(index) => window.windows.get(*index as usize).cloned(),
        WindowSelector::Title(matcher) => find_window(page, &dom::TextSource::Title, matcher, time).await?,
        WindowSelector::Url(matcher) => find_window(page, &dom::TextSource::Url, matcher, time).await?,
    };
    let Some(chosen) = selected else { return Ok(false) };
    let entered = window.enter_window(chosen, time.latest).await;
    entered.map_err(|error| to_act_error(window, budget, error, time.latest_kind))?;
    Ok(true)
}
