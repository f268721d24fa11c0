//! Acts that read the page: assertions, values for variables, keywords.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::ask::{self, Found, Located, Of, Told};
use super::budget::Time;
use super::element::not_found;
use super::must::{Must, SHOWN, prepared, taken};
use super::naming;
use super::page::PageAccess;
use super::stopped::Stopped;
use crate::domain::{Failure, FailureKind, Phase, truncate};
use crate::evaluate::keyword::{KeywordMatching, KeywordRule};
use crate::evaluate::template::EscapeContext;
use crate::probe::search::search;
use crate::script::dialect::{Action, ElementState, ElementTarget, Matcher, PageProperty, Pattern};

/// How long an assertion is given to become true, where the act does not say: pages change in steps.
const GRACE: Duration = Duration::from_secs(2);
/// The type of a page's source as the browser tells it.
const UTF_8: &str = "text/html; charset=utf-8";

pub(super) async fn assert(
    page: PageAccess<'_>,
    what: &PageProperty,
    must: &Matcher,
    act: &Action,
) -> Result<(), Stopped> {
    let time = page.budget.time(act.timeout, Some(GRACE));
    let must = prepared(page, must)?;
    let Err(found) = becomes(page, what, time, &must).await? else { return Ok(()) };
    let seen = match found {
        Some(text) => format!("it is `{}`", truncate(&text, SHOWN)),
        None => "there is none".to_owned(),
    };
    let detail = format!("{} must {}, and {seen}", described(what), must.words());
    Err(Failure::new(Phase::Play, FailureKind::AssertionFailed, detail).into())
}

pub(super) async fn assert_element(
    page: PageAccess<'_>,
    target: &ElementTarget,
    state: ElementState,
    act: &Action,
) -> Result<(), Stopped> {
    let time = page.budget.time(act.timeout, Some(GRACE));
    let locators = page.located(target)?;
    let found = ask::element(page.session(), &locators, state, time).await;
    match found.map_err(|why| page.unanswered(why, time))? {
        Found::Yes(_) => Ok(()),
        Found::Weak(count) if !matches!(state, ElementState::Hidden | ElementState::Absent) => {
            Err(not_found(&Found::Weak(count), target).into())
        }
        _ => {
            let detail = format!("{} must be {}", naming::target(target), state.name());
            Err(Failure::new(Phase::Play, FailureKind::AssertionFailed, detail).into())
        }
    }
}

pub(super) async fn extract(
    page: PageAccess<'_>,
    into: &str,
    from: &PageProperty,
    pattern: Option<&Pattern>,
    act: &Action,
) -> Result<String, Stopped> {
    let time = page.budget.time(act.timeout, Some(GRACE));
    let must = pattern.map_or(Must::Anything, |Pattern(regex)| Must::Matches(regex.clone()));
    let value = match (becomes(page, from, time, &must).await?, must) {
        (Ok(text), Must::Matches(regex)) => taken(&regex, &text, page.budget.deadline()).await?,
        (Ok(text), _) => Some(text.to_string()),
        (Err(_), _) => None,
    };
    let Some(value) = value else {
        let detail = format!("`{into}` cannot be taken from {}", described(from));
        return Err(Failure::new(Phase::Play, FailureKind::VariableMissing, detail).into());
    };
    Ok(value)
}

pub(super) async fn keyword(
    page: PageAccess<'_>,
    text: &str,
    regex: bool,
    invert: bool,
    wait: bool,
    act: &Action,
) -> Result<(), Stopped> {
    let place = if regex { EscapeContext::Regex } else { EscapeContext::Value };
    let rule = KeywordRule {
        pattern: page.filled(text, place)?,
        matching: if regex { KeywordMatching::RegularExpression } else { KeywordMatching::PlainText },
        invert,
        match_case: true,
        whole_word: false,
        line_wrap: true,
        normalize_spaces: true,
    };
    if let Err(error) = rule.clone().compile() {
        let detail = format!("the keyword is no pattern: {error}");
        return Err(Failure::new(Phase::Play, FailureKind::ScriptInvalid, detail).into());
    }
    let time = page.budget.time(act.timeout, None);
    keyword_holds(page, &rule, if wait { time } else { time.at_once() }).await
}

/// Judges the source of the page, until it passes or the limit is there.
pub(super) async fn keyword_holds(
    page: PageAccess<'_>,
    rule: &KeywordRule,
    time: Time,
) -> Result<(), Stopped> {
    let deadline = page.budget.deadline();
    let (mut last, mut failure) = (None, None);
    loop {
        let told = ask::text(page.session(), &Of::Source, last, time).await;
        let Told::Text(text, number) = told.map_err(|why| page.unanswered(why, time))? else { break };
        let (source, kind) = (Arc::new(text.into_bytes()), Some(UTF_8.to_owned()));
        match search(Box::new(rule.clone()), source, kind, deadline).await {
            Ok(()) => return Ok(()),
            Err(found) => (last, failure) = (Some(number), Some(found)),
        }
        if Instant::now() >= time.until {
            break;
        }
    }
    let none = || Failure::new(Phase::Validate, FailureKind::KeywordMissing, "the page has no source");
    Err(failure.unwrap_or_else(none).into())
}

/// What is looked at, once it is as it `must` be; else the last of it, as far as there was any.
pub(super) async fn becomes(
    page: PageAccess<'_>,
    what: &PageProperty,
    time: Time,
    must: &Must,
) -> Result<Result<Arc<str>, Option<Arc<str>>>, Stopped> {
    let located = |target: &ElementTarget| -> Result<Located, Failure> { page.located(target) };
    let (locators, target) = match what {
        PageProperty::Text(Some(target))
        | PageProperty::Attribute(target, _)
        | PageProperty::Value(target)
        | PageProperty::Count(target) => (located(target)?, Some(target)),
        PageProperty::Text(None) | PageProperty::Url | PageProperty::Title => (Vec::new(), None),
    };
    let of = match what {
        PageProperty::Text(None) => Of::Page,
        PageProperty::Text(Some(_)) => Of::Element(&locators),
        PageProperty::Attribute(_, name) => Of::Attribute(&locators, name),
        PageProperty::Value(_) => Of::Field(&locators),
        PageProperty::Url => Of::Url,
        PageProperty::Title => Of::Title,
        PageProperty::Count(_) => Of::Count(&locators),
    };
    match told(page, &of, time, must).await? {
        Ok(text) => Ok(Ok(text)),
        Err(Missed { text: None, found: Some(found) }) => match target {
            Some(target) => Err(not_found(&found, target).into()),
            None => Ok(Err(None)),
        },
        Err(missed) => Ok(Err(missed.text)),
    }
}

/// Reads a text until it is as it `must` be, each time that it is another one.
pub(super) async fn told(
    page: PageAccess<'_>,
    of: &Of<'_>,
    mut time: Time,
    must: &Must,
) -> Result<Result<Arc<str>, Missed>, Stopped> {
    let (mut last, mut seen) = (None, None);
    loop {
        let told = ask::text(page.session(), of, last, time).await;
        let is_first = last.is_none();
        match told.map_err(|why| page.unanswered(why, time))? {
            Told::Text(text, number) => {
                let text = Arc::from(text);
                if must.holds(&text, page.budget.deadline()).await? {
                    return Ok(Ok(text));
                }
                (last, seen) = (Some(number), Some(text));
            }
            Told::No(found) => return Ok(Err(Missed { text: seen, found: Some(found) })),
            Told::Same | Told::Lacking => return Ok(Err(Missed { text: seen, found: None })),
        }
        // A page that computed until now had no time to become so.
        if Instant::now() >= time.until && !(is_first && time.renew()) {
            return Ok(Err(Missed { text: seen, found: None }));
        }
    }
}

/// What was there when the time was over.
#[derive(Debug)]
pub(super) struct Missed {
    text: Option<Arc<str>>,
    found: Option<Found>,
}

fn described(what: &PageProperty) -> String {
    match what {
        PageProperty::Text(None) => "the text of the page".to_owned(),
        PageProperty::Text(Some(target)) => format!("the text of {}", naming::target(target)),
        PageProperty::Attribute(target, name) => format!("`{name}` of {}", naming::target(target)),
        PageProperty::Value(target) => format!("the value of {}", naming::target(target)),
        PageProperty::Url => "the address".to_owned(),
        PageProperty::Title => "the title".to_owned(),
        PageProperty::Count(target) => format!("the number of {}", naming::target(target)),
    }
}
