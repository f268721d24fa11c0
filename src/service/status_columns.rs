//! What filters and orders look at of the rows of a board, each in a vector of its own: visiting 100,000 rows, each
//! elsewhere in memory, would take longer than all else that an answer takes.

use std::ops::Range;

use super::monitor_search::{MonitorSearch, searched_text};
use super::packed_lists::PackedLists;
use super::status_row::StatusRow;
use crate::domain::{CustomerId, LocationId, MonitorId, MonitorType};

/// By what rows can be sorted, smallest first; what a row does not have is largest.
const NOTHING: i64 = i64::MAX;

/// Columns of the rows of a board, by position.
#[derive(Clone, Debug, Default)]
pub(super) struct StatusColumns {
    pub(super) ids: Vec<MonitorId>,
    pub(super) customers: Vec<CustomerId>,
    pub(super) types: Vec<MonitorType>,
    /// Duration of the last run in microseconds, negative: the slowest comes first.
    pub(super) durations: Vec<i64>,
    /// Time of the last run, negative: the newest comes first.
    pub(super) last_runs: Vec<i64>,
    /// Time of the last change of the outcome, negative: the latest comes first.
    pub(super) changes: Vec<i64>,
    /// The locations that have checked the monitor.
    pub(super) locations: PackedLists<LocationId>,
    /// Values of custom properties: the ids of the property and of the value.
    pub(super) properties: PackedLists<(i64, i64)>,
    /// What a search looks through, in UTF-8.
    texts: PackedLists<u8>,
}

/// What a new board takes from an old one, and what is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BoardPiece {
    /// Rows of the old board.
    Kept(Range<usize>),
    /// A new row.
    New(usize),
}

impl StatusColumns {
    /// Returns the columns of `rows`.
    pub(super) fn new<'a>(rows: impl Iterator<Item = &'a StatusRow>) -> Self {
        let mut columns = Self::default();
        rows.for_each(|row| columns.push(row));
        columns
    }

    fn push(&mut self, row: &StatusRow) {
        let (monitor, state) = (&row.monitor, row.state.as_ref());
        self.ids.push(monitor.id);
        self.customers.push(monitor.customer);
        self.types.push(monitor.monitor_type());
        let duration = |micros: u64| i64::try_from(micros).map_or(-i64::MAX, |micros| -micros);
        self.durations.push(state.map_or(NOTHING, |state| duration(state.duration_us)));
        self.last_runs.push(state.map_or(NOTHING, |state| -state.planned_at.as_micros()));
        self.changes.push(state.map_or(NOTHING, |state| -state.streak_started_at.as_micros()));
        self.locations.push(row.locations.iter().copied());
        self.properties.push(monitor.document.custom_properties().map(|value| (value.id, value.value_id)));
        self.texts.push(searched_text(monitor).into_bytes());
    }

    /// Returns the columns of a board of `pieces`, which are of these columns and of the `new` ones.
    pub(super) fn with_pieces(&self, pieces: &[BoardPiece], new: &Self) -> Self {
        fn column<T: Copy>(old: &[T], pieces: &[BoardPiece], new: &[T]) -> Vec<T> {
            let mut out = Vec::with_capacity(old.len() + new.len());
            for piece in pieces {
                match piece {
                    BoardPiece::Kept(range) => {
                        out.extend_from_slice(old.get(range.clone()).unwrap_or_default());
                    }
                    BoardPiece::New(index) => out.extend(new.get(*index).copied()),
                }
            }
            out
        }
        fn lists<T: Clone>(
            old: &PackedLists<T>,
            pieces: &[BoardPiece],
            new: &PackedLists<T>,
        ) -> PackedLists<T> {
            let mut out = PackedLists::default();
            for piece in pieces {
                match piece {
                    BoardPiece::Kept(range) => out.extend_from(old, range.clone()),
                    BoardPiece::New(index) => out.extend_from(new, *index..index + 1),
                }
            }
            out
        }
        Self {
            ids: column(&self.ids, pieces, &new.ids),
            customers: column(&self.customers, pieces, &new.customers),
            types: column(&self.types, pieces, &new.types),
            durations: column(&self.durations, pieces, &new.durations),
            last_runs: column(&self.last_runs, pieces, &new.last_runs),
            changes: column(&self.changes, pieces, &new.changes),
            locations: lists(&self.locations, pieces, &new.locations),
            properties: lists(&self.properties, pieces, &new.properties),
            texts: lists(&self.texts, pieces, &new.texts),
        }
    }

    /// Returns, for each row of `range`, whether `search` finds it; `None` when it finds every row.
    pub(super) fn found(&self, search: &MonitorSearch, range: Range<usize>) -> Option<Vec<bool>> {
        let finder = search.finder()?;
        let mut found = vec![false; range.len()];
        let mut mark = |position: usize| {
            if let Some(found) = position.checked_sub(range.start).and_then(|index| found.get_mut(index)) {
                *found = true;
            }
        };
        if let Some(id) = search.id() {
            let ids = self.ids.get(range.clone()).unwrap_or_default();
            ids.iter()
                .zip(range.clone())
                .filter(|(own, _)| **own == id)
                .for_each(|(_, position)| mark(position));
        }
        let (start, mut rest) = self.texts.items_of(range.clone());
        let mut at = start;
        while let Some(offset) = finder.find(rest) {
            let (position, end) = self.texts.list_with(at + offset);
            // A text may begin in one row and end in the next.
            if at + offset + finder.needle().len() <= end {
                mark(position);
            }
            rest = rest.get(end - at..).unwrap_or_default();
            at = end;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(texts: &[&str]) -> StatusColumns {
        let mut columns = StatusColumns::default();
        for (text, id) in texts.iter().zip(1..) {
            columns.ids.push(MonitorId(id));
            columns.texts.push(text.bytes());
        }
        columns
    }

    #[test]
    fn a_search_finds_rows_of_its_range_and_nothing_across_two_rows() {
        let columns = columns(&["shop a", "b shop", "", "opa sh", "op 2"]);
        let found = |text: &str, range: Range<usize>| columns.found(&MonitorSearch::new(text), range);
        assert_eq!(found(" ", 0..5), None);
        assert_eq!(found("shop", 0..5).unwrap(), [true, true, false, false, false]);
        assert_eq!(found("OP", 2..5).unwrap(), [false, true, true]);
        assert_eq!(
            found("2", 0..5).unwrap(),
            [false, true, false, false, true],
            "an id, or a part of a text"
        );
        assert_eq!(found("x", 0..5).unwrap(), [false; 5]);
    }

    #[test]
    fn a_board_of_pieces_has_the_rows_of_each() {
        let (old, new) = (columns(&["a", "b", "c", "d"]), columns(&["x", "y"]));
        let pieces = [BoardPiece::New(1), BoardPiece::Kept(0..2), BoardPiece::New(0), BoardPiece::Kept(3..4)];
        let board = old.with_pieces(&pieces, &new);
        let texts: Vec<_> = (0..5).map(|position| board.texts.get(position)).collect();
        assert_eq!(texts, [b"y", b"a", b"b", b"x", b"d"]);
        assert_eq!(board.ids, [2, 1, 2, 1, 4].map(MonitorId));
    }
}
