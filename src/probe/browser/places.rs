//! Which window and which frame in it is looked at.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::ask;
use super::budget::{Budget, Time};
use super::deed::{Deed, on};
use super::element::PATIENCE;
use super::must::prepared;
use super::page::PageAccess;
use super::read::told;
use super::stopped::{Stopped, stopped};
use super::window::WindowContext;
use crate::browser::Trouble;
use crate::evaluate::template::Variables;
use crate::script::dialect::{Action, FrameSelector, Matcher, WindowSelector};

pub(super) async fn switch_frame(
    window: &mut WindowContext<'_>,
    budget: &Budget,
    variables: &Variables,
    frame: &FrameSelector,
    act: &Action,
) -> Result<(), Stopped> {
    let mut time = budget.time(act.timeout, Some(PATIENCE));
    let id = match frame {
        FrameSelector::Parent => {
            let left = window.session.leave_frame(time.latest).await;
            left.map_err(|trouble| stopped(window, budget, trouble, time.ending))?;
            window.frames.pop();
            return Ok(());
        }
        FrameSelector::Top => {
            let entered = window.session.enter_frame(Value::Null, time.latest).await;
            entered.map_err(|trouble| stopped(window, budget, trouble, time.ending))?;
            window.frames.clear();
            return Ok(());
        }
        FrameSelector::Index(index) => json!(index),
        FrameSelector::Element(target) => {
            let page = PageAccess { window, budget, variables };
            let id = on(page, target, &Deed::EnterFrame, act).await?.argument();
            window.frames.push(id);
            return Ok(());
        }
    };
    loop {
        let asked = Instant::now();
        let entered = window.session.enter_frame(id.clone(), time.latest).await;
        time.forgive(asked);
        match entered {
            Ok(()) => break,
            Err(Trouble::NotThere(_)) if Instant::now() < time.until => ask::pause().await,
            Err(trouble) => return Err(stopped(window, budget, trouble, time.ending)),
        }
    }
    window.frames.push(id);
    Ok(())
}

pub(super) async fn close_window(window: &mut WindowContext<'_>, budget: &Budget) -> Result<(), Stopped> {
    window.read_new_window(budget).await;
    window.recover(budget).await;
    let time = budget.time(None, None);
    let closed = async {
        window.session.close_window(time.latest).await?;
        let left = window.session.windows(time.latest).await?;
        let main = window.windows.iter().find(|window| left.contains(window)).or(left.first());
        match main {
            Some(main) => window.session.enter_window(main, time.latest).await,
            None => Err(Trouble::Gone("the last window was closed".to_owned())),
        }
    };
    closed.await.map_err(|trouble| stopped(window, budget, trouble, time.ending))?;
    window.frames.clear();
    Ok(())
}

pub(super) async fn switch_window(
    window: &mut WindowContext<'_>,
    budget: &Budget,
    variables: &Variables,
    choice: &WindowSelector,
    act: &Action,
) -> Result<(), Stopped> {
    window.read_new_window(budget).await;
    window.recover(budget).await;
    let mut time = budget.time(act.timeout, Some(PATIENCE));
    loop {
        let asked = Instant::now();
        let entered = enter(window, budget, variables, choice, time).await?;
        time.forgive(asked);
        if entered {
            window.frames.clear();
            return Ok(());
        }
        if Instant::now() >= time.until {
            let why = format!("no window fits, of {}", window.windows.len());
            return Err(stopped(window, budget, Trouble::NotThere(why), time.bound));
        }
        ask::pause().await;
    }
}

/// The title or address of each window is looked at in turn, for the first that fits.
async fn window_with(
    page: PageAccess<'_>,
    of: &ask::Of<'_>,
    must: &Matcher,
    time: Time,
) -> Result<Option<String>, Stopped> {
    let must = prepared(page, must)?;
    for window in &page.window.windows {
        if page.session().enter_window(window, time.latest).await.is_err() {
            continue;
        }
        if told(page, of, time.at_once(), &must).await?.is_ok() {
            return Ok(Some(window.clone()));
        }
    }
    Ok(None)
}

/// Enters the window of `choice`; `false` when there is none yet.
async fn enter(
    window: &mut WindowContext<'_>,
    budget: &Budget,
    variables: &Variables,
    choice: &WindowSelector,
    time: Time,
) -> Result<bool, Stopped> {
    let here = window.session.windows(time.latest).await;
    let here = here.map_err(|trouble| stopped(window, budget, trouble, time.ending))?;
    window.windows.retain(|known| here.contains(known));
    let main = window.windows.first().cloned();
    let fresh: Vec<String> = here.iter().filter(|found| !window.windows.contains(found)).cloned().collect();
    window.windows.extend(fresh);
    let page = PageAccess { window, budget, variables };
    let of = match choice {
        WindowSelector::Main => main,
        WindowSelector::Newest => window.windows.last().filter(|_| window.windows.len() > 1).cloned(),
        WindowSelector::Index(at) => window.windows.get(*at as usize).cloned(),
        WindowSelector::Title(must) => window_with(page, &ask::Of::Title, must, time).await?,
        WindowSelector::Url(must) => window_with(page, &ask::Of::Url, must, time).await?,
    };
    let Some(chosen) = of else { return Ok(false) };
    let entered = window.enter(chosen, time.latest).await;
    entered.map_err(|trouble| stopped(window, budget, trouble, time.ending))?;
    Ok(true)
}
