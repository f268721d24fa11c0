//! The monitors with their status, sorted by urgency.

use std::cmp::Reverse;
use std::sync::Arc;

use super::monitor_search::searched_text;
use crate::domain::{CheckResult, CustomerId, LocationId, MonitorId, Outcome, Timestamp};
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
    /// The last result of `state`; set only for rows of a page.
    pub last_result: Option<CheckResult>,
    /// Its rank by urgency, and its name: a board of 100,000 rows compares them millions of times.
    rank: usize,
    pub(super) name: Box<str>,
    /// The locations of its states, by id.
    pub(super) locations: Box<[LocationId]>,
    /// What a search looks through.
    pub(super) searched_text: Arc<str>,
}

impl StatusRow {
    /// Creates the row of a monitor with its states at its locations.
    pub(super) fn new(monitor: Monitor, states: Vec<MonitorLocationState>, now: Timestamp) -> Self {
        let mut locations: Vec<_> = states.iter().map(|state| state.location_id).collect();
        locations.sort_unstable();
        let urgency = |state: &MonitorLocationState| {
            (MonitorStatus::LastOutcome(state.outcome).severity_rank(), Reverse(state.planned_at))
        };
        let state = states.into_iter().min_by_key(urgency);
        let status = match &state {
            _ if !monitor.enabled() => MonitorStatus::Disabled,
            _ if monitor.paused_until(now).is_some() => MonitorStatus::Paused,
            Some(state) => MonitorStatus::LastOutcome(state.outcome),
            None => MonitorStatus::NoResultYet,
        };
        let (rank, name) = (status.severity_rank(), monitor.name().into());
        let searched_text = searched_text(&monitor).into();
        Self {
            monitor,
            state,
            status,
            last_result: None,
            rank,
            name,
            locations: locations.into(),
            searched_text,
        }
    }

    /// By which rows are sorted: the most urgent first, then by name.
    pub(super) fn sort_key(&self) -> (usize, &str, MonitorId) {
        (self.rank, &self.name, self.monitor.id)
    }
}

/// Every monitor, the most urgent first, then by name.
#[derive(Clone, Debug, Default)]
pub struct StatusBoard {
    rows: Vec<Arc<StatusRow>>,
    /// Monitors by status, in the order of [`MonitorStatus::ALL`].
    counts: [usize; MonitorStatus::ALL.len()],
}

impl StatusBoard {
    /// Creates the board of `rows`, which are sorted.
    pub(super) fn new(rows: Vec<Arc<StatusRow>>) -> Self {
        let mut counts = [0; MonitorStatus::ALL.len()];
        for row in &rows {
            if let Some(count) = counts.get_mut(row.rank) {
                *count += 1;
            }
        }
        Self { rows, counts }
    }

    /// Returns the number of monitors by status, in the order of [`MonitorStatus::ALL`].
    #[must_use]
    pub fn counts_by_status(&self) -> [(MonitorStatus, usize); MonitorStatus::ALL.len()] {
        let mut counts = MonitorStatus::ALL.map(|status| (status, 0));
        for (entry, count) in counts.iter_mut().zip(self.counts) {
            entry.1 = count;
        }
        counts
    }

    /// Returns the number of monitors with a status.
    #[must_use]
    pub fn count(&self, status: MonitorStatus) -> usize {
        self.counts.get(status.severity_rank()).copied().unwrap_or_default()
    }

    /// Returns the board with the monitors of `customer` only.
    #[must_use]
    pub fn for_customer(&self, customer: CustomerId) -> Self {
        let own_rows = self.rows.iter().filter(|row| row.monitor.customer == customer);
        Self::new(own_rows.cloned().collect())
    }

    /// Returns the monitors with a status, in their order: all stand together.
    pub(super) fn rows_with(&self, status: MonitorStatus) -> &[Arc<StatusRow>] {
        let rank = status.severity_rank();
        let start: usize = self.counts.iter().take(rank).sum();
        self.rows.get(start..start + self.count(status)).unwrap_or_default()
    }

    /// Returns the monitors with their states.
    pub(super) fn rows(&self) -> &[Arc<StatusRow>] {
        &self.rows
    }

    /// Returns the number of monitors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no monitors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A page of the matching rows.
#[derive(Clone, Debug)]
pub struct PaginatedStatusRows {
    /// Number of all matching rows.
    pub total: usize,
    /// The rows of the page, with their last results.
    pub rows: Vec<StatusRow>,
}
