//! An SQLite file that is copied; its lock keeps servers away.

use std::path::Path;

use rusqlite::Connection;

use crate::store::contract::StoreError;
use crate::store::copy::{CopyFuture, CopyKey, CopyRow, CopySource, LogicalTable, PageLimit};
use crate::store::sqlite::error::ErrorMapper;
use crate::store::sqlite::open::ProcessLock;
use crate::store::sqlite::settings::SqliteSettings;
use crate::store::sqlite::{migrations, open};

use super::table_reader;

/// An SQLite file that is copied.
pub struct SqliteCopySource {
    conn: Connection,
    error_mapper: ErrorMapper,
    description: String,
    _lock: ProcessLock,
}

impl SqliteCopySource {
    /// Opens the file at `path`, which has to be of the newest version. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while a server uses it, [`StoreError::Unusable`] when it does not exist or is of an older
    /// version, [`StoreError::TooNew`] for a file of a newer Vigie.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let error_mapper = ErrorMapper::new(path);
        if !path.exists() {
            return Err(error_mapper.unusable_error("the file does not exist"));
        }
        let lock = open::acquire_lock(path, &error_mapper)?;
        let conn = open::open_reader(path, &SqliteSettings::default(), &error_mapper)?;
        migrations::check_version(&conn, &error_mapper)?;
        // One snapshot, also of what other programs write.
        conn.execute_batch("BEGIN").map_err(|error| error_mapper.to_store_error(&error))?;
        Ok(Self { conn, error_mapper, description: path.display().to_string(), _lock: lock })
    }
}

impl CopySource for SqliteCopySource {
    fn describe(&self) -> &str {
        &self.description
    }

    fn row_count(&mut self, table: &'static LogicalTable) -> CopyFuture<'_, u64> {
        Box::pin(async move {
            let count = table_reader::row_count(&self.conn, table);
            count.map_err(|error| self.error_mapper.to_store_error(&error).into())
        })
    }

    fn read_page(
        &mut self,
        table: &'static LogicalTable,
        after: Option<CopyKey>,
        limit: PageLimit,
    ) -> CopyFuture<'_, Vec<CopyRow>> {
        Box::pin(async move {
            Ok(table_reader::read_page(&self.conn, &self.error_mapper, table, after.as_ref(), limit)?)
        })
    }

    fn last_ids(&mut self) -> CopyFuture<'_, Vec<(&'static str, i64)>> {
        Box::pin(async move {
            let ids = table_reader::last_ids(&self.conn);
            ids.map_err(|error| self.error_mapper.to_store_error(&error).into())
        })
    }
}
