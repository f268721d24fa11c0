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
    pub(super) page_load: Duration,
    /// The limit of each step without its own: `step_timeout`.
    pub(super) step_default: Option<Duration>,
}

impl ScriptLimits {
    fn step_limit(&self, step: &ScriptStep) -> Option<Duration> {
        step.timeout.or(self.step_default)
    }

    /// Returns the limit of the script: the sum of the limits of its steps; a step without one counts as one page load.
    pub(super) fn script_limit(&self, script: &Script) -> Duration {
        script.max_duration(self.page_load, self.step_default)
    }
}

/// How much longer than a limit something may take before the limit counts as exceeded. A page load that starts at most
/// this late in its step or script still gets its full limit.
const LIMIT_TOLERANCE: Duration = Duration::from_millis(500);

/// Time for captures, in total, that extends the deadlines; more counts as time of the script.
pub(super) const CAPTURE_ALLOWANCE: Duration = Duration::from_mins(1);

/// How long a driver has beyond a limit to report that it was reached.
pub(super) const DRIVER_GRACE: Duration = Duration::from_secs(2);

/// Least time to evaluate the last response, even if the time of the step is used up.
const FINAL_EVALUATION_TIMEOUT: Duration = Duration::from_secs(1);

/// Which limit applies: of several, the one that is reached first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    Action,
    /// An `open` that limits its own page load.
    OwnPageLoad(Duration),
    PageLoad,
    Step,
    Script,
}

/// How long a condition on the page may take to hold, and how long the page may take to respond. The two differ because
/// a page that is busy with JavaScript cannot respond.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitLimit {
    /// Until when the condition may become true, and the limit that sets this time.
    pub(super) retry_until: Instant,
    pub(super) retry_limit_kind: LimitKind,
    /// Until when the page may respond, and the limit that sets this time.
    pub(super) response_deadline: Instant,
    pub(super) response_limit_kind: LimitKind,
    /// The default wait from which `retry_until` was computed; zero if the action has a timeout of its own.
    default_wait: Duration,
}

impl WaitLimit {
    /// Creates the limit of a query that does not wait for a condition.
    pub(super) fn immediate(response_deadline: Instant) -> Self {
        let limit_kind = LimitKind::Action;
        Self {
            retry_until: Instant::now(),
            retry_limit_kind: limit_kind,
            response_deadline,
            response_limit_kind: limit_kind,
            default_wait: Duration::ZERO,
        }
    }

    /// Returns the limit of a condition that must hold already.
    pub(super) fn without_wait(self) -> Self {
        Self { retry_until: Instant::now(), default_wait: Duration::ZERO, ..self }
    }

    /// Restarts the default wait, once, for a page that was too busy to respond. Returns `false` if none is left.
    pub(super) fn restart_default_wait(&mut self) -> bool {
        let default_wait = std::mem::take(&mut self.default_wait);
        self.retry_until = (Instant::now() + default_wait).min(self.response_deadline);
        !default_wait.is_zero()
    }

    /// Restarts the default wait if a query was sent before `retry_until`, at `sent_at`, but its response came well
    /// after it.
    pub(super) fn restart_if_response_late(&mut self, sent_at: Instant) {
        if sent_at < self.retry_until && Instant::now() > self.retry_until + LIMIT_TOLERANCE {
            self.restart_default_wait();
        }
    }
}

/// The time limits of a script in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeBudget {
    limits: ScriptLimits,
    step_limit: Duration,
    script_limit: Duration,
    step_deadline: Instant,
    script_deadline: Instant,
    /// Which limit applies to the page loads of the action in progress.
    page_load_limit_kind: LimitKind,
    /// Time for captures that can still be refunded.
    unused_capture_allowance: Duration,
}

impl TimeBudget {
    /// Starts the budget of `script` now.
    pub(super) fn new(limits: ScriptLimits, script: &Script) -> Self {
        let script_limit = limits.script_limit(script);
        // A little longer, so that a step limit that ends at the same time is reported instead of the script limit.
        let deadline = Instant::now() + script_limit + LIMIT_TOLERANCE;
        Self {
            limits,
            step_limit: script_limit,
            script_limit,
            step_deadline: deadline,
            script_deadline: deadline,
            page_load_limit_kind: LimitKind::PageLoad,
            unused_capture_allowance: CAPTURE_ALLOWANCE,
        }
    }

    /// Starts the limit of a step.
    pub(super) fn begin_step(&mut self, step: &ScriptStep) {
        let limit = self.limits.step_limit(step);
        self.step_limit = limit.unwrap_or(self.script_limit);
        self.step_deadline = limit.map_or(self.script_deadline, |limit| Instant::now() + limit);
    }

    /// Returns which limit applies to the page loads of the action in progress.
    pub(super) const fn page_load_limit_kind(&self) -> LimitKind {
        self.page_load_limit_kind
    }

    /// Sets which limit applies to the page loads of the action that starts.
    pub(super) const fn set_page_load_limit_kind(&mut self, limit_kind: LimitKind) {
        self.page_load_limit_kind = limit_kind;
    }

    /// Refunds `time` that was spent on captures, as far as the allowance lasts.
    pub(super) fn refund_capture_time(&mut self, time: Duration) {
        let time = time.min(self.unused_capture_allowance);
        self.unused_capture_allowance -= time;
        self.step_deadline += time;
        self.script_deadline += time;
    }

    /// Returns the deadline of evaluations outside the browser: the end of the step, but at least a second from now.
    pub(super) fn evaluation_deadline(&self) -> Deadline {
        Deadline {
            at: self.deadline_for(None).0.max(Instant::now() + FINAL_EVALUATION_TIMEOUT),
            timeout: self.step_limit,
        }
    }

    /// Returns the limit that was reached, if the step cannot continue.
    pub(super) fn exceeded_limit(&self) -> Option<LimitKind> {
        let now = Instant::now();
        if now >= self.script_deadline {
            Some(LimitKind::Script)
        } else if now >= self.step_deadline {
            Some(LimitKind::Step)
        } else {
            None
        }
    }

    /// Returns the deadline of an action with this timeout, if it has one, and the limit that sets the deadline.
    pub(super) fn deadline_for(&self, action_timeout: Option<Duration>) -> (Instant, LimitKind) {
        let (deadline, limit_kind) = if self.script_deadline <= self.step_deadline {
            (self.script_deadline, LimitKind::Script)
        } else {
            (self.step_deadline, LimitKind::Step)
        };
        match action_timeout.map(|timeout| Instant::now() + timeout) {
            Some(action_deadline) if action_deadline < deadline => (action_deadline, LimitKind::Action),
            _ => (deadline, limit_kind),
        }
    }

    /// Returns the limits of a wait. Without a timeout of the action, the wait lasts `default_wait`; without either,
    /// until the step ends.
    pub(super) fn action_wait_limit(
        &self,
        action_timeout: Option<Duration>,
        default_wait: Option<Duration>,
    ) -> WaitLimit {
        let (retry_until, retry_limit_kind) = self.deadline_for(action_timeout.or(default_wait));
        let (deadline, response_limit_kind) = self.deadline_for(action_timeout);
        let default_wait = default_wait.filter(|_| action_timeout.is_none()).unwrap_or_default();
        WaitLimit {
            retry_until,
            retry_limit_kind,
            response_deadline: deadline + DRIVER_GRACE,
            response_limit_kind,
            default_wait,
        }
    }

    /// Returns how long a page load may take, and the limit that sets it. The action's timeout can shorten that,
    /// but not extend it.
    pub(super) fn page_load_limit(&self, action_timeout: Option<Duration>) -> (Duration, LimitKind) {
        let (deadline, limit_kind) = self.deadline_for(None);
        let remaining = deadline.saturating_duration_since(Instant::now());
        // When the page load limit and the step or script limit are about equal, the page is reported as too slow.
        let action_timeout = action_timeout.filter(|action_timeout| *action_timeout < self.limits.page_load);
        let page_load = action_timeout.unwrap_or(self.limits.page_load);
        if page_load <= remaining + LIMIT_TOLERANCE {
            (page_load, action_timeout.map_or(LimitKind::PageLoad, LimitKind::OwnPageLoad))
        } else {
            (remaining, limit_kind)
        }
    }

    /// Returns the failure of `action_name`, which had not finished when the limit was reached.
    pub(super) fn timeout_failure(&self, limit_kind: LimitKind, action_name: &str) -> Failure {
        let (kind, limit) = match limit_kind {
            LimitKind::PageLoad => (FailureKind::PageTooSlow, self.limits.page_load),
            LimitKind::OwnPageLoad(own_limit) => (FailureKind::PageTooSlow, own_limit),
            LimitKind::Script => (FailureKind::TransactionTimedOut, self.script_limit),
            LimitKind::Action | LimitKind::Step => (FailureKind::StepTimedOut, self.step_limit),
        };
        let detail = match limit_kind {
            LimitKind::Action => format!("{action_name} was not done in its own time"),
            _ => format!("{action_name} was not done within {} s", limit.as_secs_f64()),
        };
        Failure::new(Phase::RunScript, kind, detail)
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::pattern::{CompiledPattern, HaystackKind};

    use super::super::text_condition::TextCondition;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_last_response_of_a_page_is_evaluated() {
        let limits = ScriptLimits { page_load: Duration::from_secs(1), step_default: None };
        let budget = TimeBudget::new(limits, &Script::from_url("http://a.example/"));
        tokio::time::advance(Duration::from_secs(10)).await;
        let condition = TextCondition::Matches(CompiledPattern::new("b", HaystackKind::Text).unwrap());
        for (text, holds) in [("a", false), ("b", true)] {
            assert_eq!(
                condition.is_met_by(&text.into(), budget.evaluation_deadline()).await,
                Ok(holds),
                "{text}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn captures_are_refunded_a_minute_at_most() {
        let limits = ScriptLimits { page_load: Duration::from_secs(10), step_default: None };
        let script = Script::from_url("http://a.example/");
        let mut budget = TimeBudget::new(limits, &script);
        budget.begin_step(&script.steps[0]);
        let (initial_deadline, _) = budget.deadline_for(None);
        for _ in 0..4 {
            budget.refund_capture_time(Duration::from_secs(25));
        }
        assert_eq!(budget.deadline_for(None).0 - initial_deadline, Duration::from_mins(1));
    }
}
