//! Acts that no other file is for: addresses that are opened, keys, scrolling, dialogs, code of the script.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::ask;
use super::budget::{Bound, Budget, SLACK};
use super::deed::{Deed, on};
use super::element::PATIENCE;
use super::inspect::{is_good_page, is_there};
use super::page::PageAccess;
use super::stopped::{Stopped, stopped};
use super::window::WindowContext;
use crate::browser::Trouble;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{EscapeContext, Variables};
use crate::script::dialect::{Action, ActionKind, DialogResponse, ElementTarget, KeyChord, OptionSelector};
use crate::syntax::template::{TemplatePart, parse};

/// Tells the driver how long pages and scripts of `act` may take; of none, those of the rest of the step.
pub(super) async fn keep_time(
    window: &mut WindowContext<'_>,
    budget: &mut Budget,
    act: Option<&Action>,
) -> Result<(), Stopped> {
    // Drivers take milliseconds; a little more than is left, so that they are not early.
    let rounded = |time: Duration| {
        Duration::from_millis(50 * (u64::try_from(time.as_millis()).unwrap_or(u64::MAX) / 50 + 1))
    };
    let (page, bound) = budget.page(act.and_then(own_load));
    budget.limit_pages(bound);
    let page = if matches!(bound, Bound::Page | Bound::Open(_)) { page } else { rounded(page) };
    let (until, _) = budget.until(act.and_then(|act| act.timeout));
    // The page itself ends what it waits for; code of the script is ended by the driver.
    let is_code = act.is_some_and(|act| matches!(act.kind, ActionKind::RunJs { .. }));
    let own = if is_code { Duration::ZERO } else { 2 * SLACK };
    let script = rounded(until.saturating_duration_since(Instant::now()) + own);
    match window.session.limit(page, script, ask::soon()).await {
        // Told after it is answered.
        Ok(()) | Err(Trouble::Dialog(_)) => Ok(()),
        Err(trouble) => Err(stopped(window, budget, trouble, Bound::Step)),
    }
}

/// Goes to `url`, a whole address.
pub(super) async fn open(
    window: &mut WindowContext<'_>,
    budget: &Budget,
    url: &str,
    act: &Action,
) -> Result<(), Stopped> {
    let (within, _) = budget.page(own_load(act));
    let latest = Instant::now() + within + SLACK;
    match window.session.open(url, latest).await {
        Ok(()) => is_good_page(window, budget, latest).await,
        Err(Trouble::Late) => Err(Failure::new(
            Phase::Play,
            FailureKind::BrowserTimedOut,
            "the driver did not say that the page load took too long",
        )
        .into()),
        Err(trouble) => {
            // Firefox waits for the page that a download never is.
            if trouble == Trouble::PageLate {
                is_there(window, true).await?;
            }
            Err(stopped(window, budget, trouble, Bound::Page))
        }
    }
}

/// How an option is picked, and by what.
pub(super) fn picked(page: PageAccess<'_>, pick: &OptionSelector) -> Result<(&'static str, Value), Failure> {
    Ok(match pick {
        OptionSelector::Value(text) => ("value", Value::String(page.filled(text, EscapeContext::Value)?)),
        OptionSelector::Label(text) => ("label", Value::String(page.filled(text, EscapeContext::Value)?)),
        OptionSelector::Index(index) => ("index", json!(index)),
    })
}

pub(super) async fn press(
    page: PageAccess<'_>,
    key: &str,
    target: Option<&ElementTarget>,
    act: &Action,
) -> Result<(), Stopped> {
    let Some(KeyChord { modifiers: held, key }) = KeyChord::parse(key) else {
        return Err(
            Failure::new(Phase::Play, FailureKind::ScriptInvalid, format!("`{key}` is no key")).into()
        );
    };
    if let Some(target) = target {
        on(page, target, &Deed::Focus, act).await?;
    }
    let (until, bound) = page.budget.until(act.timeout);
    let keys: Vec<char> = held.into_iter().chain([key]).collect();
    let down = keys.iter().map(|key| json!({"type": "keyDown", "value": key}));
    let up = keys.iter().rev().map(|key| json!({"type": "keyUp", "value": key}));
    let actions: Vec<Value> = down.chain(up).collect();
    let sources = json!([{"type": "key", "id": "keyboard", "actions": actions}]);
    page.session().act(sources, until + SLACK).await.map_err(|trouble| page.stopped(trouble, bound))
}

pub(super) async fn scroll(
    page: PageAccess<'_>,
    to: Option<&ElementTarget>,
    by: (i64, i64),
    act: &Action,
) -> Result<(), Stopped> {
    if let Some(target) = to {
        on(page, target, &Deed::ScrollTo, act).await?;
    }
    if by == (0, 0) {
        return Ok(());
    }
    let (until, bound) = page.budget.until(act.timeout);
    let scrolled = page.session().run(
        "window.scrollBy(arguments[0], arguments[1]);",
        vec![json!(by.0), json!(by.1)],
        until + SLACK,
    );
    scrolled.await.map(drop).map_err(|trouble| page.stopped(trouble, bound))
}

/// Answers the dialog that is open, or that opens soon.
pub(super) async fn answer(
    page: PageAccess<'_>,
    answer: &DialogResponse,
    act: &Action,
) -> Result<(), Stopped> {
    let time = page.budget.time(act.timeout, Some(PATIENCE));
    let text = match answer {
        DialogResponse::AcceptWithText(text) => Some(page.filled(text, EscapeContext::Value)?),
        DialogResponse::Accept | DialogResponse::Dismiss => None,
    };
    let ok = *answer != DialogResponse::Dismiss;
    loop {
        match page.session().answer_dialog(ok, text.as_deref(), time.latest).await {
            Ok(()) => return Ok(()),
            Err(Trouble::NoDialog) if Instant::now() < time.until => ask::pause().await,
            Err(trouble) => return Err(page.stopped(trouble, time.ending)),
        }
    }
}

/// Runs `code` in the page; gives what it returned, as text.
pub(super) async fn run_js(page: PageAccess<'_>, code: &str, act: &Action) -> Result<String, Stopped> {
    let (until, bound) = page.budget.until(act.timeout);
    let script = filled_code(page.variables, code)?;
    let answer = page.session().run(&script, Vec::new(), until + SLACK).await;
    Ok(match answer.map_err(|trouble| page.stopped(trouble, bound))? {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    })
}

/// `code` with a text of JavaScript for each placeholder: no value becomes code.
fn filled_code(variables: &Variables, code: &str) -> Result<String, Failure> {
    let mut script = String::with_capacity(code.len());
    for piece in parse(code) {
        match piece {
            TemplatePart::Text(text) => script.push_str(text),
            TemplatePart::Placeholder(name) => {
                let unknown = || {
                    let detail = format!("`{{{{{name}}}}}` was set by no act before");
                    Failure::new(Phase::Play, FailureKind::VariableUnknown, detail)
                };
                script.push_str(&json!(variables.get(name).ok_or_else(unknown)?).to_string());
            }
        }
    }
    Ok(script)
}

/// What the page load of `act` may take by itself.
fn own_load(act: &Action) -> Option<Duration> {
    act.timeout.filter(|_| matches!(act.kind, ActionKind::Open { .. }))
}
