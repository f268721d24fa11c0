//! Records the results of a script while it runs: steps and their times, exchanges, files.

use std::time::Duration;

use tokio::time::Instant;

use super::capture_rule::CaptureFiles;
use super::page_documents::PageDocuments;
use crate::clock::Clock;
use crate::domain::{
    ActionResult, BrowserStep, Failure, HttpExchange, Status, StepResult, Timestamp, duration_micros,
};
use crate::script::language::ScriptStep;

/// Records the results of a script.
pub(super) struct StepRecorder<'a> {
    clock: &'a dyn Clock,
    /// When the attempt started.
    attempt_started: Instant,
    /// Whether requests are also kept as HTTP exchanges.
    records_exchanges: bool,
    /// The captured files.
    pub(super) capture_files: CaptureFiles,
    /// The documents of the pages so far.
    pub(super) page_documents: PageDocuments,
    /// When the step in progress started.
    step_started_instant: Option<Instant>,
    /// When the last step started, as wall time.
    step_started_at: Timestamp,
    /// Time of this step that was spent on captures.
    capture_time: Duration,
    /// Results of the steps.
    steps: Vec<StepResult>,
}

impl<'a> StepRecorder<'a> {
    /// Creates the recorder of an attempt that started at `started`; `records_exchanges` also keeps requests as HTTP
    /// exchanges.
    pub(super) fn new(clock: &'a dyn Clock, started: Instant, records_exchanges: bool) -> Self {
        Self {
            clock,
            attempt_started: started,
            records_exchanges,
            capture_files: CaptureFiles::default(),
            page_documents: PageDocuments::default(),
            step_started_instant: None,
            step_started_at: clock.now(),
            capture_time: Duration::ZERO,
            steps: Vec::new(),
        }
    }

    /// Starts the step at `index`, which started at `started`.
    pub(super) fn begin_step(&mut self, index: usize, step: &ScriptStep, started: Instant) {
        self.page_documents.begin_step();
        self.step_started_instant = Some(started);
        self.step_started_at = self.clock.now();
        self.capture_time = Duration::ZERO;
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let start_offset_us = duration_micros(started - self.attempt_started);
        self.steps.push(StepResult {
            browser_step: Some(Box::default()),
            ..StepResult::new(number, step.name.clone(), start_offset_us)
        });
    }

    /// Ends the step in progress, if there is one: it passed, or `failure` ended it.
    pub(super) fn finish_step(&mut self, failure: Option<&Failure>) {
        let Some(started) = self.step_started_instant.take() else { return };
        let total_us = duration_micros(started.elapsed().saturating_sub(self.capture_time));
        let step = self.current_step();
        step.duration_us = total_us;
        if let Some(failure) = failure {
            step.status = failure.status();
            step.failures.insert(0, failure.clone());
        }
    }

    /// Excludes `time` from the duration of the step.
    pub(super) fn exclude_capture_time(&mut self, time: Duration) {
        self.capture_time += time;
    }

    /// Records the action at `index` of its step: it passed, was skipped, or failed with `failure`.
    pub(super) fn record_action(
        &mut self,
        index: usize,
        name: &str,
        started: Instant,
        skipped: bool,
        failure: Option<&Failure>,
    ) {
        self.current_browser_step().actions.push(ActionResult {
            number: u32::try_from(index + 1).unwrap_or(u32::MAX),
            action: name.to_owned(),
            status: failure.map_or(Status::OK, Failure::status),
            duration_us: duration_micros(started.elapsed()),
            skipped,
        });
    }

    /// Records that the step set the variable `name`.
    pub(super) fn record_variable(&mut self, name: &str) {
        self.current_step().variable_names.push(name.to_owned());
    }

    /// Replaces the failure `old_failure` of the last step by `new_failure`.
    pub(super) fn replace_failure(&mut self, old_failure: &Failure, new_failure: &Failure) {
        if let Some(step) = self.steps.last_mut()
            && let Some(first) = step.failures.first_mut().filter(|first| *first == old_failure)
        {
            step.status = new_failure.status();
            first.clone_from(new_failure);
        }
    }

    /// Whether requests are also kept as HTTP exchanges.
    pub(super) const fn records_exchanges(&self) -> bool {
        self.records_exchanges
    }

    /// Records `exchanges` in the step; their times are relative to its start.
    pub(super) fn record_exchanges(&mut self, exchanges: Vec<HttpExchange>) {
        let step = self.current_step();
        let step_started_us = step.start_offset_us;
        let with_offset = |exchange: HttpExchange| HttpExchange {
            start_offset_us: step_started_us + exchange.start_offset_us,
            ..exchange
        };
        step.exchanges.extend(exchanges.into_iter().map(with_offset));
    }

    /// Returns when the last step started, as wall time.
    pub(super) const fn step_started_at(&self) -> Timestamp {
        self.step_started_at
    }

    /// Returns the step in progress.
    pub(super) fn current_step(&mut self) -> &mut StepResult {
        let index = self.steps.len().saturating_sub(1);
        &mut self.steps[index]
    }

    /// Returns the browser's part of the step in progress.
    pub(super) fn current_browser_step(&mut self) -> &mut BrowserStep {
        self.current_step().browser_step.get_or_insert_default()
    }

    /// Returns the steps so far.
    pub(super) fn steps(&self) -> &[StepResult] {
        &self.steps
    }

    /// Returns the steps and the files.
    pub(super) fn into_parts(self) -> (Vec<StepResult>, CaptureFiles) {
        (self.steps, self.capture_files)
    }
}
