//! Details of a script that ran in a browser (behaviour.md 8). Times are integer microseconds.

use serde::{Deserialize, Serialize};

use super::page::PageObject;
use crate::domain::failure::Failure;
use crate::domain::phase::Phases;
use crate::domain::status::Status;

/// The browser that ran a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserFacts {
    /// `Google Chrome` or `Firefox`, as in `browser_type`.
    pub name: String,
    /// Version of the browser.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Name and version of its driver.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "driver")]
    pub driver_name_and_version: String,
    /// User agent that it sent to servers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    /// Width and height of the page in CSS pixels.
    #[serde(default)]
    pub viewport: (u32, u32),
    /// Name of the emulated device in the settings (`subtype`); empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "device")]
    pub emulated_device: String,
    /// Trace id of the requests to the script's own site (`transaction_trace`), in lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Peak memory of all its processes together in bytes, as far as it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "memory_bytes")]
    pub peak_memory_bytes: Option<u64>,
}

/// What the browser recorded of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BrowserStep {
    /// URL of the page at the end of the step, without credentials.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// Title of the page at the end of the step.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Status code of the last document that was loaded in the step; 0 when none was.
    #[serde(default)]
    pub http_status: u16,
    /// Actions in their order; ends with the one that failed.
    #[serde(rename = "acts")]
    pub actions: Vec<ActionResult>,
    /// Timing of the last page that was loaded in the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<PageTiming>,
    /// Objects that the browser loaded during the step, in the order of the requests: the waterfall.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<PageObject>,
    /// Number of requests that are not in `objects`.
    #[serde(default)]
    #[serde(rename = "unlisted")]
    pub unlisted_objects: u32,
    /// JavaScript errors and console lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub console: Vec<ConsoleEntry>,
}

/// An action of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionResult {
    /// Position in the step, from 1.
    pub number: u32,
    /// Name of the action in the script: `click`.
    pub action: String,
    /// Status code of the action.
    pub status: Status,
    /// Duration.
    #[serde(rename = "total_us")]
    pub duration_us: u64,
    /// Whether it was skipped because it is optional.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}

/// What the browser measured of a page, from the start of the navigation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageTiming {
    /// Phases of the request for the document, with `first_paint`, `dom_load` and `page_load`.
    pub phases: Phases,
    /// First contentful paint (`user_experience_enabled`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_contentful_paint_us: Option<u64>,
    /// Largest contentful paint (`user_experience_enabled`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_contentful_paint_us: Option<u64>,
    /// Cumulative layout shift, without unit (`user_experience_enabled`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "layout_shift")]
    pub cumulative_layout_shift: Option<f64>,
}

/// A line of the browser's console, or a JavaScript error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleEntry {
    /// `error`, `warning`, `info`, `debug`.
    pub level: String,
    /// `javascript`, `console`, `network`, `security`, …
    pub source: String,
    /// The text, truncated to a readable length.
    pub text: String,
    /// URL that it came from; empty when unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// Line number in that source, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl ContentViewResult {
    /// Whether it failed and its errors are notified.
    #[must_use]
    pub fn should_notify(&self) -> bool {
        self.notify_on_error && self.status != Status::OK
    }
}

/// A content view of a run: a group of its objects and steps with a status of its own (fields.md 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentViewResult {
    /// Id of the content view.
    pub id: i64,
    /// Display name.
    pub name: String,
    /// Status code of the content view.
    pub status: Status,
    /// Whether its errors are notified (`notify_on_error`).
    #[serde(default)]
    pub notify_on_error: bool,
    /// From the start of its first object or step to the end of its last.
    #[serde(rename = "total_us")]
    pub duration_us: u64,
    /// Number of its objects.
    #[serde(rename = "objects")]
    pub object_count: u32,
    /// Size of its objects after decoding, in bytes.
    #[serde(rename = "bytes")]
    pub decoded_bytes: u64,
    /// Failures, the deciding one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}
