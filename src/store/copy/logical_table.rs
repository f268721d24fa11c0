//! A table as both engines have it.

use super::value::{CopyKey, CopyRow};

/// A table as both engines have it.
#[derive(Debug)]
pub struct LogicalTable {
    /// Its name, in PostgreSQL too.
    pub name: &'static str,
    /// Its name in SQLite.
    pub sqlite_name: &'static str,
    /// Number of columns, from the first one on, that are the unique key.
    pub key_len: usize,
    /// Whether its ids come from a sequence, and none is used again.
    pub has_sequence: bool,
    /// Its columns.
    pub columns: &'static [LogicalColumn],
}

/// A column as both engines have it.
#[derive(Clone, Copy, Debug)]
pub struct LogicalColumn {
    /// Its name, in PostgreSQL too.
    pub name: &'static str,
    /// Its name in SQLite.
    pub sqlite_name: &'static str,
    /// Type of its values; each may be NULL.
    pub column_type: ColumnType,
    /// How SQLite stores them.
    pub sqlite_form: SqliteForm,
}

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A truth value.
    Boolean,
    /// An integer; SQLite and `bigint` have 64 bits.
    Integer,
    /// A text.
    Text,
    /// JSON, copied as the same text.
    Json,
    /// Bytes.
    Bytes,
}

/// How SQLite stores the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqliteForm {
    /// As they are; a truth value as 0 or 1.
    Plain,
    /// A truth value, NULL for false.
    FlagOrNull,
    /// The hash of a shared text, as the id of that text.
    SharedText,
}

impl LogicalTable {
    /// Returns the name of the column that SQLite calls `sqlite_name`; the same name if there is none.
    #[must_use]
    pub fn column_name(&self, sqlite_name: &'static str) -> &'static str {
        let column = self.columns.iter().find(|column| column.sqlite_name == sqlite_name);
        column.map_or(sqlite_name, |column| column.name)
    }

    /// Returns the key of `row`.
    #[must_use]
    pub fn key_of(&self, row: &CopyRow) -> CopyKey {
        CopyKey(row.iter().take(self.key_len).cloned().collect())
    }
}
