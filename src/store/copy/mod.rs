//! Copies a whole store to another one, whatever their engines are (src/manual/database.md, "Move to another
//! database").
//!
//! Both sides see the same logical tables: each row is a list of typed values in the order of the columns.

mod checksum;
mod contract;
mod copy_store;
mod logical_table;
mod tables;
mod value;

pub use checksum::TableChecksum;
pub use contract::{CopyFuture, CopySource, CopyTarget, PageLimit, TableProgress};
pub use copy_store::{CopyPhase, CopyProgress, CopySummary, copy_store};
pub use logical_table::{ColumnType, LogicalColumn, LogicalTable, SqliteForm};
pub use tables::TABLES;
pub use value::{CopyKey, CopyRow, CopyValue};
