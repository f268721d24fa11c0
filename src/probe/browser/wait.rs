//! Waits for effects in the page. There are no fixed sleeps: the page itself reports when a condition holds.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::action_error::ActionError;
use super::current_page::CurrentPage;
use super::descriptions;
use super::dom::{self, ElementLookup, TextReading, TextSource};
use super::page_reads::{wait_for_text, wait_for_value};
use super::text_condition::{TextCondition, render_condition};
use super::time_budget::{LimitKind, WaitLimit};
use crate::domain::{Failure, FailureKind, Phase};
use crate::script::language::{
    Action, ElementState, ElementTarget, ExpectedEffect, PageProperty, WaitCondition,
};

/// Interval between reads of the browser's network log.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The expected effect of an action, with the state before it.
#[derive(Debug)]
pub(super) enum AwaitedEffect<'s> {
    /// The address becomes different from this one.
    UrlChange(Arc<str>),
    /// The fingerprint of the page becomes different from this one.
    PageChange(u64),
    /// The event of this name, which is being watched for, occurs.
    Event(&'s str),
}

/// Performs a `wait-for…` action: waits until its condition holds, and fails otherwise.
pub(super) async fn wait_for(
    page: CurrentPage<'_>,
    wait_condition: &WaitCondition,
    action: &Action,
) -> Result<(), ActionError> {
    let wait_limit = page.budget.action_wait_limit(action.timeout, None);
    match wait_condition {
        WaitCondition::Element(target, state) => {
            wait_for_element(page, target, *state, wait_limit, action).await
        }
        WaitCondition::Text(target, condition) => {
            let condition = render_condition(page, condition)?;
            let property = PageProperty::Text(target.clone());
            match wait_for_value(page, &property, wait_limit, &condition).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(unmet_wait_failure(
                    page,
                    FailureKind::PageUpdateMissing,
                    &format!("no text that must {}", condition.requirement()),
                    wait_limit.retry_limit_kind,
                    action,
                )),
            }
        }
        WaitCondition::Url(condition) => {
            let condition = render_condition(page, condition)?;
            match wait_for_text(page, &TextSource::Url, wait_limit, &condition).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(unmet_wait_failure(
                    page,
                    FailureKind::LocationChangeMissing,
                    &format!("the address must {}", condition.requirement()),
                    wait_limit.retry_limit_kind,
                    action,
                )),
            }
        }
        WaitCondition::Event(name) => {
            let watch_result = dom::start_watching_event(page.session(), name, wait_limit).await;
            watch_result.map_err(|error| page.dom_error_to_action_error(error, wait_limit))?;
            wait_for_event(page, name, wait_limit, action).await
        }
        WaitCondition::NetworkIdle(idle_duration) => {
            wait_for_network_idle(page, *idle_duration, wait_limit, action).await
        }
    }
}

async fn wait_for_element(
    page: CurrentPage<'_>,
    target: &ElementTarget,
    state: ElementState,
    wait_limit: WaitLimit,
    action: &Action,
) -> Result<(), ActionError> {
    let locators = page.render_locators(target)?;
    let found = dom::find_element(page.session(), &locators, state, wait_limit).await;
    let kind = match found.map_err(|error| page.dom_error_to_action_error(error, wait_limit))? {
        ElementLookup::Match(_) => return Ok(()),
        ElementLookup::Ambiguous(_) => FailureKind::ElementAmbiguous,
        ElementLookup::WrongState | ElementLookup::NotFound => FailureKind::ElementMissing,
    };
    let detail = format!("{} did not become {}", descriptions::describe_target(target), state.name());
    Err(unmet_wait_failure(page, kind, &detail, wait_limit.retry_limit_kind, action))
}

async fn wait_for_network_idle(
    page: CurrentPage<'_>,
    idle_duration: Duration,
    wait_limit: WaitLimit,
    action: &Action,
) -> Result<(), ActionError> {
    let (until, limit_kind) = (wait_limit.retry_until, wait_limit.retry_limit_kind);
    let mut watch_started = Instant::now();
    loop {
        if !page.browser.fetch_logged_requests(wait_limit.response_deadline).await {
            // Requests may have started meanwhile without being logged.
            watch_started = Instant::now();
        }
        let idle_since = page.browser.network_log_reader.lock_log().idle_since(watch_started);
        let now = Instant::now();
        let remaining = idle_since
            .map_or(idle_duration, |idle_since| (idle_since + idle_duration).saturating_duration_since(now));
        if remaining.is_zero() {
            return Ok(());
        }
        if now >= until {
            let reason = format!("the network was never idle for {} s", idle_duration.as_secs_f64());
            return Err(unmet_wait_failure(page, FailureKind::NetworkNotIdle, &reason, limit_kind, action));
        }
        tokio::time::sleep_until((now + remaining.min(POLL_INTERVAL)).min(until)).await;
    }
}

/// Prepares to notice the expected effect of an action: records the state before it, or starts to watch for the event.
pub(super) async fn prepare_awaited_effect<'s>(
    page: CurrentPage<'_>,
    expected_effect: &'s ExpectedEffect,
    action: &Action,
) -> Result<AwaitedEffect<'s>, ActionError> {
    let wait_limit = page.budget.action_wait_limit(action.timeout, None);
    match expected_effect {
        ExpectedEffect::LocationChange => {
            let reading =
                wait_for_text(page, &TextSource::Url, wait_limit.without_wait(), &TextCondition::AnyText)
                    .await?;
            Ok(AwaitedEffect::UrlChange(reading.unwrap_or_default()))
        }
        ExpectedEffect::PageUpdate => {
            let reading =
                dom::read_text(page.session(), &TextSource::PageFingerprint, None, wait_limit.without_wait())
                    .await;
            match reading.map_err(|error| page.dom_error_to_action_error(error, wait_limit))? {
                TextReading::Text(_, fingerprint) => Ok(AwaitedEffect::PageChange(fingerprint)),
                _ => Ok(AwaitedEffect::PageChange(0)),
            }
        }
        ExpectedEffect::Event(name) => {
            let watch_result = dom::start_watching_event(page.session(), name, wait_limit).await;
            watch_result.map_err(|error| page.dom_error_to_action_error(error, wait_limit))?;
            Ok(AwaitedEffect::Event(name))
        }
    }
}

/// Waits for the expected effect of an action.
pub(super) async fn wait_for_effect(
    page: CurrentPage<'_>,
    awaited_effect: &AwaitedEffect<'_>,
    action: &Action,
) -> Result<(), ActionError> {
    let wait_limit = page.budget.action_wait_limit(action.timeout, None);
    match awaited_effect {
        AwaitedEffect::UrlChange(previous) => {
            if wait_for_text(page, &TextSource::Url, wait_limit, &TextCondition::differs_from(previous))
                .await?
                .is_ok()
            {
                return Ok(());
            }
            let detail = format!("it stayed `{previous}`");
            Err(unmet_wait_failure(
                page,
                FailureKind::LocationChangeMissing,
                &detail,
                wait_limit.retry_limit_kind,
                action,
            ))
        }
        AwaitedEffect::PageChange(previous) => {
            let reading =
                dom::read_text(page.session(), &TextSource::PageFingerprint, Some(*previous), wait_limit)
                    .await;
            if matches!(
                reading.map_err(|error| page.dom_error_to_action_error(error, wait_limit))?,
                TextReading::Text(..)
            ) {
                return Ok(());
            }
            let detail = "the page did not change";
            Err(unmet_wait_failure(
                page,
                FailureKind::PageUpdateMissing,
                detail,
                wait_limit.retry_limit_kind,
                action,
            ))
        }
        AwaitedEffect::Event(name) => wait_for_event(page, name, wait_limit, action).await,
    }
}

/// Waits for an event that is being watched for.
async fn wait_for_event(
    page: CurrentPage<'_>,
    name: &str,
    wait_limit: WaitLimit,
    action: &Action,
) -> Result<(), ActionError> {
    let fired = dom::wait_for_expected_event(page.session(), wait_limit).await;
    if fired.map_err(|error| page.dom_error_to_action_error(error, wait_limit))? {
        return Ok(());
    }
    Err(unmet_wait_failure(
        page,
        FailureKind::ExpectedEventMissing,
        &format!("no event `{name}`"),
        wait_limit.retry_limit_kind,
        action,
    ))
}

/// Returns the failure of an effect that did not occur: that of its `kind`, or a timeout if the step or script ended
/// before the action's own timeout.
fn unmet_wait_failure(
    page: CurrentPage<'_>,
    kind: FailureKind,
    reason: &str,
    limit_kind: LimitKind,
    action: &Action,
) -> ActionError {
    if action.timeout.is_some() && limit_kind != LimitKind::Action {
        return page.budget.timeout_failure(limit_kind, reason).into();
    }
    Failure::new(Phase::RunScript, kind, reason).into()
}
