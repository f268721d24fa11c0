//! What is kept of a script while it is played: steps and their times, exchanges, files.

use std::time::Duration;

use tokio::time::Instant;

use super::capture_rule::CaptureFiles;
use crate::browser::LoggedRequest;
use crate::clock::Clock;
use crate::domain::{
    ActionResult, BrowserStep, Failure, HttpExchange, Phases, Status, StepResult, Timestamp, duration_micros,
};
use crate::script::language::ScriptStep;

/// Records what a script comes to.
pub(super) struct StepRecorder<'a> {
    clock: &'a dyn Clock,
    /// When the attempt began.
    started: Instant,
    /// Whether requests are kept as HTTP exchanges too.
    keeps_exchanges: bool,
    /// What was captured.
    pub(super) files: CaptureFiles,
    /// The last document of the page, as far as the browser told of it.
    pub(super) last_document: Option<LoggedRequest>,
    /// When the step that is under way began.
    began: Option<Instant>,
    /// The same by the clock, of the step that began last.
    began_at: Timestamp,
    /// Time of this step that went into what is kept of it.
    excluded_time: Duration,
    /// What the steps came to.
    steps: Vec<StepResult>,
}

impl<'a> StepRecorder<'a> {
    /// For an attempt that `started` then; `keeps_exchanges` when requests are to be kept as HTTP exchanges too.
    pub(super) fn new(clock: &'a dyn Clock, started: Instant, keeps_exchanges: bool) -> Self {
        Self {
            clock,
            started,
            keeps_exchanges,
            files: CaptureFiles::default(),
            last_document: None,
            began: None,
            began_at: clock.now(),
            excluded_time: Duration::ZERO,
            steps: Vec::new(),
        }
    }

    /// The step at this place in the script begins, which `began` then.
    pub(super) fn begin_step(&mut self, at: usize, step: &ScriptStep, started: Instant) {
        self.began = Some(started);
        self.began_at = self.clock.now();
        self.excluded_time = Duration::ZERO;
        self.steps.push(StepResult {
            number: u32::try_from(at + 1).unwrap_or(u32::MAX),
            name: step.name.clone(),
            status: Status::OK,
            started_us: duration_micros(started - self.started),
            total_us: 0,
            phases: Phases::default(),
            failures: Vec::new(),
            exchanges: Vec::new(),
            variables: Vec::new(),
            browser_step: Some(Box::default()),
        });
    }

    /// Ends the step that is under way, where one is: it passed, or `failure` ended it.
    pub(super) fn finish_step(&mut self, failure: Option<&Failure>) {
        let Some(started) = self.began.take() else { return };
        let took = duration_micros(started.elapsed().saturating_sub(self.excluded_time));
        let result = self.step();
        result.total_us = took;
        if let Some(failure) = failure {
            result.status = failure.status();
            result.failures.insert(0, failure.clone());
        }
    }

    /// Leaves `time` out of the time of the step.
    pub(super) fn exclude_time(&mut self, time: Duration) {
        self.excluded_time += time;
    }

    /// The act at this place in its step has ended, which `began` then: it passed, was skipped, or `failed`.
    pub(super) fn record_act(
        &mut self,
        number: usize,
        name: &str,
        started: Instant,
        skipped: bool,
        failed: Option<&Failure>,
    ) {
        self.browser_step().actions.push(ActionResult {
            number: u32::try_from(number + 1).unwrap_or(u32::MAX),
            action: name.to_owned(),
            status: failed.map_or(Status::OK, Failure::status),
            total_us: duration_micros(started.elapsed()),
            skipped,
        });
    }

    /// The step set the variable `name`.
    pub(super) fn set_variable(&mut self, name: &str) {
        self.step().variables.push(name.to_owned());
    }

    /// Puts `now` in the place of `before`, where the last step failed with that.
    pub(super) fn replace_failure(&mut self, before: &Failure, now: &Failure) {
        if let Some(step) = self.steps.last_mut()
            && let Some(first) = step.failures.first_mut().filter(|first| *first == before)
        {
            step.status = now.status();
            first.clone_from(now);
        }
    }

    /// Whether requests are kept as HTTP exchanges too.
    pub(super) const fn keeps_exchanges(&self) -> bool {
        self.keeps_exchanges
    }

    /// Keeps `exchanges`, whose times are those since the step began.
    pub(super) fn record_exchanges(&mut self, exchanges: Vec<HttpExchange>) {
        let step = self.step();
        let began = step.started_us;
        let placed =
            |exchange: HttpExchange| HttpExchange { started_us: began + exchange.started_us, ..exchange };
        step.exchanges.extend(exchanges.into_iter().map(placed));
    }

    /// When the step that is under way began, by the clock.
    pub(super) const fn step_started_at(&self) -> Timestamp {
        self.began_at
    }

    /// The step that is under way.
    pub(super) fn step(&mut self) -> &mut StepResult {
        let at = self.steps.len().saturating_sub(1);
        &mut self.steps[at]
    }

    /// What the browser did in the step that is under way.
    pub(super) fn browser_step(&mut self) -> &mut BrowserStep {
        self.step().browser_step.get_or_insert_default()
    }

    /// The steps so far.
    pub(super) fn steps(&self) -> &[StepResult] {
        &self.steps
    }

    /// What was recorded: the steps and the files.
    pub(super) fn into_parts(self) -> (Vec<StepResult>, CaptureFiles) {
        (self.steps, self.files)
    }
}
