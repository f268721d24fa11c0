//! Interactions with one element, retried while the element changes or does not accept them yet.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::action_error::ActionError;
use super::current_page::CurrentPage;
use super::dom::{self, ElementLookup};
use super::element_lookup_failure::{DEFAULT_ELEMENT_WAIT, element_lookup_failure};
use crate::browser::{BrowserSession, ElementRef, WebDriverError};
use crate::script::language::{Action, ElementState, ElementTarget};

/// Selects options of a `select`, and fires its events.
const SELECT_OPTION_SCRIPT: &str = include_str!("select_option.js");
const IS_CHECKED_SCRIPT: &str = "return Boolean(arguments[0].checked);";
const SCROLL_TO_CENTER_SCRIPT: &str = "arguments[0].scrollIntoView({block: 'center', inline: 'center'});";

/// An interaction with an element.
#[derive(Debug)]
pub(super) enum Interaction {
    Click,
    /// Moves the pointer over the element and clicks this many times; 0 only hovers.
    MoveAndClick(u32),
    Type(String),
    Clear,
    /// Selects an option by `value`, `label` or `index`.
    SelectOption(&'static str, Value),
    SetChecked(bool),
    Focus,
    ScrollTo,
    EnterFrame,
}

impl Interaction {
    /// The state that the element must be in first.
    const fn required_state(&self) -> ElementState {
        match self {
            Self::MoveAndClick(0) => ElementState::Visible,
            Self::ScrollTo | Self::EnterFrame => ElementState::Present,
            _ => ElementState::Enabled,
        }
    }
}

/// Performs `interaction` on the element once it is possible, and returns the element.
pub(super) async fn interact(
    page: CurrentPage<'_>,
    target: &ElementTarget,
    interaction: &Interaction,
    action: &Action,
) -> Result<ElementRef, ActionError> {
    let locators = page.render_locators(target)?;
    // Finding the element has its own limit; what the interaction triggers may take until the step ends.
    let mut wait_limit = page.budget.action_wait_limit(action.timeout, Some(DEFAULT_ELEMENT_WAIT));
    loop {
        let sent_at = Instant::now();
        let lookup =
            dom::find_element(page.session(), &locators, interaction.required_state(), wait_limit).await;
        wait_limit.restart_if_response_late(sent_at);
        let element = match lookup.map_err(|error| page.dom_error_to_action_error(error, wait_limit))? {
            ElementLookup::Match(Some(element)) => element,
            lookup => return Err(element_lookup_failure(&lookup, target).into()),
        };
        match perform_interaction(page.session(), interaction, &element, wait_limit.response_deadline).await {
            Ok(()) => return Ok(element),
            Err(WebDriverError::StaleElement | WebDriverError::NotInteractable(_))
                if Instant::now() < wait_limit.retry_until =>
            {
                dom::wait_before_retry().await;
            }
            Err(error) => return Err(page.action_error(error, wait_limit.response_limit_kind)),
        }
    }
}

async fn perform_interaction(
    session: &BrowserSession,
    interaction: &Interaction,
    element: &ElementRef,
    deadline: Instant,
) -> Result<(), WebDriverError> {
    match interaction {
        Interaction::Click => session.click(element, deadline).await,
        Interaction::MoveAndClick(clicks) => move_and_click(session, *clicks, element, deadline).await,
        Interaction::Type(text) => session.type_into(element, text, deadline).await,
        Interaction::Clear => session.clear_field(element, deadline).await,
        Interaction::SelectOption(option_key, value) => {
            let arguments = vec![element.to_argument(), json!(option_key), value.clone()];
            match session.execute_script(SELECT_OPTION_SCRIPT, arguments, deadline).await?.as_str() {
                None => Ok(()),
                // The options may be added later.
                Some(reason) => Err(WebDriverError::NotInteractable(reason.to_owned())),
            }
        }
        Interaction::SetChecked(on) => set_checked(session, *on, element, deadline).await,
        Interaction::Focus => session
            .execute_script("arguments[0].focus();", vec![element.to_argument()], deadline)
            .await
            .map(drop),
        Interaction::ScrollTo => session
            .execute_script(SCROLL_TO_CENTER_SCRIPT, vec![element.to_argument()], deadline)
            .await
            .map(drop),
        Interaction::EnterFrame => session.switch_to_frame(element.to_argument(), deadline).await,
    }
}

async fn move_and_click(
    session: &BrowserSession,
    click_count: u32,
    element: &ElementRef,
    deadline: Instant,
) -> Result<(), WebDriverError> {
    session.execute_script(SCROLL_TO_CENTER_SCRIPT, vec![element.to_argument()], deadline).await?;
    let move_over =
        json!({"type": "pointerMove", "duration": 0, "origin": element.to_argument(), "x": 0, "y": 0});
    let mut actions = vec![move_over];
    for _ in 0..click_count {
        actions.push(json!({"type": "pointerDown", "button": 0}));
        actions.push(json!({"type": "pointerUp", "button": 0}));
    }
    let mouse =
        json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
    session.perform_input_actions(json!([mouse]), deadline).await
}

async fn set_checked(
    session: &BrowserSession,
    checked: bool,
    element: &ElementRef,
    deadline: Instant,
) -> Result<(), WebDriverError> {
    for clicked in [false, true] {
        if session.execute_script(IS_CHECKED_SCRIPT, vec![element.to_argument()], deadline).await? == checked
        {
            return Ok(());
        }
        if !clicked {
            session.click(element, deadline).await?;
        }
    }
    let state = if checked { "checked" } else { "unchecked" };
    Err(WebDriverError::NotInteractable(format!("a click does not make it {state}")))
}
