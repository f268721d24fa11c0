//! Questions to the page that is looked at, answered by `page.js`.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::time_budget::{DRIVER_GRACE, WaitLimit};
use crate::browser::{BrowserSession, ElementRef, WebDriverError};
use crate::script::language::ElementState;

/// The body of the function that answers.
const DOM_SCRIPT: &str = include_str!("dom.js");
/// UTF-16 units of a text that is read at most.
const LONGEST_TEXT: usize = 1024 * 1024;
/// Those of a page's source.
const LONGEST_SOURCE: usize = 10 * 1024 * 1024;
/// Between two tries on a page that goes away or does not take an act yet.
const PAUSE: Duration = Duration::from_millis(50);

/// A locator whose texts are filled in, as `page.js` takes it.
pub(super) type LocatorArgs = Vec<Value>;

/// What was found of an element.
#[derive(Debug)]
pub(super) enum ElementLookup {
    /// The element, in the state that was asked for; none where it is to be absent.
    Match(Option<ElementRef>),
    /// It is there, in another state.
    WrongState,
    /// So many match, and none is better than the others.
    Ambiguous(u64),
    /// None matches.
    NotFound,
}

/// A text of the page.
#[derive(Debug)]
pub(super) enum TextReading {
    /// It, and the number that stands for it.
    Text(String, u64),
    /// It is the same as the last one.
    Unchanged,
    /// The element is there and lacks it.
    Missing,
    /// The element is not there.
    ElementNotFound(ElementLookup),
}

/// Why a question was not answered.
#[derive(Debug)]
pub(super) enum DomError {
    Driver(WebDriverError),
    /// A locator that the browser does not take.
    InvalidLocator(String),
}

impl From<WebDriverError> for DomError {
    fn from(error: WebDriverError) -> Self {
        Self::Driver(error)
    }
}

/// What text is asked for.
#[derive(Debug)]
pub(super) enum TextSource<'a> {
    Page,
    Element(&'a LocatorArgs),
    Attribute(&'a LocatorArgs, &'a str),
    FieldValue(&'a LocatorArgs),
    Count(&'a LocatorArgs),
    Url,
    Title,
    Source,
    /// What tells whether the page changed; its text is empty.
    Fingerprint,
}

impl TextSource<'_> {
    fn to_query(&self) -> Value {
        let text = |what: &str| json!({ "what": what, "longest": LONGEST_TEXT });
        match self {
            Self::Page => text("text"),
            Self::Element(locators) => {
                json!({ "what": "text", "longest": LONGEST_TEXT, "locators": locators })
            }
            Self::Attribute(locators, name) => {
                json!({ "what": "attribute", "longest": LONGEST_TEXT, "locators": locators, "name": name })
            }
            Self::FieldValue(locators) => {
                json!({ "what": "attribute", "longest": LONGEST_TEXT, "locators": locators })
            }
            Self::Count(locators) => json!({ "what": "count", "longest": 32, "locators": locators }),
            Self::Url => text("url"),
            Self::Title => text("title"),
            Self::Fingerprint => json!({ "what": "shape", "longest": LONGEST_SOURCE }),
            Self::Source => json!({ "what": "source", "longest": LONGEST_SOURCE }),
        }
    }
}

/// Looks for an element, until it is in `state` or the time is over.
pub(super) async fn find_element(
    session: &BrowserSession,
    locators: &LocatorArgs,
    state: ElementState,
    time: WaitLimit,
) -> Result<ElementLookup, DomError> {
    let question = json!({ "what": "element", "locators": locators, "state": state.name() });
    let answer = query(session, question, time).await?;
    if answer["done"] == true {
        return Ok(ElementLookup::Match(ElementRef::from_value(&answer["element"])));
    }
    Ok(to_lookup(&answer))
}

/// Reads a text, until it is another one than `last` stands for, or the time is over.
pub(super) async fn read_text(
    session: &BrowserSession,
    of: &TextSource<'_>,
    last: Option<u64>,
    time: WaitLimit,
) -> Result<TextReading, DomError> {
    let mut question = of.to_query();
    question["last"] = json!(last);
    let mut answer = query(session, question, time).await?;
    if answer["done"] == true {
        let number = answer["last"].as_u64().unwrap_or_default();
        let Value::String(text) = answer["text"].take() else { return Ok(TextReading::Unchanged) };
        return Ok(TextReading::Text(text, number));
    }
    Ok(if answer["lacking"] == true {
        TextReading::Missing
    } else if answer["last"].is_u64() {
        TextReading::Unchanged
    } else {
        TextReading::ElementNotFound(to_lookup(&answer))
    })
}

/// Notes from now on whether the page gets `event`.
pub(super) async fn watch_event(
    session: &BrowserSession,
    event: &str,
    time: WaitLimit,
) -> Result<(), DomError> {
    let question = json!({ "what": "watch", "event": event });
    session.execute(DOM_SCRIPT, vec![question], time.latest).await?;
    Ok(())
}

/// Whether what [`watch_event`] noted came, or comes in time. A page that was left took the note along: then it counts
/// as come.
pub(super) async fn event_fired(session: &BrowserSession, time: WaitLimit) -> Result<bool, DomError> {
    Ok(query(session, json!({ "what": "noticed" }), time).await?["done"] == true)
}

/// Asks, and lets the page wait for a better answer; asks again when the page went away meanwhile.
async fn query(session: &BrowserSession, mut question: Value, time: WaitLimit) -> Result<Value, DomError> {
    loop {
        let within = time.until.saturating_duration_since(Instant::now());
        question["within"] = json!(u64::try_from(within.as_millis()).unwrap_or(u64::MAX));
        match session.execute(DOM_SCRIPT, vec![question.clone()], time.latest).await {
            // Chromium's driver gives nothing when a dialog opens meanwhile.
            Ok(Value::Null) => match session.dialog_text(time.latest).await? {
                Some(text) => return Err(WebDriverError::DialogOpen(text).into()),
                None if has_time_before(time.until) => retry_delay().await,
                None => return Ok(json!({ "done": false })),
            },
            Ok(answer) => match answer["bad"].as_str() {
                Some(reason) => return Err(DomError::InvalidLocator(reason.to_owned())),
                // A browser without promises, which cannot wait by itself.
                None if answer["done"] == false && has_time_before(time.until) => retry_delay().await,
                None => return Ok(answer),
            },
            // The page was left while it was asked: the next one answers.
            Err(WebDriverError::Unloaded | WebDriverError::StaleElement) if has_time_before(time.latest) => {
                retry_delay().await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether there is time for another try before `until`.
fn has_time_before(until: Instant) -> bool {
    Instant::now() + PAUSE < until
}

/// Until when what is asked in passing has to be answered.
pub(super) fn short_deadline() -> Instant {
    Instant::now() + DRIVER_GRACE
}

/// Lets the browser go on for a moment.
pub(super) async fn retry_delay() {
    tokio::time::sleep(PAUSE).await;
}

fn to_lookup(answer: &Value) -> ElementLookup {
    if ElementRef::from_value(&answer["element"]).is_some() {
        ElementLookup::WrongState
    } else {
        match answer["weak"].as_u64() {
            Some(weak) if weak > 0 => ElementLookup::Ambiguous(weak),
            _ => ElementLookup::NotFound,
        }
    }
}
