//! Waiting for what the page does: without fixed sleeps, the page itself says when it is there.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::ask::{self, Found, Of, Told};
use super::budget::{Bound, Time};
use super::must::{Must, prepared};
use super::naming;
use super::page::PageAccess;
use super::read::{becomes, told};
use super::stopped::Stopped;
use crate::domain::{Failure, FailureKind, Phase};
use crate::script::dialect::{
    Action, ElementState, ElementTarget, ExpectedEffect, PageProperty, WaitCondition,
};

/// Between two looks at what the browser tells of its requests.
const LISTEN: Duration = Duration::from_millis(100);

/// What has to follow from an act, with what was before it.
#[derive(Debug)]
pub(super) enum Awaited<'s> {
    /// Another address than this.
    Address(Arc<str>),
    /// Another page than the one that this number stands for.
    Shape(u64),
    /// The event of this name, which is watched for.
    Event(&'s str),
}

pub(super) async fn wait_for(
    page: PageAccess<'_>,
    wanted: &WaitCondition,
    act: &Action,
) -> Result<(), Stopped> {
    let time = page.budget.time(act.timeout, None);
    match wanted {
        WaitCondition::Element(target, state) => wait_for_element(page, target, *state, time, act).await,
        WaitCondition::Text(target, must) => {
            let must = prepared(page, must)?;
            let what = PageProperty::Text(target.clone());
            match becomes(page, &what, time, &must).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(missing(
                    page,
                    FailureKind::PageUpdateMissing,
                    &format!("no text that must {}", must.words()),
                    time.bound,
                    act,
                )),
            }
        }
        WaitCondition::Url(must) => {
            let must = prepared(page, must)?;
            match told(page, &Of::Url, time, &must).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(missing(
                    page,
                    FailureKind::LocationChangeMissing,
                    &format!("the address must {}", must.words()),
                    time.bound,
                    act,
                )),
            }
        }
        WaitCondition::Event(name) => {
            let watched = ask::watch(page.session(), name, time).await;
            watched.map_err(|why| page.unanswered(why, time))?;
            came(page, name, time, act).await
        }
        WaitCondition::NetworkQuiet(quiet) => wait_for_quiet(page, *quiet, time, act).await,
    }
}

async fn wait_for_element(
    page: PageAccess<'_>,
    target: &ElementTarget,
    state: ElementState,
    time: Time,
    act: &Action,
) -> Result<(), Stopped> {
    let locators = page.located(target)?;
    let found = ask::element(page.session(), &locators, state, time).await;
    let kind = match found.map_err(|why| page.unanswered(why, time))? {
        Found::Yes(_) => return Ok(()),
        Found::Weak(_) => FailureKind::ElementWeak,
        Found::OtherState | Found::No => FailureKind::ElementMissing,
    };
    let why = format!("{} did not become {}", naming::target(target), state.name());
    Err(missing(page, kind, &why, time.bound, act))
}

async fn wait_for_quiet(
    page: PageAccess<'_>,
    quiet: Duration,
    time: Time,
    act: &Action,
) -> Result<(), Stopped> {
    let (until, bound) = (time.until, time.bound);
    let mut began = Instant::now();
    loop {
        if !page.window.read_requests(time.latest).await {
            // Nobody knows what was asked for meanwhile.
            began = Instant::now();
        }
        let since = page.window.network.journal().quiet_since_or(began);
        let now = Instant::now();
        let left = since.map_or(quiet, |since| (since + quiet).saturating_duration_since(now));
        if left.is_zero() {
            return Ok(());
        }
        if now >= until {
            let why = format!("never for {} s", quiet.as_secs_f64());
            return Err(missing(page, FailureKind::NetworkNotQuiet, &why, bound, act));
        }
        tokio::time::sleep_until((now + left.min(LISTEN)).min(until)).await;
    }
}

/// Notes what is before an act that `expected` has to follow from.
pub(super) async fn before<'s>(
    page: PageAccess<'_>,
    expected: &'s ExpectedEffect,
    act: &Action,
) -> Result<Awaited<'s>, Stopped> {
    let time = page.budget.time(act.timeout, None);
    match expected {
        ExpectedEffect::LocationChange => {
            let told = told(page, &Of::Url, time.at_once(), &Must::Anything).await?;
            Ok(Awaited::Address(told.unwrap_or_default()))
        }
        ExpectedEffect::PageUpdate => {
            let told = ask::text(page.session(), &Of::Shape, None, time.at_once()).await;
            match told.map_err(|why| page.unanswered(why, time))? {
                Told::Text(_, number) => Ok(Awaited::Shape(number)),
                _ => Ok(Awaited::Shape(0)),
            }
        }
        ExpectedEffect::Event(name) => {
            let watched = ask::watch(page.session(), name, time).await;
            watched.map_err(|why| page.unanswered(why, time))?;
            Ok(Awaited::Event(name))
        }
    }
}

/// Waits for what has to follow from an act.
pub(super) async fn followed(
    page: PageAccess<'_>,
    awaited: &Awaited<'_>,
    act: &Action,
) -> Result<(), Stopped> {
    let time = page.budget.time(act.timeout, None);
    match awaited {
        Awaited::Address(before) => {
            if told(page, &Of::Url, time, &Must::differ(before)).await?.is_ok() {
                return Ok(());
            }
            let why = format!("it stayed `{before}`");
            Err(missing(page, FailureKind::LocationChangeMissing, &why, time.bound, act))
        }
        Awaited::Shape(before) => {
            let told = ask::text(page.session(), &Of::Shape, Some(*before), time).await;
            if matches!(told.map_err(|why| page.unanswered(why, time))?, Told::Text(..)) {
                return Ok(());
            }
            let why = "nothing of it changed";
            Err(missing(page, FailureKind::PageUpdateMissing, why, time.bound, act))
        }
        Awaited::Event(name) => came(page, name, time, act).await,
    }
}

/// Waits for an event that is watched for.
async fn came(page: PageAccess<'_>, name: &str, time: Time, act: &Action) -> Result<(), Stopped> {
    let noticed = ask::noticed(page.session(), time).await;
    if noticed.map_err(|why| page.unanswered(why, time))? {
        return Ok(());
    }
    Err(missing(page, FailureKind::BrowserEventMissing, &format!("no event `{name}`"), time.bound, act))
}

/// What did not come: named by what it is, unless a limit of the step or script cut a time of its own short.
fn missing(page: PageAccess<'_>, kind: FailureKind, why: &str, bound: Bound, act: &Action) -> Stopped {
    if act.timeout.is_some() && bound != Bound::Act {
        return page.budget.passed(bound, why).into();
    }
    Failure::new(Phase::Play, kind, why).into()
}
