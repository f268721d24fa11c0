//! How long things may take (fields.md 3, `step_timeout`), and what it is called when they took longer.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::Deadline;
use crate::script::language::{Script, ScriptStep};

/// The limits of a monitor.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptLimits {
    /// Of each page load: `timeout`.
    pub(super) page: Duration,
    /// Of each step without a limit of its own: `step_timeout`.
    pub(super) step: Option<Duration>,
}

impl ScriptLimits {
    fn step_limit(&self, step: &ScriptStep) -> Option<Duration> {
        step.timeout.or(self.step)
    }

    /// Of the script: the sum of its steps; one without a limit counts as a page load.
    pub(super) fn script_limit(&self, script: &Script) -> Duration {
        script.max_duration(self.page, self.step)
    }
}

/// How much of a page's time may be gone already when its load begins, and the page still has all of it.
const PAGE_TOLERANCE: Duration = Duration::from_millis(500);

/// What the captures of a script may take that is none of its time: beyond that they are a part of it.
pub(super) const CAPTURE_ALLOWANCE: Duration = Duration::from_mins(1);

/// What a driver has beyond a limit to say that it was reached.
pub(super) const DRIVER_GRACE: Duration = Duration::from_secs(2);

/// What judging a text may take when its step is over.
const FINAL_EVALUATION: Duration = Duration::from_secs(1);

/// Which limit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    Act,
    /// An `open` that limits its own page load.
    Open(Duration),
    Page,
    Step,
    Script,
}

/// How long the page may wait until something of it is so, and how long its answer is waited for: a page that
/// computes says nothing meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitLimit {
    /// Until when the page may wait, and the limit that sets it.
    pub(super) until: Instant,
    pub(super) bound: LimitKind,
    /// Until when it may answer, and the limit that sets that.
    pub(super) latest: Instant,
    pub(super) ending: LimitKind,
    /// What `until` stands for, where nobody asked for so much.
    grace: Duration,
}

impl WaitLimit {
    /// For a question in passing, which is answered at once or not at all.
    pub(super) fn no_wait(latest: Instant) -> Self {
        let bound = LimitKind::Act;
        Self { until: Instant::now(), bound, latest, ending: bound, grace: Duration::ZERO }
    }

    /// The page has to be so already.
    pub(super) fn without_wait(self) -> Self {
        Self { until: Instant::now(), grace: Duration::ZERO, ..self }
    }

    /// Gives a page all of its patience that could say nothing as long as that was; `false` where it has none.
    pub(super) fn restart(&mut self) -> bool {
        let timeout = std::mem::take(&mut self.grace);
        self.until = (Instant::now() + timeout).min(self.latest);
        !timeout.is_zero()
    }

    /// The same for a page that was `asked` in time, and answered long after that.
    pub(super) fn extend_if_late(&mut self, asked: Instant) {
        if asked < self.until && Instant::now() > self.until + PAGE_TOLERANCE {
            self.restart();
        }
    }
}

/// When things have to be over.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeBudget {
    limits: ScriptLimits,
    step: Duration,
    script: Duration,
    step_ends: Instant,
    script_ends: Instant,
    /// What limits the page loads of the act that is under way.
    page_bound: LimitKind,
    /// What captures may still give back.
    spare: Duration,
}

impl TimeBudget {
    /// From now on, for the whole of `script`.
    pub(super) fn new(limits: ScriptLimits, script: &Script) -> Self {
        let whole = limits.script_limit(script);
        // A step's own limit is named before that of the script when both end together.
        let ends = Instant::now() + whole + PAGE_TOLERANCE;
        Self {
            limits,
            step: whole,
            script: whole,
            step_ends: ends,
            script_ends: ends,
            page_bound: LimitKind::Page,
            spare: CAPTURE_ALLOWANCE,
        }
    }

    /// A step begins.
    pub(super) fn begin_step(&mut self, step: &ScriptStep) {
        let limit = self.limits.step_limit(step);
        self.step = limit.unwrap_or(self.script);
        self.step_ends = limit.map_or(self.script_ends, |limit| Instant::now() + limit);
    }

    /// What limits the page loads of the act that is under way.
    pub(super) const fn page_limit_kind(&self) -> LimitKind {
        self.page_bound
    }

    /// Notes what limits the page loads of the act that begins.
    pub(super) const fn set_page_limit_kind(&mut self, bound: LimitKind) {
        self.page_bound = bound;
    }

    /// Gives back `time` that was spent on what is kept of the page, as far as there is any to spare.
    pub(super) fn refund(&mut self, time: Duration) {
        let time = time.min(self.spare);
        self.spare -= time;
        self.step_ends += time;
        self.script_ends += time;
    }

    /// The end of this step, for work that is not the browser's. What the page said at the very last is judged too.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline { at: self.end_of(None).0.max(Instant::now() + FINAL_EVALUATION), timeout: self.step }
    }

    /// Whether nothing more can be done in this step.
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

    /// The end of what may take `own`, and the limit that sets it.
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

    /// For what may take `own`; without, the page waits for `patience`, or as long as the step may take.
    pub(super) fn wait_limit(&self, own: Option<Duration>, timeout: Option<Duration>) -> WaitLimit {
        let (until, bound) = self.end_of(own.or(timeout));
        let (ends, ending) = self.end_of(own);
        let timeout = timeout.filter(|_| own.is_none()).unwrap_or_default();
        WaitLimit { until, bound, latest: ends + DRIVER_GRACE, ending, grace: timeout }
    }

    /// How long the driver may wait for a page, and the limit that sets it. A page load with a time of its `own` may
    /// be shorter than others, and not longer.
    pub(super) fn page_limit(&self, own: Option<Duration>) -> (Duration, LimitKind) {
        let (ends, bound) = self.end_of(None);
        let left = ends.saturating_duration_since(Instant::now());
        // Where a step or a script is one page load long, it is the page that is late.
        let own = own.filter(|own| *own < self.limits.page);
        let page = own.unwrap_or(self.limits.page);
        if page <= left + PAGE_TOLERANCE {
            (page, own.map_or(LimitKind::Page, LimitKind::Open))
        } else {
            (left, bound)
        }
    }

    /// The failure of something that was not over at `bound`; `what` stands for it.
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
    async fn what_a_page_said_at_the_very_last_is_judged() {
        let limits = ScriptLimits { page: Duration::from_secs(1), step: None };
        let budget = TimeBudget::new(limits, &Script::from_url("http://a.example/"));
        tokio::time::advance(Duration::from_secs(10)).await;
        let condition = TextCondition::Matches(Regex::new("b").unwrap());
        for (text, holds) in [("a", false), ("b", true)] {
            assert_eq!(condition.holds(&text.into(), budget.deadline()).await, Ok(holds), "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn captures_give_back_a_minute_at_most() {
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
