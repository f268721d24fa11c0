//! Questions to the page that is looked at, answered by `page.js`.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::budget::{SLACK, Time};
use crate::browser::{Element, Session, Trouble};
use crate::script::dialect::ElementState;

/// The body of the function that answers.
const PAGE: &str = include_str!("page.js");
/// UTF-16 units of a text that is read at most.
const LONGEST_TEXT: usize = 1024 * 1024;
/// Those of a page's source.
const LONGEST_SOURCE: usize = 10 * 1024 * 1024;
/// Between two tries on a page that goes away or does not take an act yet.
const PAUSE: Duration = Duration::from_millis(50);

/// A locator whose texts are filled in, as `page.js` takes it.
pub(super) type Located = Vec<Value>;

/// What was found of an element.
#[derive(Debug)]
pub(super) enum Found {
    /// The element, in the state that was asked for; none where it is to be absent.
    Yes(Option<Element>),
    /// It is there, in another state.
    OtherState,
    /// So many match, and none is better than the others.
    Weak(u64),
    /// None matches.
    No,
}

/// A text of the page.
#[derive(Debug)]
pub(super) enum Told {
    /// It, and the number that stands for it.
    Text(String, u64),
    /// It is the same as the last one.
    Same,
    /// The element is there and lacks it.
    Lacking,
    /// The element is not there.
    No(Found),
}

/// Why a question was not answered.
#[derive(Debug)]
pub(super) enum Unanswered {
    Trouble(Trouble),
    /// A locator that the browser does not take.
    Locator(String),
}

impl From<Trouble> for Unanswered {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// What text is asked for.
#[derive(Debug)]
pub(super) enum Of<'a> {
    Page,
    Element(&'a Located),
    Attribute(&'a Located, &'a str),
    Field(&'a Located),
    Count(&'a Located),
    Url,
    Title,
    Source,
    /// What tells whether the page changed; its text is empty.
    Shape,
}

impl Of<'_> {
    fn question(&self) -> Value {
        let text = |what: &str| json!({ "what": what, "longest": LONGEST_TEXT });
        match self {
            Self::Page => text("text"),
            Self::Element(locators) => {
                json!({ "what": "text", "longest": LONGEST_TEXT, "locators": locators })
            }
            Self::Attribute(locators, name) => {
                json!({ "what": "attribute", "longest": LONGEST_TEXT, "locators": locators, "name": name })
            }
            Self::Field(locators) => {
                json!({ "what": "attribute", "longest": LONGEST_TEXT, "locators": locators })
            }
            Self::Count(locators) => json!({ "what": "count", "longest": 32, "locators": locators }),
            Self::Url => text("url"),
            Self::Title => text("title"),
            Self::Shape => json!({ "what": "shape", "longest": LONGEST_SOURCE }),
            Self::Source => json!({ "what": "source", "longest": LONGEST_SOURCE }),
        }
    }
}

/// Looks for an element, until it is in `state` or the time is over.
pub(super) async fn element(
    session: &Session,
    locators: &Located,
    state: ElementState,
    time: Time,
) -> Result<Found, Unanswered> {
    let question = json!({ "what": "element", "locators": locators, "state": state.name() });
    let answer = ask(session, question, time).await?;
    if answer["done"] == true {
        return Ok(Found::Yes(Element::of(&answer["element"])));
    }
    Ok(missing(&answer))
}

/// Reads a text, until it is another one than `last` stands for, or the time is over.
pub(super) async fn text(
    session: &Session,
    of: &Of<'_>,
    last: Option<u64>,
    time: Time,
) -> Result<Told, Unanswered> {
    let mut question = of.question();
    question["last"] = json!(last);
    let mut answer = ask(session, question, time).await?;
    if answer["done"] == true {
        let number = answer["last"].as_u64().unwrap_or_default();
        let Value::String(text) = answer["text"].take() else { return Ok(Told::Same) };
        return Ok(Told::Text(text, number));
    }
    Ok(if answer["lacking"] == true {
        Told::Lacking
    } else if answer["last"].is_u64() {
        Told::Same
    } else {
        Told::No(missing(&answer))
    })
}

/// Notes from now on whether the page gets `event`.
pub(super) async fn watch(session: &Session, event: &str, time: Time) -> Result<(), Unanswered> {
    let question = json!({ "what": "watch", "event": event });
    session.run(PAGE, vec![question], time.latest).await?;
    Ok(())
}

/// Whether what [`watch`] noted came, or comes in time. A page that was left took the note along: then it counts
/// as come.
pub(super) async fn noticed(session: &Session, time: Time) -> Result<bool, Unanswered> {
    Ok(ask(session, json!({ "what": "noticed" }), time).await?["done"] == true)
}

/// Asks, and lets the page wait for a better answer; asks again when the page went away meanwhile.
async fn ask(session: &Session, mut question: Value, time: Time) -> Result<Value, Unanswered> {
    loop {
        let within = time.until.saturating_duration_since(Instant::now());
        question["within"] = json!(u64::try_from(within.as_millis()).unwrap_or(u64::MAX));
        match session.run(PAGE, vec![question.clone()], time.latest).await {
            // Chromium's driver gives nothing when a dialog opens meanwhile.
            Ok(Value::Null) => match session.dialog(time.latest).await? {
                Some(text) => return Err(Trouble::Dialog(text).into()),
                None if has_left(time.until) => pause().await,
                None => return Ok(json!({ "done": false })),
            },
            Ok(answer) => match answer["bad"].as_str() {
                Some(why) => return Err(Unanswered::Locator(why.to_owned())),
                // A browser without promises, which cannot wait by itself.
                None if answer["done"] == false && has_left(time.until) => pause().await,
                None => return Ok(answer),
            },
            // The page was left while it was asked: the next one answers.
            Err(Trouble::Unloaded | Trouble::Stale) if has_left(time.latest) => pause().await,
            Err(trouble) => return Err(trouble.into()),
        }
    }
}

/// Whether there is time for another try before `until`.
fn has_left(until: Instant) -> bool {
    Instant::now() + PAUSE < until
}

/// Until when what is asked in passing has to be answered.
pub(super) fn soon() -> Instant {
    Instant::now() + SLACK
}

/// Lets the browser go on for a moment.
pub(super) async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

fn missing(answer: &Value) -> Found {
    if Element::of(&answer["element"]).is_some() {
        Found::OtherState
    } else {
        match answer["weak"].as_u64() {
            Some(weak) if weak > 0 => Found::Weak(weak),
            _ => Found::No,
        }
    }
}
