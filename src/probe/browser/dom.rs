//! Queries to the current page, which `dom.js` runs.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::time_budget::{DRIVER_GRACE, WaitLimit};
use crate::browser::{BrowserSession, ElementRef, WebDriverError};
use crate::script::language::ElementState;

/// The body of the JavaScript function that runs the queries.
const DOM_SCRIPT: &str = include_str!("dom.js");
/// Longest text that is read, in UTF-16 units.
const MAX_TEXT_UNITS: usize = 1024 * 1024;
/// Longest page source that is read, in UTF-16 units.
const MAX_SOURCE_UNITS: usize = 10 * 1024 * 1024;
/// Delay before a retry on a page that is being unloaded or does not accept the action yet.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The locators of one element with their texts filled in, as `dom.js` expects them.
pub(super) type LocatorArgs = Vec<Value>;

/// The result of looking for an element.
#[derive(Debug)]
pub(super) enum ElementLookup {
    /// The element, in the requested state; `None` when it was expected to be absent.
    Match(Option<ElementRef>),
    /// It exists, in another state.
    WrongState,
    /// This many elements match equally well.
    Ambiguous(u64),
    /// No element matches.
    NotFound,
}

/// The result of reading a text of the page.
#[derive(Debug)]
pub(super) enum TextReading {
    /// The text, and the fingerprint that identifies it.
    Text(String, u64),
    /// It is the same as the last time.
    Unchanged,
    /// The element exists, but does not have the text.
    TextMissing,
    /// The element was not found.
    ElementNotFound(ElementLookup),
}

/// Why a query failed.
#[derive(Debug)]
pub(super) enum DomError {
    Driver(WebDriverError),
    /// The browser rejects a locator, as described.
    InvalidLocator(String),
}

impl From<WebDriverError> for DomError {
    fn from(error: WebDriverError) -> Self {
        Self::Driver(error)
    }
}

/// The text to read.
#[derive(Debug)]
pub(super) enum TextSource<'a> {
    PageText,
    ElementText(&'a LocatorArgs),
    Attribute(&'a LocatorArgs, &'a str),
    FieldValue(&'a LocatorArgs),
    ElementCount(&'a LocatorArgs),
    Url,
    Title,
    PageSource,
    /// A fingerprint that changes when the page does; the text itself is empty.
    PageFingerprint,
}

impl TextSource<'_> {
    fn to_request(&self) -> Value {
        let text = |what: &str| json!({ "what": what, "longest": MAX_TEXT_UNITS });
        match self {
            Self::PageText => text("text"),
            Self::ElementText(locators) => {
                json!({ "what": "text", "longest": MAX_TEXT_UNITS, "locators": locators })
            }
            Self::Attribute(locators, name) => {
                json!({ "what": "attribute", "longest": MAX_TEXT_UNITS, "locators": locators, "name": name })
            }
            Self::FieldValue(locators) => {
                json!({ "what": "attribute", "longest": MAX_TEXT_UNITS, "locators": locators })
            }
            Self::ElementCount(locators) => json!({ "what": "count", "longest": 32, "locators": locators }),
            Self::Url => text("url"),
            Self::Title => text("title"),
            Self::PageFingerprint => json!({ "what": "shape", "longest": MAX_SOURCE_UNITS }),
            Self::PageSource => json!({ "what": "source", "longest": MAX_SOURCE_UNITS }),
        }
    }
}

/// Looks for an element until it is in `state` or the time is over.
pub(super) async fn find_element(
    session: &BrowserSession,
    locators: &LocatorArgs,
    state: ElementState,
    wait_limit: WaitLimit,
) -> Result<ElementLookup, DomError> {
    let request = json!({ "what": "element", "locators": locators, "state": state.name() });
    let response = run_query(session, request, wait_limit).await?;
    if response["done"] == true {
        return Ok(ElementLookup::Match(ElementRef::from_value(&response["element"])));
    }
    Ok(lookup_without_match(&response))
}

/// Reads a text until its fingerprint differs from `last_fingerprint`, or the time is over.
pub(super) async fn read_text(
    session: &BrowserSession,
    source: &TextSource<'_>,
    last_fingerprint: Option<u64>,
    wait_limit: WaitLimit,
) -> Result<TextReading, DomError> {
    let mut request = source.to_request();
    request["last"] = json!(last_fingerprint);
    let mut response = run_query(session, request, wait_limit).await?;
    if response["done"] == true {
        let fingerprint = response["last"].as_u64().unwrap_or_default();
        let Value::String(text) = response["text"].take() else { return Ok(TextReading::Unchanged) };
        return Ok(TextReading::Text(text, fingerprint));
    }
    Ok(if response["lacking"] == true {
        TextReading::TextMissing
    } else if response["last"].is_u64() {
        TextReading::Unchanged
    } else {
        TextReading::ElementNotFound(lookup_without_match(&response))
    })
}

/// Starts recording whether the page gets `event`.
pub(super) async fn start_watching_event(
    session: &BrowserSession,
    event: &str,
    wait_limit: WaitLimit,
) -> Result<(), DomError> {
    let request = json!({ "what": "watch", "event": event });
    session.execute_script(DOM_SCRIPT, vec![request], wait_limit.response_deadline).await?;
    Ok(())
}

/// Waits for the event of [`start_watching_event`]. When the page was unloaded, the record is lost; the
/// event then counts as having occurred.
pub(super) async fn wait_for_expected_event(
    session: &BrowserSession,
    wait_limit: WaitLimit,
) -> Result<bool, DomError> {
    Ok(run_query(session, json!({ "what": "noticed" }), wait_limit).await?["done"] == true)
}

/// Runs the query. The page itself waits until the condition holds; the query is repeated when the page was unloaded.
async fn run_query(
    session: &BrowserSession,
    mut request: Value,
    wait_limit: WaitLimit,
) -> Result<Value, DomError> {
    loop {
        let remaining = wait_limit.retry_until.saturating_duration_since(Instant::now());
        request["within"] = json!(u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX));
        match session.execute_script(DOM_SCRIPT, vec![request.clone()], wait_limit.response_deadline).await {
            // Chromium's driver returns null when a dialog opens meanwhile.
            Ok(Value::Null) => match session.dialog_text(wait_limit.response_deadline).await? {
                Some(text) => return Err(WebDriverError::DialogOpen(text).into()),
                None if has_time_to_retry(wait_limit.retry_until) => wait_before_retry().await,
                None => return Ok(json!({ "done": false })),
            },
            Ok(response) => match response["bad"].as_str() {
                Some(reason) => return Err(DomError::InvalidLocator(reason.to_owned())),
                // A browser without promises cannot wait by itself.
                None if response["done"] == false && has_time_to_retry(wait_limit.retry_until) => {
                    wait_before_retry().await;
                }
                None => return Ok(response),
            },
            // The page was unloaded during the query: query the next one.
            Err(WebDriverError::PageUnloaded | WebDriverError::StaleElement)
                if has_time_to_retry(wait_limit.response_deadline) =>
            {
                wait_before_retry().await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether there is time for a retry before `until`.
fn has_time_to_retry(until: Instant) -> bool {
    Instant::now() + RETRY_DELAY < until
}

/// Returns the deadline of a query that does not wait for a condition.
pub(super) fn query_deadline() -> Instant {
    Instant::now() + DRIVER_GRACE
}

/// Waits briefly before a retry.
pub(super) async fn wait_before_retry() {
    tokio::time::sleep(RETRY_DELAY).await;
}

fn lookup_without_match(response: &Value) -> ElementLookup {
    if ElementRef::from_value(&response["element"]).is_some() {
        ElementLookup::WrongState
    } else {
        match response["weak"].as_u64() {
            Some(match_count) if match_count > 0 => ElementLookup::Ambiguous(match_count),
            _ => ElementLookup::NotFound,
        }
    }
}
