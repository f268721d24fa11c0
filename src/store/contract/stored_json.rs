//! JSON that the callers of a store decode, and the errors when they cannot.

use crate::domain::StoreError;

/// JSON that the callers of a store decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredJson {
    /// The alert state of a monitor.
    AlertState,
    /// The snapshot of an episode.
    EpisodeSnapshot,
    /// The state of an active performance alert.
    PerformanceAlertState,
}

/// Names stored JSON as the database does.
pub trait StoredJsonNames: Send + Sync + 'static {
    /// Returns the names of the table and the column.
    fn table_and_column(&self, json: StoredJson) -> (&'static str, &'static str);

    /// Builds the error that `json` of `row` cannot be decoded; `row` has the key of the row.
    fn undecodable_json_error(&self, json: StoredJson, row: String, reason: String) -> StoreError {
        let (table, column) = self.table_and_column(json);
        StoreError::Undecodable { table, row, column, reason }
    }
}
