//! Interactions with one element, retried while the element changes or does not accept them yet.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::act_error::ActError;
use super::dom::{self, ElementLookup};
use super::element_failure::{ELEMENT_TIMEOUT, element_failure};
use super::page_access::PageAccess;
use crate::browser::{BrowserSession, ElementRef, WebDriverError};
use crate::script::language::{Action, ElementState, ElementTarget};

/// Selects options of a `select`, and fires its events.
const SELECT_OPTION_SCRIPT: &str = include_str!("select_option.js");
const CHECKED: &str = "return Boolean(arguments[0].checked);";
const TO_CENTER: &str = "arguments[0].scrollIntoView({block: 'center', inline: 'center'});";

/// An interaction with an element.
#[derive(Debug)]
pub(super) enum Interaction {
    Click,
    /// Moves the pointer over the element and clicks this many times; 0 only hovers.
    Pointer(u32),
    Type(String),
    Clear,
    /// Selects an option by `value`, `label` or `index`.
    SelectOption(&'static str, Value),
    Check(bool),
    Focus,
    ScrollTo,
    EnterFrame,
}

impl Interaction {
    /// The state that the element must be in first.
    const fn required_state(&self) -> ElementState {
        match self {
            Self::Pointer(0) => ElementState::Visible,
            Self::ScrollTo | Self::EnterFrame => ElementState::Present,
            _ => ElementState::Enabled,
        }
    }
}

/// Performs `interaction` on the element once it is possible, and returns the element.
pub(super) async fn interact(
    page: PageAccess<'_>,
    target: &ElementTarget,
    interaction: &Interaction,
    action: &Action,
) -> Result<ElementRef, ActError> {
    let locators = page.locator_args(target)?;
    // Finding the element has its own limit; what the interaction triggers may take until the step ends.
    let mut time = page.budget.wait_limit(action.timeout, Some(ELEMENT_TIMEOUT));
    loop {
        let asked_at = Instant::now();
        let found = dom::find_element(page.session(), &locators, interaction.required_state(), time).await;
        time.extend_if_late(asked_at);
        let element = match found.map_err(|error| page.dom_failure(error, time))? {
            ElementLookup::Match(Some(element)) => element,
            found => return Err(element_failure(&found, target).into()),
        };
        match perform(page.session(), interaction, &element, time.latest).await {
            Ok(()) => return Ok(element),
            Err(WebDriverError::StaleElement | WebDriverError::NotInteractable(_))
                if Instant::now() < time.until =>
            {
                dom::retry_delay().await;
            }
            Err(error) => return Err(page.act_error(error, time.latest_kind)),
        }
    }
}

async fn perform(
    session: &BrowserSession,
    interaction: &Interaction,
    element: &ElementRef,
    until: Instant,
) -> Result<(), WebDriverError> {
    match interaction {
        Interaction::Click => session.click(element, until).await,
        Interaction::Pointer(clicks) => point(session, *clicks, element, until).await,
        Interaction::Type(text) => session.type_into(element, text, until).await,
        Interaction::Clear => session.clear(element, until).await,
        Interaction::SelectOption(by, value) => {
            let arguments = vec![element.to_argument(), json!(by), value.clone()];
            match session.execute(SELECT_OPTION_SCRIPT, arguments, until).await?.as_str() {
                None => Ok(()),
                // The options may be added later.
                Some(reason) => Err(WebDriverError::NotInteractable(reason.to_owned())),
            }
        }
        Interaction::Check(on) => check(session, *on, element, until).await,
        Interaction::Focus => {
            session.execute("arguments[0].focus();", vec![element.to_argument()], until).await.map(drop)
        }
        Interaction::ScrollTo => {
            session.execute(TO_CENTER, vec![element.to_argument()], until).await.map(drop)
        }
        Interaction::EnterFrame => session.switch_to_frame(element.to_argument(), until).await,
    }
}

async fn point(
    session: &BrowserSession,
    clicks: u32,
    element: &ElementRef,
    until: Instant,
) -> Result<(), WebDriverError> {
    session.execute(TO_CENTER, vec![element.to_argument()], until).await?;
    let move_over =
        json!({"type": "pointerMove", "duration": 0, "origin": element.to_argument(), "x": 0, "y": 0});
    let mut actions = vec![move_over];
    for _ in 0..clicks {
        actions.push(json!({"type": "pointerDown", "button": 0}));
        actions.push(json!({"type": "pointerUp", "button": 0}));
    }
    let mouse =
        json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
    session.perform_actions(json!([mouse]), until).await
}

async fn check(
    session: &BrowserSession,
    on: bool,
    element: &ElementRef,
    until: Instant,
) -> Result<(), WebDriverError> {
    for clicked in [false, true] {
        if session.execute(CHECKED, vec![element.to_argument()], until).await? == on {
            return Ok(());
        }
        if !clicked {
            session.click(element, until).await?;
        }
    }
    let state = if on { "checked" } else { "unchecked" };
    Err(WebDriverError::NotInteractable(format!("a click does not make it {state}")))
}
