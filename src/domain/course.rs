//! How a check went, piece by piece: its steps, its HTTP exchanges, the objects of its page. All of it is
//! bounded, and values that let somebody in are masked before they come here.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::header_list::HeaderList;
use super::phase::Phases;
use super::status::Status;

mod browser;

pub use browser::{ActResult, BrowserFacts, ConsoleEntry, PageTiming, PlayedStep, ViewResult};

/// The pieces of a check; flattened in JSON (behaviour.md 9).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// What was done one after another, in the order of `number`; ends with the step that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepResult>,
    /// HTTP exchanges outside of steps, where they are kept: of a failed attempt, and where somebody asked
    /// for them (`vigie check --har`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<HttpExchange>,
    /// The objects of the page, of a full page check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Box<FullPage>>,
    /// The browser that played a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Box<BrowserFacts>>,
    /// Content views of a script, in the order of the monitor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ViewResult>,
}

impl Course {
    /// The names of its fields, as they are stored.
    pub const PARTS: [&'static str; 5] = ["steps", "exchanges", "page", "browser", "views"];

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One step of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// Its place in the order of the monitor, from 1.
    pub number: u32,
    /// What people call it.
    pub name: String,
    /// What it came to.
    pub status: Status,
    /// From the start of the attempt to its own, in microseconds.
    pub started_us: u64,
    /// How long it took, in microseconds.
    pub total_us: u64,
    /// Where the time went; over redirects, sums.
    pub phases: Phases,
    /// All that was wrong with it, the deciding one first; none when it passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Its exchanges, redirects included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<HttpExchange>,
    /// Names of the variables that it set. Their values may be secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// What the browser told of it, of a step of a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<Box<PlayedStep>>,
}

/// One request and its answer, as they went over the wire. Header values that let somebody in are masked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HttpExchange {
    /// From the start of the attempt until it began, in microseconds.
    pub started_us: u64,
    /// `GET`, …
    pub method: String,
    /// What was asked for, without credentials.
    pub url: String,
    /// The peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// Where the time went.
    pub phases: Phases,
    /// Header fields that were sent.
    #[serde(default, skip_serializing_if = "HeaderList::is_empty")]
    pub request_headers: HeaderList,
    /// The beginning of what was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<Excerpt>,
    /// Status code of the answer; 0 when none came.
    #[serde(default)]
    pub http_status: u16,
    /// `HTTP/1.1`, `HTTP/2`, …; empty when no answer came.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub http_version: String,
    /// Reason phrase of HTTP/1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_reason: Option<String>,
    /// Header fields of the answer.
    #[serde(default, skip_serializing_if = "HeaderList::is_empty")]
    pub response_headers: HeaderList,
    /// The beginning of the decoded body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<Excerpt>,
    /// Bytes of the body as they came over the wire.
    #[serde(default)]
    pub body_wire_bytes: u64,
    /// Bytes of the body after decompression.
    #[serde(default)]
    pub body_bytes: u64,
    /// What went wrong with the exchange itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// The beginning of a body, as text; bytes that are none are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// Media type and charset as declared; empty without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mimetype: String,
    /// The text.
    pub text: String,
    /// Bytes of the whole.
    pub bytes: u64,
}

/// The objects that a page consists of, and how they were loaded (behaviour.md 4, full page).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FullPage {
    /// From the request for the page until the last object was there, in microseconds.
    pub total_us: u64,
    /// Decoded bytes of the page and all objects.
    pub bytes: u64,
    /// Objects that were found and are not listed, since there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u32,
    /// The objects, in the order in which they were found.
    pub objects: Vec<PageObject>,
    /// How they differ from the last good run of the same location; set when the run is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ObjectChange>,
}

/// What an object of a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectKind {
    /// `img`, `srcset`, `picture`, `poster`, images of style sheets.
    Image,
    /// `script`.
    Script,
    /// Style sheets, by `link` or `@import`.
    Style,
    /// `iframe` and `frame`.
    Frame,
    /// Fonts of style sheets.
    Font,
    /// `audio`, `video`, `source`, `track`.
    Media,
    /// Other resources, such as icons and manifests.
    Other,
    /// A page itself, redirects to it among them, where a browser loaded it.
    Document,
}

/// One object of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageObject {
    /// Where it is, without credentials; where it was found, before redirects.
    pub url: String,
    /// What it is for.
    pub kind: ObjectKind,
    /// Whether it belongs to another registrable domain than the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub third_party: bool,
    /// Whether Vigie itself did not let it through: its host is blocked, or the egress policy denies it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// From the request for the page until it was asked for, in microseconds.
    pub started_us: u64,
    /// How long it took, in microseconds.
    pub total_us: u64,
    /// Where the time went; without resolve, connect and tls on a connection that stood.
    pub phases: Phases,
    /// Status code of the answer; 0 when none came.
    #[serde(default)]
    pub http_status: u16,
    /// `HTTP/1.1`, `HTTP/2`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub http_version: String,
    /// Media type as declared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mimetype: String,
    /// Bytes over the wire.
    #[serde(default)]
    pub body_wire_bytes: u64,
    /// Bytes after decompression.
    #[serde(default)]
    pub body_bytes: u64,
    /// Why it could not be loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// How an object differs from the run before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectChange {
    /// `7121` size changed, `7122` missing, `7123` new.
    pub status: Status,
    /// The object.
    pub url: String,
    /// Decoded bytes before; none of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Decoded bytes now; none of a missing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
