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
    action: &Action,
) -> Result<(), ActError> {
    let time = page.budget.wait_limit(action.timeout, None);
    match wanted {
        WaitCondition::Element(target, state) => wait_for_element(page, target, *state, time, action).await,
        WaitCondition::Text(target, must) => {
            let must = resolve_condition(page, must)?;
            let property = PageProperty::Text(target.clone());
            match wait_for_value(page, &property, time, &must).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(missing_failure(
                    page,
                    FailureKind::PageUpdateMissing,
                    &format!("no text that must {}", must.describe()),
                    time.bound,
                    action,
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
                    action,
                )),
            }
        }
        WaitCondition::Event(name) => {
            let waited = dom::watch_event(page.session(), name, time).await;
            waited.map_err(|error| page.dom_failure(error, time))?;
            wait_for_event(page, name, time, action).await
        }
        WaitCondition::NetworkQuiet(quiet) => wait_for_network_idle(page, *quiet, time, action).await,
    }
}

async fn wait_for_element(
    page: PageAccess<'_>,
    target: &ElementTarget,
    state: ElementState,
    time: WaitLimit,
    action: &Action,
) -> Result<(), ActError> {
    let locators = page.locator_args(target)?;
    let found = dom::find_element(page.session(), &locators, state, time).await;
    let kind = match found.map_err(|why| page.dom_failure(why, time))? {
        ElementLookup::Match(_) => return Ok(()),
        ElementLookup::Ambiguous(_) => FailureKind::ElementWeak,
        ElementLookup::WrongState | ElementLookup::NotFound => FailureKind::ElementMissing,
    };
    let why = format!("{} did not become {}", describe::describe_target(target), state.name());
    Err(missing_failure(page, kind, &why, time.bound, action))
}

async fn wait_for_network_idle(
    page: PageAccess<'_>,
    quiet: Duration,
    time: WaitLimit,
    action: &Action,
) -> Result<(), ActError> {
    let (until, bound) = (time.until, time.bound);
    let mut started = Instant::now();
    loop {
        if !page.window.read_requests(time.latest).await {
            // Nobody knows what was asked for meanwhile.
            started = Instant::now();
        }
        let since = page.window.network.log().idle_since(started);
        let now = Instant::now();
        let left = since.map_or(quiet, |since| (since + quiet).saturating_duration_since(now));
        if left.is_zero() {
            return Ok(());
        }
        if now >= until {
            let reason = format!("never for {} s", quiet.as_secs_f64());
            return Err(missing_failure(page, FailureKind::NetworkNotQuiet, &reason, bound, action));
        }
        tokio::time::sleep_until((now + left.min(POLL_INTERVAL)).min(until)).await;
    }
}

/// Notes what is before an act that `expected` has to follow from.
pub(super) async fn prepare_wait<'s>(
    page: PageAccess<'_>,
    expected: &'s ExpectedEffect,
    action: &Action,
) -> Result<AwaitedEffect<'s>, ActError> {
    let time = page.budget.wait_limit(action.timeout, None);
    match expected {
        ExpectedEffect::LocationChange => {
            let told =
                wait_for_text(page, &TextSource::Url, time.without_wait(), &TextCondition::Anything).await?;
            Ok(AwaitedEffect::UrlChange(told.unwrap_or_default()))
        }
        ExpectedEffect::PageUpdate => {
            let told =
                dom::read_text(page.session(), &TextSource::Fingerprint, None, time.without_wait()).await;
            match told.map_err(|error| page.dom_failure(error, time))? {
                TextReading::Text(_, number) => Ok(AwaitedEffect::PageChange(number)),
                _ => Ok(AwaitedEffect::PageChange(0)),
            }
        }
        ExpectedEffect::Event(name) => {
            let waited = dom::watch_event(page.session(), name, time).await;
            waited.map_err(|error| page.dom_failure(error, time))?;
            Ok(AwaitedEffect::Event(name))
        }
    }
}

/// Waits for what has to follow from an act.
pub(super) async fn wait_for_effect(
    page: PageAccess<'_>,
    awaited: &AwaitedEffect<'_>,
    action: &Action,
) -> Result<(), ActError> {
    let time = page.budget.wait_limit(action.timeout, None);
    match awaited {
        AwaitedEffect::UrlChange(before) => {
            if wait_for_text(page, &TextSource::Url, time, &TextCondition::differs_from(before))
                .await?
                .is_ok()
            {
                return Ok(());
            }
            let why = format!("it stayed `{before}`");
            Err(missing_failure(page, FailureKind::LocationChangeMissing, &why, time.bound, action))
        }
        AwaitedEffect::PageChange(before) => {
            let told = dom::read_text(page.session(), &TextSource::Fingerprint, Some(*before), time).await;
            if matches!(told.map_err(|why| page.dom_failure(why, time))?, TextReading::Text(..)) {
                return Ok(());
            }
            let why = "nothing of it changed";
            Err(missing_failure(page, FailureKind::PageUpdateMissing, why, time.bound, action))
        }
        AwaitedEffect::Event(name) => wait_for_event(page, name, time, action).await,
    }
}

/// Waits for an event that is watched for.
async fn wait_for_event(
    page: PageAccess<'_>,
    name: &str,
    time: WaitLimit,
    action: &Action,
) -> Result<(), ActError> {
    let noticed = dom::event_fired(page.session(), time).await;
    if noticed.map_err(|error| page.dom_failure(error, time))? {
        return Ok(());
    }
    Err(missing_failure(
        page,
        FailureKind::BrowserEventMissing,
        &format!("no event `{name}`"),
        time.bound,
        action,
    ))
}

/// What did not come: named by what it is, unless a limit of the step or script cut a time of its own short.
fn missing_failure(
    page: PageAccess<'_>,
    kind: FailureKind,
    reason: &str,
    bound: LimitKind,
    action: &Action,
) -> ActError {
    if action.timeout.is_some() && bound != LimitKind::Act {
        return page.budget.timeout_failure(bound, reason).into();
    }
    Failure::new(Phase::Play, kind, reason).into()
}
