//! The steps of a check.

use super::browser::BrowserStepView;
use super::http_status::http_status_from_stored;
use crate::domain::{HttpExchange, Phases, Status, StepResult, StepTest};

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepView<'a> {
    /// Its position in the monitor, from 1.
    pub number: u32,
    /// Its name.
    pub name: &'a str,
    /// Whether it passed.
    pub passed: bool,
    /// Its status code.
    pub status: Status,
    /// How long it took.
    pub total_us: u64,
    /// Its phases.
    pub phases: Phases,
    /// Its last request. `None` without requests, and for a browser step, whose page is in `browser`.
    pub last_request: Option<RequestView<'a>>,
    /// Why it failed, the deciding reason first.
    pub reasons: Vec<String>,
    /// Tests of its scripts, or assertions of its file.
    pub tests: &'a [StepTest],
    /// Names of the variables that it set.
    pub set_variables: &'a [String],
    /// Browser details.
    pub browser: Option<BrowserStepView<'a>>,
}

/// The last request of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestView<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its URL.
    pub url: &'a str,
    /// Status code of the response; `None` when there was none.
    pub http_status: Option<u16>,
    /// Number of requests of the step before it.
    pub earlier_requests: usize,
}

impl<'a> StepView<'a> {
    pub(super) fn new(step: &'a StepResult) -> Self {
        let browser = step.browser_step.as_deref().map(BrowserStepView::new);
        let request = if browser.is_some() { None } else { RequestView::from_last(&step.exchanges) };
        Self {
            number: step.number,
            name: &step.name,
            passed: step.failures.is_empty(),
            status: step.status,
            total_us: step.duration_us,
            phases: step.phases,
            last_request: request,
            reasons: step.failures.iter().map(ToString::to_string).collect(),
            tests: &step.tests,
            set_variables: &step.variable_names,
            browser,
        }
    }
}

impl<'a> RequestView<'a> {
    fn from_last(exchanges: &'a [HttpExchange]) -> Option<Self> {
        let (last, earlier) = exchanges.split_last()?;
        let HttpExchange { method, url, http_status, .. } = last;
        let http_status = http_status_from_stored(*http_status);
        Some(Self { method, url, http_status, earlier_requests: earlier.len() })
    }
}
