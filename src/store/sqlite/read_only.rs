//! Reads a database, whether or not another process writes it.

use std::path::Path;

use crate::domain::{ConfigRecord, ConfigRecordFilter, ConfigRecordKind, Paginated, Rollup, RollupQuery};
use crate::schema::Monitor;
use crate::store::contract::{
    PaginatedResults, Pagination, ReadOnlyStore, ResultFilter, StoreError, StoreFuture,
};

use super::error::ErrorMapper;
use super::reader_pool::ReaderPool;
use super::rollup::points;
use super::settings::SqliteSettings;
use super::store::join_threads;
use super::{migrations, monitors, open, records, results};

/// A database opened for reading. Takes no lock, so that it works beside a running server.
pub struct SqliteReadOnlyStore {
    readers: ReaderPool,
}

impl SqliteReadOnlyStore {
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
}

impl ReadOnlyStore for SqliteReadOnlyStore {
    fn monitors(&self) -> StoreFuture<'_, Vec<Monitor>> {
        Box::pin(self.readers.call(monitors::select_all))
    }

    fn records(&self, kind: ConfigRecordKind) -> StoreFuture<'_, Vec<ConfigRecord>> {
        let filter = ConfigRecordFilter::new(kind);
        let read = self.readers.call(move |conn| records::read_page(conn, &filter, Pagination::ALL));
        Box::pin(async move { Ok(read.await?.items) })
    }

    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults> {
        Box::pin(self.readers.call(move |conn| results::read_page(conn, &filter, page)))
    }

    fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> StoreFuture<'_, Option<Paginated<Rollup>>> {
        Box::pin(self.readers.call(move |conn| points::select_points(conn, &query, page)))
    }
}

impl Drop for SqliteReadOnlyStore {
    fn drop(&mut self) {
        join_threads(self.readers.close());
    }
}
