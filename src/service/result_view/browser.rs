//! The browser details of a script: actions, page metrics, requests and console messages.

use super::http_status::http_status_from_stored;
use super::objects::ObjectView;
use crate::domain::{ActionResult, BrowserFacts, BrowserStep, ConsoleEntry, PageTiming, Phase, Status};

/// The browser that ran a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserView<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Its driver and the driver's version.
    pub driver: &'a str,
    /// Width of the page in CSS pixels.
    pub width: u32,
    /// Height of the page in CSS pixels.
    pub height: u32,
    /// The emulated device.
    pub device: Option<&'a str>,
    /// Peak memory of all its processes together, in MiB.
    pub memory_mib: Option<u64>,
    /// Trace id of the requests to the script's own site.
    pub trace_id: Option<&'a str>,
}

/// Browser details of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserStepView<'a> {
    /// URL of the page at the end of the step; empty without a page.
    pub url: &'a str,
    /// Title of the page at the end of the step.
    pub title: &'a str,
    /// Status code of the last document loaded in it.
    pub http_status: Option<u16>,
    /// Metrics of the last page; `None` when no page was loaded.
    pub metrics: Option<Vec<PageMetric>>,
    /// Its actions, in order.
    pub actions: Vec<ActionView<'a>>,
    /// The requests, in order.
    pub objects: Vec<ObjectView<'a>>,
    /// Number of requests beyond those in `objects`.
    pub unlisted_objects: usize,
    /// JavaScript errors and console messages.
    pub console: Vec<ConsoleLine<'a>>,
}

/// One action of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionView<'a> {
    /// The action, as the script names it.
    pub name: &'a str,
    /// Whether it did not fail.
    pub passed: bool,
    /// Whether it was skipped, being optional.
    pub was_skipped: bool,
    /// How long it took.
    pub total_us: u64,
}

/// A metric of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageMetric {
    /// Its name, in lower case.
    pub label: &'static str,
    /// Its value.
    pub value: PageMetricValue,
}

/// The value of a [`PageMetric`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PageMetricValue {
    /// A time, in microseconds.
    Micros(u64),
    /// A number without a unit.
    Ratio(f64),
}

/// A console message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLine<'a> {
    /// Whether it is an error; everything else counts as a warning.
    pub is_error: bool,
    /// Its level.
    pub level: &'a str,
    /// Its origin, such as `javascript`.
    pub source: &'a str,
    /// The text.
    pub text: &'a str,
    /// URL and line of its source; empty when unknown.
    pub source_location: String,
}

impl<'a> BrowserView<'a> {
    pub(super) fn new(facts: &'a BrowserFacts) -> Self {
        let (width, height) = facts.viewport;
        Self {
            name: &facts.name,
            version: &facts.version,
            driver: &facts.driver_name_and_version,
            width,
            height,
            device: Some(facts.emulated_device.as_str()).filter(|device| !device.is_empty()),
            memory_mib: facts.peak_memory_bytes.map(|bytes| bytes >> 20),
            trace_id: facts.trace_id.as_deref(),
        }
    }
}

impl<'a> BrowserStepView<'a> {
    pub(super) fn new(step: &'a BrowserStep) -> Self {
        Self {
            url: &step.url,
            title: &step.title,
            http_status: http_status_from_stored(step.http_status),
            metrics: step.timing.as_ref().map(page_metrics),
            actions: step.actions.iter().map(ActionView::new).collect(),
            objects: step.objects.iter().map(ObjectView::new).collect(),
            unlisted_objects: step.unlisted_objects as usize,
            console: step.console.iter().map(ConsoleLine::new).collect(),
        }
    }

    /// Returns how many requests are hidden when at most `listed` of them are shown.
    #[must_use]
    pub fn hidden_object_count(&self, listed: usize) -> usize {
        self.objects.len().saturating_sub(listed) + self.unlisted_objects
    }
}

impl<'a> ActionView<'a> {
    fn new(result: &'a ActionResult) -> Self {
        let ActionResult { action, skipped, duration_us: total_us, .. } = result;
        Self { name: action, passed: result.status == Status::OK, was_skipped: *skipped, total_us: *total_us }
    }
}

impl PageMetric {
    /// Formats label and value, with times formatted by `format_duration`.
    #[must_use]
    pub fn format_with(&self, format_duration: impl Fn(u64) -> String) -> String {
        match self.value {
            PageMetricValue::Micros(micros) => format!("{} {}", self.label, format_duration(micros)),
            PageMetricValue::Ratio(ratio) => format!("{} {ratio:.3}", self.label),
        }
    }
}

impl<'a> ConsoleLine<'a> {
    fn new(entry: &'a ConsoleEntry) -> Self {
        let ConsoleEntry { level, source, text, url, .. } = entry;
        let source_location = entry.line.map_or_else(|| url.clone(), |line| format!("{url}:{line}"));
        Self { is_error: level == "error", level, source, text, source_location }
    }
}

/// Returns the metrics that are present, in chronological order.
fn page_metrics(timing: &PageTiming) -> Vec<PageMetric> {
    let phase_micros = |phase: Phase| timing.phases.micros(phase).map(u64::from);
    let timings = [
        ("first byte", phase_micros(Phase::FirstByte)),
        ("first paint", phase_micros(Phase::FirstPaint)),
        ("first content", timing.first_contentful_paint_us),
        ("largest content", timing.largest_contentful_paint_us),
        ("document", phase_micros(Phase::DomLoad)),
        ("load", phase_micros(Phase::PageLoad)),
    ];
    let timings =
        timings.into_iter().filter_map(|(label, time)| Some((label, PageMetricValue::Micros(time?))));
    let layout_shift = timing
        .cumulative_layout_shift
        .map(|layout_shift| ("layout shift", PageMetricValue::Ratio(layout_shift)));
    timings.chain(layout_shift).map(|(label, value)| PageMetric { label, value }).collect()
}
