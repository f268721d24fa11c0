//! How a check went, piece by piece: its steps, its HTTP exchanges, the objects of its page. All of it is
//! bounded, and values that let somebody in are masked before they come here.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::header_list::HeaderList;
use super::phase::Phases;
use super::status::Status;

mod browser;
mod page;

pub use browser::{ActionResult, BrowserFacts, BrowserStep, ConsoleEntry, ContentViewResult, PageTiming};
pub use page::{FullPage, PageObject, PageObjectChange, PageObjectKind};

/// The pieces of a check; flattened in JSON (behaviour.md 9).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckDetails {
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
    pub views: Vec<ContentViewResult>,
}

impl CheckDetails {
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
    #[serde(rename = "played")]
    pub browser_step: Option<Box<BrowserStep>>,
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
