//! A monitor with its status.

use std::cmp::Reverse;

use crate::domain::{CheckResult, LocationId, MonitorId, Outcome, Timestamp};
use crate::schema::Monitor;
use crate::store::MonitorLocationState;

/// Status of a monitor for people: an outcome, or the reason why it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MonitorStatus {
    /// Outcome of its last run.
    LastOutcome(Outcome),
    /// Planned, but without a result yet.
    NoResultYet,
    /// Paused until a time (`POST /monitors/{id}/pause`).
    Paused,
    /// `enabled` is false.
    Disabled,
}

impl MonitorStatus {
    /// Every status, the most urgent first.
    pub const ALL: [Self; 9] = [
        Self::LastOutcome(Outcome::Error),
        Self::LastOutcome(Outcome::Unknown),
        Self::LastOutcome(Outcome::Missed),
        Self::LastOutcome(Outcome::Warning),
        Self::NoResultYet,
        Self::LastOutcome(Outcome::Ok),
        Self::LastOutcome(Outcome::Blackout),
        Self::Paused,
        Self::Disabled,
    ];

    /// Returns its displayed name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LastOutcome(outcome) => outcome.name(),
            Self::NoResultYet => "waiting",
            Self::Paused => "paused",
            Self::Disabled => "disabled",
        }
    }

    /// Parses a displayed name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// Returns its position in [`Self::ALL`].
    pub(super) fn severity_rank(self) -> usize {
        Self::ALL.iter().position(|&status| status == self).unwrap_or(usize::MAX)
    }
}

/// A monitor with its status.
#[derive(Clone, Debug)]
pub struct StatusRow {
    /// The monitor.
    pub monitor: Monitor,
    /// Its most urgent state over all locations; `None` before the first run.
    pub state: Option<MonitorLocationState>,
    /// Its status.
    pub status: MonitorStatus,
    /// The last result of `state`; set only for rows of a page. A result takes several times as much as the rest.
    pub last_result: Option<Box<CheckResult>>,
    /// Its rank by urgency, and its name: a board of 100,000 rows compares them millions of times.
    pub(super) rank: usize,
    pub(super) name: Box<str>,
    /// The locations of its states, by id.
    pub(super) locations: Box<[LocationId]>,
}

impl StatusRow {
    /// Creates the row of a monitor with its states at its locations, by id of the location.
    pub(super) fn new(monitor: Monitor, states: &[MonitorLocationState], now: Timestamp) -> Self {
        let urgency = |state: &&MonitorLocationState| {
            (MonitorStatus::LastOutcome(state.outcome).severity_rank(), Reverse(state.planned_at))
        };
        let state = states.iter().min_by_key(urgency).cloned();
        let status = match &state {
            _ if !monitor.enabled() => MonitorStatus::Disabled,
            _ if monitor.paused_until(now).is_some() => MonitorStatus::Paused,
            Some(state) => MonitorStatus::LastOutcome(state.outcome),
            None => MonitorStatus::NoResultYet,
        };
        let (rank, name) = (status.severity_rank(), monitor.name().into());
        Self {
            monitor,
            state,
            status,
            last_result: None,
            rank,
            name,
            locations: states.iter().map(|state| state.location_id).collect(),
        }
    }

    /// By which rows are sorted: the most urgent first, then by name.
    pub(super) fn sort_key(&self) -> (usize, &str, MonitorId) {
        (self.rank, &self.name, self.monitor.id)
    }
}
