//! Time limits of scripts, steps and actions (fields.md 3, `step_timeout`), and the failures when they are exceeded.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::Deadline;
use crate::script::language::{Script, ScriptStep};

/// The limits of a monitor.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptLimits {
    /// The limit of each page load: `timeout`.
    pub(super) page: Duration,
    /// The limit of each step without its own: `step_timeout`.
    pub(super) step: Option<Duration>,
}

impl ScriptLimits {
    fn step_limit(&self, step: &ScriptStep) -> Option<Duration> {
        step.timeout.or(self.step)
    }

    /// Returns the limit of the script: the sum of its steps; one without a limit counts as a page load.
    pub(super) fn script_limit(&self, script: &Script) -> Duration {
        script.max_duration(self.page, self.step)
    }
}

/// How much time may have passed before a page load begins without shortening the page's limit.
const PAGE_LIMIT_TOLERANCE: Duration = Duration::from_millis(500);

/// Time for captures that does not count as time of the script; anything beyond does.
pub(super) const CAPTURE_ALLOWANCE: Duration = Duration::from_mins(1);

/// How long a driver has beyond a limit to report that it was reached.
pub(super) const DRIVER_GRACE: Duration = Duration::from_secs(2);

/// Time for evaluating the last text when the step has no time left.
const FINAL_EVALUATION: Duration = Duration::from_secs(1);

/// Which limit applies: of several, the one that is reached first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    Act,
    /// An `open` that limits its own page load.
    Open(Duration),
    Page,
    Step,
    Script,
}

/// How long a condition on the page may take to hold, and how long the page may take to respond: a page that computes
/// cannot respond meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitLimit {
    /// Until when the condition may become true, and the limit that sets this time.
    pub(super) until: Instant,
    pub(super) until_kind: LimitKind,
    /// Until when the page may respond, and the limit that sets this time.
    pub(super) latest: Instant,
    pub(super) latest_kind: LimitKind,
    /// The default wait that set `retry_until`; zero if the action sets a timeout.
    grace: Duration,
}

impl WaitLimit {
    /// Creates the limit of a query that does not wait for a condition.
    pub(super) fn no_wait(latest: Instant) -> Self {
        let bound = LimitKind::Act;
        Self { until: Instant::now(), until_kind: bound, latest, latest_kind: bound, grace: Duration::ZERO }
    }

    /// Returns the limit of a condition that must hold already.
    pub(super) fn without_wait(self) -> Self {
        Self { until: Instant::now(), grace: Duration::ZERO, ..self }
    }

    /// Restarts the wait with the full default, for a page that could not respond during it. Returns `false` where
    /// there is no default.
    pub(super) fn restart(&mut self) -> bool {
        let timeout = std::mem::take(&mut self.grace);
        self.until = (Instant::now() + timeout).min(self.latest);
        !timeout.is_zero()
    }

    /// Restarts the wait like `restart_default_wait` when a query sent in time, at `sent_at`, got its response
    /// long after the end of the wait.
    pub(super) fn extend_if_late(&mut self, asked: Instant) {
        if asked < self.until && Instant::now() > self.until + PAGE_LIMIT_TOLERANCE {
            self.restart();
        }
    }
}

/// The time limits of a script in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeBudget {
    limits: ScriptLimits,
    step: Duration,
    script: Duration,
    step_ends: Instant,
    script_ends: Instant,
    /// Which limit applies to the page loads of the action in progress.
    page_limit_kind: LimitKind,
    /// Time for captures that can still be refunded.
    spare: Duration,
}

impl TimeBudget {
    /// Starts the budget of `script` now.
    pub(super) fn new(limits: ScriptLimits, script: &Script) -> Self {
        let whole = limits.script_limit(script);
        // When both end together, a step's own limit is named before that of the script.
        let ends = Instant::now() + whole + PAGE_LIMIT_TOLERANCE;
        Self {
            limits,
            step: whole,
            script: whole,
            step_ends: ends,
            script_ends: ends,
            page_limit_kind: LimitKind::Page,
            spare: CAPTURE_ALLOWANCE,
        }
    }

    /// Starts the limit of a step.
    pub(super) fn begin_step(&mut self, step: &ScriptStep) {
        let limit = self.limits.step_limit(step);
        self.step = limit.unwrap_or(self.script);
        self.step_ends = limit.map_or(self.script_ends, |limit| Instant::now() + limit);
    }

    /// Returns which limit applies to the page loads of the action in progress.
    pub(super) const fn page_limit_kind(&self) -> LimitKind {
        self.page_limit_kind
    }

    /// Sets which limit applies to the page loads of the action that starts.
    pub(super) const fn set_page_limit_kind(&mut self, bound: LimitKind) {
        self.page_limit_kind = bound;
    }

    /// Refunds `time` that was spent on captures, as far as the allowance lasts.
    pub(super) fn refund(&mut self, time: Duration) {
        let time = time.min(self.spare);
        self.spare -= time;
        self.step_ends += time;
        self.script_ends += time;
    }

    /// Returns the deadline of evaluations outside the browser: the end of the step, but at least a second from now.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline { at: self.end_of(None).0.max(Instant::now() + FINAL_EVALUATION), timeout: self.step }
    }

    /// Returns the limit that was reached, if the step cannot continue.
    pub(super) fn exceeded(&self) -> Option<LimitKind> {
        let now = Instant::now();
        if now >= self.script_ends {
            Some(LimitKind::Script)
        } else if now >= self.step_ends {
            Some(LimitKind::Step)
        } else {
            None
        }
    }

    /// Returns the deadline of an action with this timeout, if it has one, and the limit that sets the deadline.
    pub(super) fn end_of(&self, own: Option<Duration>) -> (Instant, LimitKind) {
        let (ends, bound) = if self.script_ends <= self.step_ends {
            (self.script_ends, LimitKind::Script)
        } else {
            (self.step_ends, LimitKind::Step)
        };
        match own.map(|own| Instant::now() + own) {
            Some(own) if own < ends => (own, LimitKind::Act),
            _ => (ends, bound),
        }
    }

    /// Returns the limits of a wait with the action's own timeout; without it, the wait takes `default_wait`, or until
    /// the step ends.
    pub(super) fn wait_limit(&self, own: Option<Duration>, timeout: Option<Duration>) -> WaitLimit {
        let (until, bound) = self.end_of(own.or(timeout));
        let (ends, ending) = self.end_of(own);
        let timeout = timeout.filter(|_| own.is_none()).unwrap_or_default();
        WaitLimit {
            until,
            until_kind: bound,
            latest: ends + DRIVER_GRACE,
            latest_kind: ending,
            grace: timeout,
        }
    }

    /// Returns how long a page load may take, and the limit that sets it. The action's timeout can shorten that,
    /// but not extend it.
    pub(super) fn page_limit(&self, own: Option<Duration>) -> (Duration, LimitKind) {
        let (ends, bound) = self.end_of(None);
        let left = ends.saturating_duration_since(Instant::now());
        // When the page load limit and the step or script limit are about equal, the page is reported as too slow.
        let own = own.filter(|own| *own < self.limits.page);
        let page = own.unwrap_or(self.limits.page);
        if page <= left + PAGE_LIMIT_TOLERANCE {
            (page, own.map_or(LimitKind::Page, LimitKind::Open))
        } else {
            (left, bound)
        }
    }

    /// Returns the failure of `action_name`, which was not done when the limit was reached.
    pub(super) fn timeout_failure(&self, bound: LimitKind, what: &str) -> Failure {
        let (kind, limit) = match bound {
            LimitKind::Page => (FailureKind::PageTooSlow, self.limits.page),
            LimitKind::Open(own) => (FailureKind::PageTooSlow, own),
            LimitKind::Script => (FailureKind::TransactionTimedOut, self.script),
            LimitKind::Act | LimitKind::Step => (FailureKind::BrowserEventTimedOut, self.step),
        };
        let detail = match bound {
            LimitKind::Act => format!("{what} was not done in its own time"),
            _ => format!("{what} was not done within {} s", limit.as_secs_f64()),
        };
        Failure::new(Phase::Play, kind, detail)
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::super::assertions::TextCondition;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_last_response_of_a_page_is_evaluated() {
        let limits = ScriptLimits { page: Duration::from_secs(1), step: None };
        let budget = TimeBudget::new(limits, &Script::from_url("http://a.example/"));
        tokio::time::advance(Duration::from_secs(10)).await;
        let condition = TextCondition::Matches(Regex::new("b").unwrap());
        for (text, holds) in [("a", false), ("b", true)] {
            assert_eq!(condition.holds(&text.into(), budget.deadline()).await, Ok(holds), "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn captures_are_refunded_a_minute_at_most() {
        let limits = ScriptLimits { page: Duration::from_secs(10), step: None };
        let script = Script::from_url("http://a.example/");
        let mut budget = TimeBudget::new(limits, &script);
        budget.begin_step(&script.steps[0]);
        let (ends, _) = budget.end_of(None);
        for _ in 0..4 {
            budget.refund(Duration::from_secs(25));
        }
        assert_eq!(budget.end_of(None).0 - ends, Duration::from_mins(1));
    }
}
