//! The monitors with their status, sorted by urgency.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::status_columns::{BoardPiece, StatusColumns};
use super::status_row::{MonitorStatus, StatusRow};
use crate::domain::{CustomerId, MonitorId};
use crate::sync::Mutex;

/// Every monitor, the most urgent first, then by name.
#[derive(Debug, Default)]
pub struct StatusBoard {
    rows: Vec<Arc<StatusRow>>,
    columns: StatusColumns,
    /// Monitors by status, in the order of [`MonitorStatus::ALL`].
    counts: [usize; MonitorStatus::ALL.len()],
    /// The accounts of the monitors, once they are asked for.
    customers: OnceLock<BTreeSet<CustomerId>>,
    /// The boards of single accounts that were asked for.
    by_customer: Mutex<HashMap<CustomerId, Arc<Self>>>,
}

impl StatusBoard {
    /// Creates the board of `rows`.
    pub(super) fn new(mut rows: Vec<Arc<StatusRow>>) -> Self {
        rows.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let columns = StatusColumns::new(rows.iter().map(|row| &**row));
        let mut counts = [0; MonitorStatus::ALL.len()];
        for row in &rows {
            if let Some(count) = counts.get_mut(row.rank) {
                *count += 1;
            }
        }
        Self { rows, columns, counts, ..Self::default() }
    }

    /// Returns the board with `changed` rows in the place of those that the monitors of `changed_ids` had.
    pub(super) fn with_changes(
        &self,
        changed_ids: &HashSet<MonitorId>,
        changed: Vec<Arc<StatusRow>>,
    ) -> Self {
        let changed = Self::new(changed);
        // Pairs of a position on this board, and the new row that comes before it or none for one that goes.
        let removed = self.columns.ids.iter().zip(0..).filter(|(id, _)| changed_ids.contains(id));
        let mut edits: Vec<(usize, Option<usize>)> = removed.map(|(_, position)| (position, None)).collect();
        for (row, index) in changed.rows.iter().zip(0..) {
            let position = self.rows.partition_point(|old| old.sort_key() < row.sort_key());
            edits.push((position, Some(index)));
        }
        // New rows stand before what they come before, in their own order.
        edits.sort_unstable_by_key(|(position, new)| (*position, new.is_none(), *new));
        let (mut pieces, mut position) = (Vec::with_capacity(edits.len() * 2 + 1), 0);
        for (at, new) in edits {
            if at > position {
                pieces.push(BoardPiece::Kept(position..at));
                position = at;
            }
            match new {
                Some(index) => pieces.push(BoardPiece::New(index)),
                None => position = at + 1,
            }
        }
        if position < self.rows.len() {
            pieces.push(BoardPiece::Kept(position..self.rows.len()));
        }
        self.with_pieces(&pieces, &changed)
    }

    /// Returns the board of `pieces`, which are of this board and all rows of the `new` one.
    fn with_pieces(&self, pieces: &[BoardPiece], new: &Self) -> Self {
        let mut rows: Vec<Arc<StatusRow>> = Vec::with_capacity(self.rows.len() + new.rows.len());
        let mut counts = new.counts;
        for piece in pieces {
            match piece {
                BoardPiece::Kept(range) => {
                    rows.extend_from_slice(self.rows.get(range.clone()).unwrap_or_default());
                    for (count, status) in counts.iter_mut().zip(MonitorStatus::ALL) {
                        let own = self.positions_with(status);
                        *count += own.end.min(range.end).saturating_sub(own.start.max(range.start));
                    }
                }
                BoardPiece::New(index) => rows.extend(new.rows.get(*index).cloned()),
            }
        }
        Self { rows, columns: self.columns.with_pieces(pieces, &new.columns), counts, ..Self::default() }
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
    pub fn for_customer(&self, customer: CustomerId) -> Arc<Self> {
        if let Some(board) = self.by_customer.lock().get(&customer) {
            return Arc::clone(board);
        }
        let mut pieces: Vec<BoardPiece> = Vec::new();
        let own = self.columns.customers.iter().zip(0..).filter(|(own, _)| **own == customer);
        for (_, position) in own {
            match pieces.last_mut() {
                Some(BoardPiece::Kept(range)) if range.end == position => range.end += 1,
                _ => pieces.push(BoardPiece::Kept(position..position + 1)),
            }
        }
        let board = Arc::new(self.with_pieces(&pieces, &Self::default()));
        self.by_customer.lock().insert(customer, Arc::clone(&board));
        board
    }

    /// Returns the accounts of the monitors.
    pub(super) fn customers(&self) -> &BTreeSet<CustomerId> {
        self.customers.get_or_init(|| {
            let mut customers = self.columns.customers.clone();
            customers.dedup();
            customers.into_iter().collect()
        })
    }

    /// Returns the positions of the monitors with a status: all stand together, by name.
    pub(super) fn positions_with(&self, status: MonitorStatus) -> Range<usize> {
        let rank = status.severity_rank();
        let start: usize = self.counts.iter().take(rank).sum();
        start..start + self.count(status)
    }

    /// Returns the monitors with a status, in their order.
    pub(super) fn rows_with(&self, status: MonitorStatus) -> &[Arc<StatusRow>] {
        self.rows.get(self.positions_with(status)).unwrap_or_default()
    }

    /// Returns the monitors with their states.
    pub(super) fn rows(&self) -> &[Arc<StatusRow>] {
        &self.rows
    }

    /// Returns what filters and orders look at of the monitors, by position.
    pub(super) const fn columns(&self) -> &StatusColumns {
        &self.columns
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
