//! The details of a check: its steps, HTTP exchanges and page objects. All of them are bounded, and credentials are
//! masked before they are stored here.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::header_list::HeaderList;
use super::phase::Phases;
use super::status::Status;

mod browser;
mod page;

pub use browser::{ActionResult, BrowserFacts, BrowserStep, ConsoleEntry, ContentViewResult, PageTiming};
pub use page::{PageLoad, PageObject, PageObjectChange, PageObjectKind};

/// The details of a check; flattened in JSON (behaviour.md 9).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckDetails {
    /// Steps in the order of `number`; ends with the step that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepResult>,
    /// HTTP exchanges outside of steps, where they are recorded: for a failed attempt, and on request (`vigie check
    /// --har`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<HttpExchange>,
    /// Objects of the page, for a full page check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "page")]
    pub page_load: Option<Box<PageLoad>>,
    /// The browser that ran a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Box<BrowserFacts>>,
    /// Content views of a script, in the order of the monitor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "views")]
    pub content_views: Vec<ContentViewResult>,
    /// Trace id of the requests, in lower-case hexadecimal (`trace_requests`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

impl CheckDetails {
    /// Returns the trace id of the requests of the check, in lower-case hexadecimal; `None` when they carried none.
    #[must_use]
    pub fn trace_id(&self) -> Option<&str> {
        let of_browser = self.browser.as_ref().and_then(|browser| browser.trace_id.as_deref());
        self.trace_id.as_deref().or(of_browser)
    }

    /// Returns the number of steps that failed; `None` for a check without steps.
    #[must_use]
    pub fn failed_steps(&self) -> Option<u32> {
        let count = self.steps.iter().filter(|step| step.has_failed()).count();
        (!self.steps.is_empty()).then(|| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Whether it holds no details.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One step of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// Position in the order of the monitor, from 1.
    pub number: u32,
    /// Display name.
    pub name: String,
    /// Status code of the step.
    pub status: Status,
    /// Start of the step after the start of the attempt, in microseconds.
    #[serde(rename = "started_us")]
    pub start_offset_us: u64,
    /// Duration in microseconds.
    #[serde(rename = "total_us")]
    pub duration_us: u64,
    /// Duration of each phase, summed over redirects.
    pub phases: Phases,
    /// Failures, the deciding one first; empty when the step passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// HTTP exchanges, redirects included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<HttpExchange>,
    /// Tests of the scripts of the step, and assertions of its file, in the order in which they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<StepTest>,
    /// Names of the variables that the step set, without their values: these may be secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "variables")]
    pub variable_names: Vec<String>,
    /// What the browser recorded, for a step of a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "played")]
    pub browser_step: Option<Box<BrowserStep>>,
}

impl StepResult {
    /// Creates the result of a step that began `start_offset_us` microseconds after its attempt, with nothing in it yet.
    #[must_use]
    pub fn new(number: u32, name: String, start_offset_us: u64) -> Self {
        Self {
            number,
            name,
            status: Status::OK,
            start_offset_us,
            duration_us: 0,
            phases: Phases::default(),
            failures: Vec::new(),
            exchanges: Vec::new(),
            tests: Vec::new(),
            variable_names: Vec::new(),
            browser_step: None,
        }
    }

    /// Whether the step failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.status != Status::OK
    }
}

/// A test of a step: one of a script of a collection, or an assertion of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTest {
    /// Its name.
    pub name: String,
    /// Whether it passed.
    pub outcome: StepTestOutcome,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a test of a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepTestOutcome {
    /// It passed.
    Passed,
    /// It failed, and so did the step.
    Failed,
    /// It was left out.
    Skipped,
}

/// One request and its response, as sent over the wire. Header values that hold credentials are masked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HttpExchange {
    /// Start after the start of the attempt, in microseconds.
    #[serde(rename = "started_us")]
    pub start_offset_us: u64,
    /// HTTP method: `GET`, …
    pub method: String,
    /// Requested URL, without credentials.
    pub url: String,
    /// Address of the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// Duration of each phase.
    pub phases: Phases,
    /// Header fields of the request.
    #[serde(default, skip_serializing_if = "HeaderList::is_empty")]
    pub request_headers: HeaderList,
    /// Beginning of the request body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<Excerpt>,
    /// Status code of the response; 0 without a response.
    #[serde(default)]
    pub http_status: u16,
    /// `HTTP/1.1`, `HTTP/2`, …; empty without a response.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub http_version: String,
    /// Reason phrase of HTTP/1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_reason: Option<String>,
    /// Header fields of the response.
    #[serde(default, skip_serializing_if = "HeaderList::is_empty")]
    pub response_headers: HeaderList,
    /// Beginning of the decoded response body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<Excerpt>,
    /// Size of the response body over the wire, in bytes.
    #[serde(default)]
    pub body_wire_bytes: u64,
    /// Size of the response body after decompression, in bytes.
    #[serde(default)]
    pub body_bytes: u64,
    /// Failure of the exchange itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// The beginning of a body, as text; bytes that are not text are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// Media type and charset as declared; empty without them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "mimetype")]
    pub media_type: String,
    /// The text.
    pub text: String,
    /// Size of the whole body in bytes.
    #[serde(rename = "bytes")]
    pub body_bytes: u64,
}
