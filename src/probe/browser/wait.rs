//! Waiting for what the page does: without fixed sleeps, the page itself says when it is there.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::act_error::ActError;
use super::assertions::{TextCondition, resolve_condition};
use super::describe;
use super::dom::{self, ElementLookup, TextReading, TextSource};
use super::page_access::PageAccess;
use super::page_reads::{wait_for_text, wait_for_value};
use super::time_budget::{LimitKind, WaitLimit};
use crate::domain::{Failure, FailureKind, Phase};
use crate::script::language::{
    Action, ElementState, ElementTarget, ExpectedEffect, PageProperty, WaitCondition,
};

/// Between two looks at what the browser tells of its requests.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What has to follow from an act, with what was before it.
#[derive(Debug)]
pub(super) enum AwaitedEffect<'s> {
    /// Another address than this.
    UrlChange(Arc<str>),
    /// Another page than the one that this number stands for.
    PageChange(u64),
    /// The event of this name, which is watched for.
    Event(&'s str),
}

pub(super) async fn wait_for(
    page: PageAccess<'_>,
    wanted: &WaitCondition,
    act: &Action,
) -> Result<(), ActError> {
    let time = page.budget.wait_limit(act.timeout, None);
    match wanted {
        WaitCondition::Element(target, state) => wait_for_element(page, target, *state, time, act).await,
        WaitCondition::Text(target, must) => {
            let must = resolve_condition(page, must)?;
            let what = PageProperty::Text(target.clone());
            match wait_for_value(page, &what, time, &must).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(missing_failure(
                    page,
                    FailureKind::PageUpdateMissing,
                    &format!("no text that must {}", must.describe()),
                    time.bound,
                    act,
                )),
            }
        }
        WaitCondition::Url(must) => {
            let must = resolve_condition(page, must)?;
            match wait_for_text(page, &TextSource::Url, time, &must).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(missing_failure(
                    page,
                    FailureKind::LocationChangeMissing,
                    &format!("the address must {}", must.describe()),
                    time.bound,
                    act,
                )),
            }
        }
        WaitCondition::Event(name) => {
            let watched = dom::watch_event(page.session(), name, time).await;
            watched.map_err(|why| page.dom_failure(why, time))?;
            wait_for_event(page, name, time, act).await
        }
        WaitCondition::NetworkQuiet(quiet) => wait_for_network_idle(page, *quiet, time, act).await,
    }
}

async fn wait_for_element(
    page: PageAccess<'_>,
    target: &ElementTarget,
    state: ElementState,
    time: WaitLimit,
    act: &Action,
) -> Result<(), ActError> {
    let locators = page.locator_args(target)?;
    let found = dom::find_element(page.session(), &locators, state, time).await;
    let kind = match found.map_err(|why| page.dom_failure(why, time))? {
        ElementLookup::Match(_) => return Ok(()),
        ElementLookup::Ambiguous(_) => FailureKind::ElementWeak,
        ElementLookup::WrongState | ElementLookup::NotFound => FailureKind::ElementMissing,
    };
    let why = format!("{} did not become {}", describe::describe_target(target), state.name());
    Err(missing_failure(page, kind, &why, time.bound, act))
}

async fn wait_for_network_idle(
    page: PageAccess<'_>,
    quiet: Duration,
    time: WaitLimit,
    act: &Action,
) -> Result<(), ActError> {
    let (until, bound) = (time.until, time.bound);
    let mut began = Instant::now();
    loop {
        if !page.window.read_requests(time.latest).await {
            // Nobody knows what was asked for meanwhile.
            began = Instant::now();
        }
        let since = page.window.network.log().idle_since(began);
        let now = Instant::now();
        let left = since.map_or(quiet, |since| (since + quiet).saturating_duration_since(now));
        if left.is_zero() {
            return Ok(());
        }
        if now >= until {
            let why = format!("never for {} s", quiet.as_secs_f64());
            return Err(missing_failure(page, FailureKind::NetworkNotQuiet, &why, bound, act));
        }
        tokio::time::sleep_until((now + left.min(POLL_INTERVAL)).min(until)).await;
    }
}

/// Notes what is before an act that `expected` has to follow from.
pub(super) async fn prepare_wait<'s>(
    page: PageAccess<'_>,
    expected: &'s ExpectedEffect,
    act: &Action,
) -> Result<AwaitedEffect<'s>, ActError> {
    let time = page.budget.wait_limit(act.timeout, None);
    match expected {
        ExpectedEffect::LocationChange => {
            let told =
                wait_for_text(page, &TextSource::Url, time.without_wait(), &TextCondition::Anything).await?;
            Ok(AwaitedEffect::UrlChange(told.unwrap_or_default()))
        }
        ExpectedEffect::PageUpdate => {
            let told =
                dom::read_text(page.session(), &TextSource::Fingerprint, None, time.without_wait()).await;
            match told.map_err(|why| page.dom_failure(why, time))? {
                TextReading::Text(_, number) => Ok(AwaitedEffect::PageChange(number)),
                _ => Ok(AwaitedEffect::PageChange(0)),
            }
        }
        ExpectedEffect::Event(name) => {
            let watched = dom::watch_event(page.session(), name, time).await;
            watched.map_err(|why| page.dom_failure(why, time))?;
            Ok(AwaitedEffect::Event(name))
        }
    }
}

/// Waits for what has to follow from an act.
pub(super) async fn wait_for_effect(
    page: PageAccess<'_>,
    awaited: &AwaitedEffect<'_>,
    act: &Action,
) -> Result<(), ActError> {
    let time = page.budget.wait_limit(act.timeout, None);
    match awaited {
        AwaitedEffect::UrlChange(before) => {
            if wait_for_text(page, &TextSource::Url, time, &TextCondition::differs_from(before))
                .await?
                .is_ok()
            {
                return Ok(());
            }
            let why = format!("it stayed `{before}`");
            Err(missing_failure(page, FailureKind::LocationChangeMissing, &why, time.bound, act))
        }
        AwaitedEffect::PageChange(before) => {
            let told = dom::read_text(page.session(), &TextSource::Fingerprint, Some(*before), time).await;
            if matches!(told.map_err(|why| page.dom_failure(why, time))?, TextReading::Text(..)) {
                return Ok(());
            }
            let why = "nothing of it changed";
            Err(missing_failure(page, FailureKind::PageUpdateMissing, why, time.bound, act))
        }
        AwaitedEffect::Event(name) => wait_for_event(page, name, time, act).await,
    }
}

/// Waits for an event that is watched for.
async fn wait_for_event(
    page: PageAccess<'_>,
    name: &str,
    time: WaitLimit,
    act: &Action,
) -> Result<(), ActError> {
    let noticed = dom::event_fired(page.session(), time).await;
    if noticed.map_err(|why| page.dom_failure(why, time))? {
        return Ok(());
    }
    Err(missing_failure(
        page,
        FailureKind::BrowserEventMissing,
        &format!("no event `{name}`"),
        time.bound,
        act,
    ))
}

/// What did not come: named by what it is, unless a limit of the step or script cut a time of its own short.
fn missing_failure(
    page: PageAccess<'_>,
    kind: FailureKind,
    why: &str,
    bound: LimitKind,
    act: &Action,
) -> ActError {
    if act.timeout.is_some() && bound != LimitKind::Act {
        return page.budget.timeout_failure(bound, why).into();
    }
    Failure::new(Phase::Play, kind, why).into()
}
