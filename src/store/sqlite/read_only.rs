//! Reads a database, whether or not another process writes it.

use std::path::Path;

use crate::domain::{ConfigRecord, ConfigRecordFilter, ConfigRecordKind, Paginated, Rollup, RollupQuery};
use crate::schema::Monitor;
use crate::store::contract::{PaginatedResults, Pagination, ResultFilter, StoreError};

use super::error::ErrorMapper;
use super::reader_pool::ReaderPool;
use super::rollup::points;
use super::settings::SqliteSettings;
use super::store::join_threads;
use super::{migrations, monitors, open, records, results};

/// A database opened for reading. Takes no lock, so that it works beside a running server.
pub struct ReadOnlyStore {
    readers: ReaderPool,
}

impl ReadOnlyStore {
    /// Opens the database at `path`. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when the file does not exist, cannot be read, or is of an older Vigie and was not
    /// migrated yet; [`StoreError::TooNew`] for a file of a newer Vigie.
    pub fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, StoreError> {
        let error_mapper = ErrorMapper::new(path);
        if !path.exists() {
            return Err(error_mapper.unusable_error("the file does not exist"));
        }
        migrations::check_version(&open::open_reader(path, settings, &error_mapper)?, &error_mapper)?;
        Ok(Self { readers: ReaderPool::start(path, settings, &error_mapper)? })
    }

    /// Returns all monitors that were not removed.
    pub async fn monitors(&self) -> Result<Vec<Monitor>, StoreError> {
        self.readers.call(monitors::select_all).await
    }

    /// Returns all records of `kind` of all accounts.
    pub async fn records(&self, kind: ConfigRecordKind) -> Result<Vec<ConfigRecord>, StoreError> {
        let everything = Pagination::ALL;
        let filter = ConfigRecordFilter::new(kind);
        let page = self.readers.call(move |conn| records::read_page(conn, &filter, everything)).await?;
        Ok(page.items)
    }

    /// Returns results, newest first.
    pub async fn results(
        &self,
        filter: ResultFilter,
        page: Pagination,
    ) -> Result<PaginatedResults, StoreError> {
        self.readers.call(move |conn| results::read_page(conn, &filter, page)).await
    }

    /// Returns statistics by minute, hour or day, oldest first, then by location; `None` for an unknown monitor.
    pub async fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> Result<Option<Paginated<Rollup>>, StoreError> {
        self.readers.call(move |conn| points::select_points(conn, &query, page)).await
    }
}

impl Drop for ReadOnlyStore {
    fn drop(&mut self) {
        join_threads(self.readers.close());
    }
}
