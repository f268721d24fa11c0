//! Actions that read the page: assertions, values for variables, keywords.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::action_error::ActionError;
use super::current_page::CurrentPage;
use super::descriptions;
use super::dom::{self, ElementLookup, LocatorArgs, TextReading, TextSource};
use super::element_lookup_failure::element_lookup_failure;
use super::text_condition::{MAX_QUOTED_CHARS, TextCondition, first_capture_group, render_condition};
use super::time_budget::WaitLimit;
use crate::domain::{Failure, FailureKind, Phase, truncate};
use crate::evaluate::keyword::{KeywordRule, KeywordSyntax};
use crate::evaluate::template::EscapeContext;
use crate::probe::keyword_search::{KeywordSearch, search_keyword};
use crate::script::language::{Action, ElementState, ElementTarget, Matcher, PageProperty, RegexPattern};

/// How long an assertion may take to become true when the action sets no timeout: pages load in parts.
const DEFAULT_ASSERTION_WAIT: Duration = Duration::from_secs(2);
/// The media type of page sources as the browser returns them.
const PAGE_SOURCE_CONTENT_TYPE: &str = "text/html; charset=utf-8";

pub(super) async fn assert_text(
    page: CurrentPage<'_>,
    property: &PageProperty,
    matcher: &Matcher,
    action: &Action,
) -> Result<(), ActionError> {
    let wait_limit = page.budget.action_wait_limit(action.timeout, Some(DEFAULT_ASSERTION_WAIT));
    let condition = render_condition(page, matcher)?;
    let Err(last_value) = wait_for_value(page, property, wait_limit, &condition).await? else {
        return Ok(());
    };
    let actual = match last_value {
        Some(text) => format!("it is `{}`", truncate(&text, MAX_QUOTED_CHARS)),
        None => "it does not exist".to_owned(),
    };
    let detail = format!("{} must {}, but {actual}", describe_property(property), condition.requirement());
    Err(Failure::new(Phase::RunScript, FailureKind::AssertionFailed, detail).into())
}

pub(super) async fn assert_element(
    page: CurrentPage<'_>,
    target: &ElementTarget,
    state: ElementState,
    action: &Action,
) -> Result<(), ActionError> {
    let wait_limit = page.budget.action_wait_limit(action.timeout, Some(DEFAULT_ASSERTION_WAIT));
    let locators = page.render_locators(target)?;
    let lookup = dom::find_element(page.session(), &locators, state, wait_limit).await;
    match lookup.map_err(|error| page.dom_error_to_action_error(error, wait_limit))? {
        ElementLookup::Match(_) => Ok(()),
        ElementLookup::Ambiguous(count) if !matches!(state, ElementState::Hidden | ElementState::Absent) => {
            Err(element_lookup_failure(&ElementLookup::Ambiguous(count), target).into())
        }
        _ => {
            let detail = format!("{} must be {}", descriptions::describe_target(target), state.name());
            Err(Failure::new(Phase::RunScript, FailureKind::AssertionFailed, detail).into())
        }
    }
}

pub(super) async fn extract_value(
    page: CurrentPage<'_>,
    variable_name: &str,
    property: &PageProperty,
    pattern: Option<&RegexPattern>,
    action: &Action,
) -> Result<String, ActionError> {
    let wait_limit = page.budget.action_wait_limit(action.timeout, Some(DEFAULT_ASSERTION_WAIT));
    let pattern = pattern.map(|pattern| page.compile(pattern)).transpose()?;
    let condition = pattern.map_or(TextCondition::AnyText, TextCondition::Matches);
    let value = match (wait_for_value(page, property, wait_limit, &condition).await?, condition) {
        (Ok(text), TextCondition::Matches(pattern)) => {
            first_capture_group(&pattern, &text, page.budget.evaluation_deadline()).await?
        }
        (Ok(text), _) => Some(text.to_string()),
        (Err(_), _) => None,
    };
    let Some(value) = value else {
        let detail = format!("`{variable_name}` cannot be taken from {}", describe_property(property));
        return Err(Failure::new(Phase::RunScript, FailureKind::VariableNotExtracted, detail).into());
    };
    Ok(value)
}

pub(super) async fn assert_keyword(
    page: CurrentPage<'_>,
    text: &str,
    is_regex: bool,
    invert: bool,
    wait: bool,
    action: &Action,
) -> Result<(), ActionError> {
    let context = if is_regex { EscapeContext::Regex } else { EscapeContext::Value };
    let rule = KeywordRule {
        pattern: page.render(text, context)?,
        match_type: if is_regex { KeywordSyntax::RegularExpression } else { KeywordSyntax::PlainText },
        invert,
        match_case: true,
        whole_word: false,
        line_wrap: true,
        normalize_spaces: true,
    };
    let keyword_search = KeywordSearch::new(rule, Arc::clone(page.browser.patterns));
    if let Err(error) = keyword_search.clone().compile() {
        let detail = format!("the keyword is not a valid pattern: {error}");
        return Err(Failure::new(Phase::RunScript, FailureKind::ScriptInvalid, detail).into());
    }
    let wait_limit = page.budget.action_wait_limit(action.timeout, None);
    wait_for_keyword(page, &keyword_search, if wait { wait_limit } else { wait_limit.without_wait() }).await
}

/// Evaluates the source of the page until it passes or the limit is reached.
pub(super) async fn wait_for_keyword(
    page: CurrentPage<'_>,
    keyword_search: &KeywordSearch,
    wait_limit: WaitLimit,
) -> Result<(), ActionError> {
    let deadline = page.budget.evaluation_deadline();
    let (mut last_fingerprint, mut failure) = (None, None);
    loop {
        let reading =
            dom::read_text(page.session(), &TextSource::PageSource, last_fingerprint, wait_limit).await;
        let TextReading::Text(text, fingerprint) =
            reading.map_err(|error| page.dom_error_to_action_error(error, wait_limit))?
        else {
            break;
        };
        let (source, content_type) = (Arc::new(text.into_bytes()), Some(PAGE_SOURCE_CONTENT_TYPE.to_owned()));
        match search_keyword(keyword_search.clone(), source, content_type, deadline).await {
            Ok(()) => return Ok(()),
            Err(unmet) => (last_fingerprint, failure) = (Some(fingerprint), Some(unmet)),
        }
        if Instant::now() >= wait_limit.retry_until {
            break;
        }
    }
    let no_source = || Failure::new(Phase::Validate, FailureKind::KeywordMissing, "the page has no source");
    Err(failure.unwrap_or_else(no_source).into())
}

/// Returns the value of `property` once it meets `condition`; otherwise its last value, if there was one.
pub(super) async fn wait_for_value(
    page: CurrentPage<'_>,
    property: &PageProperty,
    wait_limit: WaitLimit,
    condition: &TextCondition,
) -> Result<Result<Arc<str>, Option<Arc<str>>>, ActionError> {
    let render_locators =
        |target: &ElementTarget| -> Result<LocatorArgs, Failure> { page.render_locators(target) };
    let (locators, target) = match property {
        PageProperty::Text(Some(target))
        | PageProperty::Attribute(target, _)
        | PageProperty::Value(target)
        | PageProperty::Count(target) => (render_locators(target)?, Some(target)),
        PageProperty::Text(None) | PageProperty::Url | PageProperty::Title => (Vec::new(), None),
    };
    let source = match property {
        PageProperty::Text(None) => TextSource::PageText,
        PageProperty::Text(Some(_)) => TextSource::ElementText(&locators),
        PageProperty::Attribute(_, name) => TextSource::Attribute(&locators, name),
        PageProperty::Value(_) => TextSource::FieldValue(&locators),
        PageProperty::Url => TextSource::Url,
        PageProperty::Title => TextSource::Title,
        PageProperty::Count(_) => TextSource::ElementCount(&locators),
    };
    match wait_for_text(page, &source, wait_limit, condition).await? {
        Ok(text) => Ok(Ok(text)),
        Err(UnmetCondition { last_text: None, lookup: Some(found) }) => match target {
            Some(target) => Err(element_lookup_failure(&found, target).into()),
            None => Ok(Err(None)),
        },
        Err(unmet) => Ok(Err(unmet.last_text)),
    }
}

/// Reads a text until it meets `condition`, each time that it changed.
pub(super) async fn wait_for_text(
    page: CurrentPage<'_>,
    source: &TextSource<'_>,
    mut wait_limit: WaitLimit,
    condition: &TextCondition,
) -> Result<Result<Arc<str>, UnmetCondition>, ActionError> {
    let (mut last_fingerprint, mut last_text) = (None, None);
    loop {
        let reading = dom::read_text(page.session(), source, last_fingerprint, wait_limit).await;
        let is_first = last_fingerprint.is_none();
        match reading.map_err(|error| page.dom_error_to_action_error(error, wait_limit))? {
            TextReading::Text(text, fingerprint) => {
                let text = Arc::from(text);
                if condition.is_met_by(&text, page.budget.evaluation_deadline()).await? {
                    return Ok(Ok(text));
                }
                (last_fingerprint, last_text) = (Some(fingerprint), Some(text));
            }
            TextReading::ElementNotFound(found) => {
                return Ok(Err(UnmetCondition { last_text, lookup: Some(found) }));
            }
            TextReading::Unchanged | TextReading::TextMissing => {
                return Ok(Err(UnmetCondition { last_text, lookup: None }));
            }
        }
        // A page that was too busy to respond in time gets one more wait.
        if Instant::now() >= wait_limit.retry_until && !(is_first && wait_limit.restart_default_wait()) {
            return Ok(Err(UnmetCondition { last_text, lookup: None }));
        }
    }
}

/// What was found when the time was over.
#[derive(Debug)]
pub(super) struct UnmetCondition {
    last_text: Option<Arc<str>>,
    lookup: Option<ElementLookup>,
}

fn describe_property(property: &PageProperty) -> String {
    match property {
        PageProperty::Text(None) => "the text of the page".to_owned(),
        PageProperty::Text(Some(target)) => format!("the text of {}", descriptions::describe_target(target)),
        PageProperty::Attribute(target, name) => {
            format!("`{name}` of {}", descriptions::describe_target(target))
        }
        PageProperty::Value(target) => format!("the value of {}", descriptions::describe_target(target)),
        PageProperty::Url => "the address".to_owned(),
        PageProperty::Title => "the title".to_owned(),
        PageProperty::Count(target) => format!("the number of {}", descriptions::describe_target(target)),
    }
}
