//! What is kept of a script that a browser played (behaviour.md 8). Times are integer microseconds.

use serde::{Deserialize, Serialize};

use super::page::PageObject;
use crate::domain::failure::Failure;
use crate::domain::phase::Phases;
use crate::domain::status::Status;

/// The browser, as it was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserFacts {
    /// `Google Chrome` or `Firefox`, as `browser_type` names it.
    pub name: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Its driver, with version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub driver: String,
    /// What it called itself to servers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    /// Width and height of the page in CSS pixels.
    #[serde(default)]
    pub viewport: (u32, u32),
    /// The device that it pretended to be (`subtype`), by its name in the settings; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// Trace id of the requests to the script's own site (`transaction_trace`), in lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Most bytes of memory that its processes took together, as far as it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// A step as the browser saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BrowserStep {
    /// Address of the page at its end, without credentials.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// Title of the page at its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Status code of the last document that was loaded in it; 0 when none was.
    #[serde(default)]
    pub http_status: u16,
    /// Its acts, in their order; ends with the one that failed.
    #[serde(rename = "acts")]
    pub actions: Vec<ActionResult>,
    /// What was measured of the last page that was loaded in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<PageTiming>,
    /// What the browser loaded meanwhile, in the order of the requests: the waterfall.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<PageObject>,
    /// Requests beyond those in `objects`.
    #[serde(default)]
    pub unlisted: u32,
    /// Errors of JavaScript and lines of the console.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub console: Vec<ConsoleEntry>,
}

/// An act of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionResult {
    /// Its place in the step, from 1.
    pub number: u32,
    /// What it does, as the script names it: `click`.
    pub action: String,
    /// What it came to.
    pub status: Status,
    /// How long it took.
    pub total_us: u64,
    /// Whether it was left out, being optional.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}

/// What the browser measured of a page, from the start of the navigation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageTiming {
    /// Of the document's own request, with `first_paint`, `dom_load` and `page_load`.
    pub phases: Phases,
    /// First contentful paint (`user_experience_enabled`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_contentful_paint_us: Option<u64>,
    /// Largest contentful paint (`user_experience_enabled`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_contentful_paint_us: Option<u64>,
    /// Cumulative layout shift, without unit (`user_experience_enabled`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout_shift: Option<f64>,
}

/// A line of the browser's console, or an error of JavaScript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleEntry {
    /// `error`, `warning`, `info`, `debug`.
    pub level: String,
    /// `javascript`, `console`, `network`, `security`, …
    pub source: String,
    /// The text, cut to a readable length.
    pub text: String,
    /// Where it came from; empty when unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The line there, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl ContentViewResult {
    /// Whether it failed, and that is to be told.
    #[must_use]
    pub fn should_notify(&self) -> bool {
        self.notify_on_error && self.status != Status::OK
    }
}

/// A content view of a run: a group of its objects and steps with a status of its own (fields.md 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentViewResult {
    /// Its id.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// What it came to.
    pub status: Status,
    /// Whether its errors are told (`notify_on_error`).
    #[serde(default)]
    pub notify_on_error: bool,
    /// From the start of its first object or step to the end of its last.
    pub total_us: u64,
    /// How many objects belong to it.
    pub objects: u32,
    /// Decoded bytes of them.
    pub bytes: u64,
    /// All that was wrong with it, the deciding one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}
