//! What is done with one element, again while the element changes or does not take it yet.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::ask::{self, Found};
use super::element::{PATIENCE, not_found};
use super::page::PageAccess;
use super::stopped::Stopped;
use crate::browser::{Element, Session, Trouble};
use crate::script::dialect::{Action, ElementState, ElementTarget};

/// Picks options of a `select`, and tells the page.
const PICK: &str = include_str!("pick.js");
const CHECKED: &str = "return Boolean(arguments[0].checked);";
const TO_CENTER: &str = "arguments[0].scrollIntoView({block: 'center', inline: 'center'});";

/// A deed.
#[derive(Debug)]
pub(super) enum Deed {
    Click,
    /// The pointer moves over it, and clicks so many times.
    Point(u32),
    Type(String),
    Clear,
    /// Picks an option by `value`, `label` or `index`.
    Pick(&'static str, Value),
    Check(bool),
    Focus,
    ScrollTo,
    EnterFrame,
}

impl Deed {
    /// What the element must be first.
    const fn needs(&self) -> ElementState {
        match self {
            Self::Point(0) => ElementState::Visible,
            Self::ScrollTo | Self::EnterFrame => ElementState::Present,
            _ => ElementState::Enabled,
        }
    }
}

/// Does `deed` with the element, once it can be done; gives the element.
pub(super) async fn on(
    page: PageAccess<'_>,
    target: &ElementTarget,
    deed: &Deed,
    act: &Action,
) -> Result<Element, Stopped> {
    let locators = page.located(target)?;
    // What it sets off may take as long as the page and the step may.
    let mut time = page.budget.time(act.timeout, Some(PATIENCE));
    loop {
        let asked = Instant::now();
        let found = ask::element(page.session(), &locators, deed.needs(), time).await;
        time.forgive(asked);
        let element = match found.map_err(|why| page.unanswered(why, time))? {
            Found::Yes(Some(element)) => element,
            found => return Err(not_found(&found, target).into()),
        };
        match done(page.session(), deed, &element, time.latest).await {
            Ok(()) => return Ok(element),
            Err(Trouble::Stale | Trouble::NotUsable(_)) if Instant::now() < time.until => {
                ask::pause().await;
            }
            Err(trouble) => return Err(page.stopped(trouble, time.ending)),
        }
    }
}

async fn done(session: &Session, deed: &Deed, element: &Element, until: Instant) -> Result<(), Trouble> {
    match deed {
        Deed::Click => session.click(element, until).await,
        Deed::Point(clicks) => point(session, *clicks, element, until).await,
        Deed::Type(text) => session.type_into(element, text, until).await,
        Deed::Clear => session.clear(element, until).await,
        Deed::Pick(by, value) => {
            let arguments = vec![element.argument(), json!(by), value.clone()];
            match session.run(PICK, arguments, until).await?.as_str() {
                None => Ok(()),
                // Its options may come later.
                Some(why) => Err(Trouble::NotUsable(why.to_owned())),
            }
        }
        Deed::Check(on) => check(session, *on, element, until).await,
        Deed::Focus => session.run("arguments[0].focus();", vec![element.argument()], until).await.map(drop),
        Deed::ScrollTo => session.run(TO_CENTER, vec![element.argument()], until).await.map(drop),
        Deed::EnterFrame => session.enter_frame(element.argument(), until).await,
    }
}

async fn point(session: &Session, clicks: u32, element: &Element, until: Instant) -> Result<(), Trouble> {
    session.run(TO_CENTER, vec![element.argument()], until).await?;
    let over = json!({"type": "pointerMove", "duration": 0, "origin": element.argument(), "x": 0, "y": 0});
    let mut actions = vec![over];
    for _ in 0..clicks {
        actions.push(json!({"type": "pointerDown", "button": 0}));
        actions.push(json!({"type": "pointerUp", "button": 0}));
    }
    let mouse =
        json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
    session.act(json!([mouse]), until).await
}

async fn check(session: &Session, on: bool, element: &Element, until: Instant) -> Result<(), Trouble> {
    for clicked in [false, true] {
        if session.run(CHECKED, vec![element.argument()], until).await? == on {
            return Ok(());
        }
        if !clicked {
            session.click(element, until).await?;
        }
    }
    let state = if on { "checked" } else { "unchecked" };
    Err(Trouble::NotUsable(format!("a click does not make it {state}")))
}
