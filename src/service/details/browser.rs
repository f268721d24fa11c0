//! What a browser reported of a script: actions, measures, requests, console.

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
    /// Its driver, with version.
    pub driver: &'a str,
    /// Width of the page in CSS pixels.
    pub width: u32,
    /// Height of the page in CSS pixels.
    pub height: u32,
    /// The device that it emulated.
    pub device: Option<&'a str>,
    /// The most memory of all its processes together, in MiB.
    pub memory_mib: Option<u64>,
    /// Trace id of the requests to the script's own site.
    pub trace_id: Option<&'a str>,
}

/// A step as the browser saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserStepView<'a> {
    /// Address of the page at its end; empty without a page.
    pub url: &'a str,
    /// Title of the page at its end.
    pub title: &'a str,
    /// Status code of the last document that was loaded in it.
    pub http_status: Option<u16>,
    /// What was measured of the last page; `None` where nothing was loaded.
    pub measures: Option<Vec<Metric>>,
    /// Its actions, in their order.
    pub actions: Vec<ActionView<'a>>,
    /// The requests, in their order.
    pub objects: Vec<ObjectView<'a>>,
    /// Requests beyond those in `objects`.
    pub unlisted: usize,
    /// Errors of JavaScript and lines of the console.
    pub console: Vec<ConsoleLine<'a>>,
}

/// One action of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionView<'a> {
    /// What it does, as the script names it.
    pub name: &'a str,
    /// Whether it did not fail.
    pub passed: bool,
    /// Whether it was left out, being optional.
    pub skipped: bool,
    /// How long it took.
    pub total_us: u64,
}

/// One measure of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// What it is, in lower case.
    pub label: &'static str,
    /// Its value.
    pub value: MetricValue,
}

/// The value of a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue {
    /// A time, in microseconds.
    Micros(u64),
    /// A number without a unit.
    Ratio(f64),
}

/// One line of the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLine<'a> {
    /// Whether it is an error; all else counts as a warning.
    pub is_error: bool,
    /// Its level.
    pub level: &'a str,
    /// What wrote it, such as `javascript`.
    pub source: &'a str,
    /// The text.
    pub text: &'a str,
    /// URL and line where it came from; empty when unknown.
    pub source_location: String,
}

impl<'a> BrowserView<'a> {
    pub(super) fn new(facts: &'a BrowserFacts) -> Self {
        let (width, height) = facts.viewport;
        Self {
            name: &facts.name,
            version: &facts.version,
            driver: &facts.driver,
            width,
            height,
            device: Some(facts.device.as_str()).filter(|device| !device.is_empty()),
            memory_mib: facts.memory_bytes.map(|bytes| bytes >> 20),
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
            measures: step.timing.as_ref().map(page_metrics),
            actions: step.actions.iter().map(ActionView::new).collect(),
            objects: step.objects.iter().map(ObjectView::new).collect(),
            unlisted: step.unlisted as usize,
            console: step.console.iter().map(ConsoleLine::new).collect(),
        }
    }

    /// How many requests are left out where at most `shown` of them are shown.
    #[must_use]
    pub fn hidden_objects(&self, shown: usize) -> usize {
        self.objects.len().saturating_sub(shown) + self.unlisted
    }
}

impl<'a> ActionView<'a> {
    fn new(result: &'a ActionResult) -> Self {
        let ActionResult { action, skipped, total_us, .. } = result;
        Self { name: action, passed: result.status == Status::OK, skipped: *skipped, total_us: *total_us }
    }
}

impl Metric {
    /// Label and value, with times as `duration` writes them.
    #[must_use]
    pub fn format(&self, duration: impl Fn(u64) -> String) -> String {
        match self.value {
            MetricValue::Micros(micros) => format!("{} {}", self.label, duration(micros)),
            MetricValue::Ratio(ratio) => format!("{} {ratio:.3}", self.label),
        }
    }
}

impl<'a> ConsoleLine<'a> {
    fn new(entry: &'a ConsoleEntry) -> Self {
        let ConsoleEntry { level, source, text, url, .. } = entry;
        let place = entry.line.map_or_else(|| url.clone(), |line| format!("{url}:{line}"));
        Self { is_error: level == "error", level, source, text, source_location: place }
    }
}

/// Those that there are, in the order in which they happen.
fn page_metrics(timing: &PageTiming) -> Vec<Metric> {
    let phase = |phase: Phase| timing.phases.micros(phase).map(u64::from);
    let times = [
        ("first byte", phase(Phase::FirstByte)),
        ("first paint", phase(Phase::FirstPaint)),
        ("first content", timing.first_contentful_paint_us),
        ("largest content", timing.largest_contentful_paint_us),
        ("document", phase(Phase::DomLoad)),
        ("load", phase(Phase::PageLoad)),
    ];
    let times = times.into_iter().filter_map(|(label, time)| Some((label, MetricValue::Micros(time?))));
    let shift = timing.layout_shift.map(|shift| ("layout shift", MetricValue::Ratio(shift)));
    times.chain(shift).map(|(label, value)| Metric { label, value }).collect()
}
