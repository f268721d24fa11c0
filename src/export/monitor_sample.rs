//! The values of a monitor, as a page of metrics has them.

use std::sync::Arc;

use crate::domain::{CheckResult, LocationId, Outcome, Phase, Status, Timestamp};
use crate::telemetry::DurationHistogram;

/// Phases that are worth a series before the others, the most telling first.
const PHASES_FIRST: [Phase; 6] =
    [Phase::FirstByte, Phase::Connect, Phase::Tls, Phase::Resolve, Phase::Transfer, Phase::Echo];

/// The values of a monitor.
#[derive(Clone, Debug)]
pub struct MonitorSample {
    /// Labels that all its series have, as [`push_label`](super::push_label) writes them.
    pub labels: Box<str>,
    /// Why it has no values now, such as `paused`; it has an outcome with this name alone.
    pub idle_reason: Option<&'static str>,
    /// Whether an outage is open; `None` where nobody knows.
    pub has_open_outage: Option<bool>,
    /// Error budgets of its agreements.
    pub budgets: Box<[BudgetSample]>,
    /// Its values by location.
    pub locations: Box<[LocationSample]>,
}

/// What is left of the error budget of a goal.
#[derive(Clone, Debug)]
pub struct BudgetSample {
    /// The labels `sla` and `goal`.
    pub labels: Box<str>,
    /// Share of the budget that is left, 1 for all of it.
    pub left_ratio: f64,
}

/// The last check of a monitor at a location.
#[derive(Clone, Debug)]
pub struct LocationSample {
    /// The location.
    pub location: LocationId,
    /// Outcome.
    pub outcome: Outcome,
    /// Status code.
    pub status: Status,
    /// Duration in microseconds.
    pub duration_us: u64,
    /// What only the result itself knows.
    pub figures: Arc<ResultFigures>,
    /// Durations of its checks since the server started; `None` where they are not counted.
    pub histogram: Option<Box<DurationHistogram>>,
}

/// Figures of a result that no state of a monitor has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultFigures {
    /// Microseconds by phase of its last attempt, the most telling phases first.
    pub phases: Box<[(Phase, u32)]>,
    /// When the certificate of the peer expires.
    pub certificate_end: Option<Timestamp>,
    /// How many steps failed; `None` for checks without steps.
    pub failed_steps: Option<u32>,
}

impl ResultFigures {
    /// Returns the figures of `result`.
    #[must_use]
    pub fn from_result(result: &CheckResult) -> Self {
        let phases = result.attempts.last().map(|attempt| attempt.phases.iter().collect());
        let mut phases: Vec<(Phase, u32)> = phases.unwrap_or_default();
        let rank = |phase: Phase| PHASES_FIRST.iter().position(|first| *first == phase);
        phases.sort_by_key(|(phase, _)| rank(*phase).unwrap_or(PHASES_FIRST.len()));
        let steps = &result.details.steps;
        let failed_steps = steps.iter().filter(|step| !step.failures.is_empty()).count();
        let certificates = result.facts.tls.as_ref().map(|tls| tls.certificates.as_slice());
        Self {
            phases: phases.into(),
            certificate_end: certificates.and_then(<[_]>::first).map(|leaf| leaf.not_after),
            failed_steps: (!steps.is_empty()).then(|| u32::try_from(failed_steps).unwrap_or(u32::MAX)),
        }
    }
}
