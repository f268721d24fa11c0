//! Which monitors a list shows, and in which order.

use std::collections::HashMap;
use std::sync::Arc;

use super::custom_property_filter::CustomPropertyFilters;
use super::monitor_search::MonitorSearch;
use super::status_board::{MonitorStatus, StatusBoard, StatusRow};
use crate::alerting::MonitorsOfRecipient;
use crate::domain::{CustomerId, LocationId, MonitorType};

/// Filter, order and window of rows; all filters that are set must match.
#[derive(Clone, Debug, Default)]
pub struct StatusQuery {
    /// Status.
    pub status: Option<MonitorStatus>,
    /// Type.
    pub monitor_type: Option<MonitorType>,
    /// Location that has checked the monitor.
    pub location: Option<LocationId>,
    /// Only monitors with an open outage.
    pub only_down: bool,
    /// By account, the monitors about which a recipient can be told; `None` for all.
    pub of_recipient: Option<HashMap<CustomerId, MonitorsOfRecipient>>,
    /// Part of the name, the address or the key, case-insensitive; or the id. Empty for all.
    pub search_text: String,
    /// Values of custom properties.
    pub properties: CustomPropertyFilters,
    /// Order of the rows.
    pub order: StatusOrder,
    /// Largest number of rows to return.
    pub limit: usize,
    /// Rows to skip.
    pub offset: usize,
}

impl StatusQuery {
    /// Whether more than the status decides which rows match.
    fn has_filter(&self) -> bool {
        self.monitor_type.is_some()
            || self.location.is_some()
            || self.only_down
            || self.of_recipient.is_some()
            || !self.search_text.trim().is_empty()
            || !self.properties.match_all()
    }
}

/// By what rows are sorted; then as a board is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusOrder {
    /// The most urgent first, then by name.
    #[default]
    Urgency,
    /// By name.
    Name,
    /// By type.
    Type,
    /// The slowest last run first.
    Duration,
    /// The newest last run first.
    LastRun,
    /// The latest change of the outcome first.
    Since,
}

impl StatusOrder {
    /// Every order with its name.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Urgency, "urgency"),
        (Self::Name, "name"),
        (Self::Type, "type"),
        (Self::Duration, "duration"),
        (Self::LastRun, "last-run"),
        (Self::Since, "since"),
    ];

    /// Returns its name in addresses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(order, _)| *order == self).map_or("", |(_, name)| name)
    }

    /// Parses its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(order, _)| *order)
    }

    /// Compares two rows; equal ones keep the order of the board.
    fn compare(self, a: &StatusRow, b: &StatusRow) -> std::cmp::Ordering {
        let duration = |row: &StatusRow| row.state.as_ref().map(|state| state.duration_us);
        let last_run = |row: &StatusRow| row.state.as_ref().map(|state| state.planned_at);
        let since = |row: &StatusRow| row.state.as_ref().map(|state| state.streak_started_at);
        match self {
            Self::Urgency => std::cmp::Ordering::Equal,
            Self::Name => a.name.cmp(&b.name),
            Self::Type => a.monitor.monitor_type().name().cmp(b.monitor.monitor_type().name()),
            Self::Duration => duration(b).cmp(&duration(a)),
            Self::LastRun => last_run(b).cmp(&last_run(a)),
            Self::Since => since(b).cmp(&since(a)),
        }
    }
}

/// Returns the rows of `board` that match `query`, in the order of the board. `is_down` tells whether an outage of a
/// monitor is open.
pub(super) fn matching<'a>(
    board: &'a StatusBoard,
    query: &'a StatusQuery,
    is_down: &'a dyn Fn(&StatusRow) -> bool,
) -> impl Iterator<Item = &'a Arc<StatusRow>> {
    let search = MonitorSearch::new(&query.search_text);
    let rows = query.status.map_or(board.rows(), |status| board.rows_with(status));
    // Looking at 100,000 rows takes longer than all else.
    let has_filter = query.has_filter();
    rows.iter().filter(move |row| {
        let is_of_recipient = |monitors: &HashMap<CustomerId, MonitorsOfRecipient>| {
            monitors.get(&row.monitor.customer).is_some_and(|monitors| monitors.contains(row.monitor.id))
        };
        !has_filter
            || query.monitor_type.is_none_or(|kind| row.monitor.monitor_type() == kind)
                && query.location.is_none_or(|location| row.locations.contains(&location))
                && query.of_recipient.as_ref().is_none_or(is_of_recipient)
                && query.properties.matches(&row.monitor)
                && search.matches(row.monitor.id, &row.searched_text)
                && (!query.only_down || is_down(row))
    })
}

/// Returns the window of `rows` that `query` asks for, in its order, and how many rows there are.
pub(super) fn window<'a>(
    rows: impl Iterator<Item = &'a Arc<StatusRow>>,
    query: &StatusQuery,
) -> (usize, Vec<&'a Arc<StatusRow>>) {
    if query.order == StatusOrder::Urgency {
        let (mut total, mut shown) = (0, Vec::new());
        for row in rows {
            if total >= query.offset && shown.len() < query.limit {
                shown.push(row);
            }
            total += 1;
        }
        return (total, shown);
    }
    let mut rows: Vec<(usize, &Arc<StatusRow>)> = rows.enumerate().collect();
    let total = rows.len();
    let end = query.offset.saturating_add(query.limit).min(total);
    let compare = |a: &(usize, &Arc<StatusRow>), b: &(usize, &Arc<StatusRow>)| {
        query.order.compare(a.1, b.1).then(a.0.cmp(&b.0))
    };
    // Of 100,000 rows only a page is sorted.
    if end > 0 && end < total {
        rows.select_nth_unstable_by(end - 1, compare);
        rows.truncate(end);
    }
    rows.sort_unstable_by(compare);
    (total, rows.into_iter().skip(query.offset).take(query.limit).map(|(_, row)| row).collect())
}
