//! What a store has to offer to be copied from and to.

use std::pin::Pin;

use super::logical_table::LogicalTable;
use super::value::{CopyKey, CopyRow};
use crate::store::maintenance::MaintenanceError;

/// Future of a step of a copy.
pub type CopyFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, MaintenanceError>> + Send + 'a>>;

/// How much of a table is read and committed at once.
#[derive(Clone, Copy, Debug)]
pub struct PageLimit {
    /// Most rows.
    pub rows: usize,
    /// Bytes after which no further row is added.
    pub bytes: usize,
}

impl Default for PageLimit {
    fn default() -> Self {
        Self { rows: 5_000, bytes: 8 * 1024 * 1024 }
    }
}

/// How far a table is copied; committed with each page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableProgress {
    /// The logical name of the table.
    pub table: &'static str,
    /// Key of the last row that was copied; `None` before the first one.
    pub last_key: Option<CopyKey>,
    /// Rows that were copied.
    pub row_count: u64,
    /// Whether all rows are copied.
    pub is_complete: bool,
}

impl TableProgress {
    /// Progress of a table that is not copied yet.
    #[must_use]
    pub const fn none(table: &'static str) -> Self {
        Self { table, last_key: None, row_count: 0, is_complete: false }
    }
}

/// A store that is read. While it is open, no server can write to it.
pub trait CopySource: Send {
    /// Returns where it is, without a password.
    fn describe(&self) -> &str;

    /// Returns the number of rows of a table.
    fn row_count(&mut self, table: &'static LogicalTable) -> CopyFuture<'_, u64>;

    /// Returns the rows that follow `after`, ordered by key: at least one while there are any, at most `limit`.
    ///
    /// A hash of a shared text that does not exist any more is 16 zero bytes.
    fn read_page(
        &mut self,
        table: &'static LogicalTable,
        after: Option<CopyKey>,
        limit: PageLimit,
    ) -> CopyFuture<'_, Vec<CopyRow>>;

    /// Returns, for each table with [`LogicalTable::has_sequence`], the highest id that was ever assigned; 0 without
    /// one.
    fn last_ids(&mut self) -> CopyFuture<'_, Vec<(&'static str, i64)>>;
}

/// A store that is written. Until [`CopyTarget::finish`], no server opens it.
pub trait CopyTarget: CopySource {
    /// Begins a copy from `source`, or continues an interrupted one; returns how far each table was copied. A target
    /// without data has no rows afterwards: what its migrations write comes from the source. `restarts` removes what an
    /// interrupted copy left.
    ///
    /// # Errors
    /// [`MaintenanceError::Refused`] when it contains data, or an interrupted copy of another source.
    fn begin(&mut self, source: String, restarts: bool) -> CopyFuture<'_, Vec<TableProgress>>;

    /// Writes rows of a table and its progress in one transaction.
    fn write_page(
        &mut self,
        table: &'static LogicalTable,
        rows: Vec<CopyRow>,
        progress: TableProgress,
    ) -> CopyFuture<'_, ()>;

    /// Completes the copy: new ids follow `last_ids`, the progress is removed, and a server can open the store.
    fn finish(&mut self, last_ids: Vec<(&'static str, i64)>) -> CopyFuture<'_, ()>;
}
