//! The monitors with their status, and the filter of the status page.

use super::custom_property_filter::CustomPropertyFilters;
use crate::domain::{CheckResult, CustomerId, MonitorType, Outcome};
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
}

/// Every monitor, the most urgent first, then by name.
#[derive(Clone, Debug, Default)]
pub struct StatusBoard {
    pub(super) rows: Vec<StatusRow>,
}

impl StatusBoard {
    /// Returns the number of monitors by status, in the order of [`MonitorStatus::ALL`].
    #[must_use]
    pub fn counts_by_status(&self) -> [(MonitorStatus, usize); 9] {
        let mut counts = MonitorStatus::ALL.map(|status| (status, 0));
        for row in &self.rows {
            if let Some(count) = counts.get_mut(row.status.severity_rank()) {
                count.1 += 1;
            }
        }
        counts
    }

    /// Returns the board with the monitors of `customer` only.
    #[must_use]
    pub fn for_customer(&self, customer: CustomerId) -> Self {
        let own_rows = self.rows.iter().filter(|row| row.monitor.customer == customer);
        Self { rows: own_rows.cloned().collect() }
    }

    /// Returns the monitors with their states.
    pub(super) fn rows(&self) -> &[StatusRow] {
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

/// Filter and window of rows; all filters that are set must match.
#[derive(Clone, Debug, Default)]
pub struct StatusQuery {
    /// Status.
    pub status: Option<MonitorStatus>,
    /// Type.
    pub monitor_type: Option<MonitorType>,
    /// Part of the name, the address or the key, case-insensitive; or the id. Empty for all.
    pub search_text: String,
    /// Values of custom properties.
    pub properties: CustomPropertyFilters,
    /// Largest number of rows to return.
    pub limit: usize,
    /// Rows to skip.
    pub offset: usize,
}

/// A page of the matching rows.
#[derive(Clone, Debug)]
pub struct PaginatedStatusRows {
    /// Number of all matching rows.
    pub total: usize,
    /// The rows of the page, with their last results.
    pub rows: Vec<StatusRow>,
}
