//! Which monitors a list shows, and in which order.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::custom_property_filter::CustomPropertyFilters;
use super::monitor_search::MonitorSearch;
use super::status_board::StatusBoard;
use super::status_row::{MonitorStatus, StatusRow};
use crate::alerting::MonitorsOfRecipient;
use crate::domain::{CustomerId, LocationId, MonitorId, MonitorType};

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
}

/// Returns the positions on `board` of the rows that match `query`, in the order of the board. `down` has the monitors with
/// an open outage.
pub(super) fn matching<'a>(
    board: &'a StatusBoard,
    query: &'a StatusQuery,
    down: &'a HashSet<MonitorId>,
) -> impl Iterator<Item = usize> + use<'a> {
    let columns = board.columns();
    let range = query.status.map_or(0..board.len(), |status| board.positions_with(status));
    let found = columns.found(&MonitorSearch::new(&query.search_text), range.clone());
    let properties = Some(&query.properties).filter(|properties| !properties.match_all());
    let start = range.start;
    range.filter(move |&position| {
        let (Some(id), Some(customer)) = (columns.ids.get(position), columns.customers.get(position)) else {
            return false;
        };
        let is_of_recipient = |monitors: &HashMap<CustomerId, MonitorsOfRecipient>| {
            monitors.get(customer).is_some_and(|monitors| monitors.contains(*id))
        };
        found.as_ref().is_none_or(|found| found.get(position - start) == Some(&true))
            && query.monitor_type.is_none_or(|kind| columns.types.get(position) == Some(&kind))
            && query.location.is_none_or(|location| columns.locations.get(position).contains(&location))
            && properties.is_none_or(|filter| filter.matches(*customer, columns.properties.get(position)))
            && (!query.only_down || down.contains(id))
            && query.of_recipient.as_ref().is_none_or(is_of_recipient)
    })
}

/// Returns the window of the rows at `positions` on `board` that `query` asks for, in its order, and how many rows there
/// are.
pub(super) fn window<'a>(
    board: &'a StatusBoard,
    positions: impl Iterator<Item = usize>,
    query: &StatusQuery,
) -> (usize, Vec<&'a Arc<StatusRow>>) {
    let columns = board.columns();
    let keys = match query.order {
        StatusOrder::Urgency => None,
        StatusOrder::Name => {
            let positions: Vec<_> = positions.collect();
            let total = positions.len();
            let shown = ByName::new(board, &positions).skip(query.offset).take(query.limit);
            let shown = shown.collect();
            return (total, shown);
        }
        StatusOrder::Type => Some(type_keys(&columns.types)),
        StatusOrder::Duration => Some(columns.durations.as_slice().into()),
        StatusOrder::LastRun => Some(columns.last_runs.as_slice().into()),
        StatusOrder::Since => Some(columns.changes.as_slice().into()),
    };
    let row = |position: usize| board.rows().get(position);
    let Some(keys) = keys else {
        let (mut total, mut shown) = (0, Vec::new());
        for position in positions {
            if total >= query.offset && shown.len() < query.limit {
                shown.extend(row(position));
            }
            total += 1;
        }
        return (total, shown);
    };
    let key = |position: usize| (keys.get(position).copied().unwrap_or(i64::MAX), position);
    let mut sorted: Vec<_> = positions.map(key).collect();
    let total = sorted.len();
    let end = query.offset.saturating_add(query.limit).min(total);
    // Of 100,000 rows only a page is sorted.
    if end > 0 && end < total {
        sorted.select_nth_unstable(end - 1);
        sorted.truncate(end);
    }
    sorted.sort_unstable();
    (total, sorted.into_iter().skip(query.offset).filter_map(|(_, position)| row(position)).collect())
}

/// Returns the place of each type among all types by name.
fn type_keys(types: &[MonitorType]) -> Cow<'_, [i64]> {
    let mut by_name = MonitorType::ALL.to_vec();
    by_name.sort_unstable_by_key(|kind| kind.name());
    let places: BTreeMap<MonitorType, i64> = by_name.into_iter().zip(0..).collect();
    types.iter().map(|kind| places.get(kind).copied().unwrap_or(i64::MAX)).collect::<Vec<_>>().into()
}

/// Rows by name: on a board, the rows with one status are by name already, so the first of all is the first of one.
struct ByName<'a, 'p> {
    board: &'a StatusBoard,
    /// For each status, the positions that are left.
    runs: Vec<&'p [usize]>,
}

impl<'a, 'p> ByName<'a, 'p> {
    /// Sorts the rows at `positions`, which are in the order of `board`.
    fn new(board: &'a StatusBoard, mut positions: &'p [usize]) -> Self {
        let mut runs = Vec::new();
        for status in MonitorStatus::ALL {
            let end = board.positions_with(status).end;
            let (run, rest) = positions.split_at(positions.partition_point(|position| *position < end));
            runs.push(run);
            positions = rest;
        }
        runs.retain(|run| !run.is_empty());
        Self { board, runs }
    }
}

impl<'a> Iterator for ByName<'a, '_> {
    type Item = &'a Arc<StatusRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let board = self.board;
        let head = |run: &&mut &[usize]| run.first().and_then(|position| board.rows().get(*position));
        let first = self.runs.iter_mut().min_by_key(|run| head(run).map_or("", |row| &*row.name))?;
        let row = head(&first)?;
        *first = first.get(1..).unwrap_or_default();
        self.runs.retain(|run| !run.is_empty());
        Some(row)
    }
}
