//! Reads a database, whether or not a server uses it.

use crate::domain::{ConfigRecord, ConfigRecordFilter, ConfigRecordKind, Paginated, Rollup, RollupQuery};
use crate::schema::Monitor;
use crate::store::contract::{
    ConfigStore, MonitorStore, PaginatedResults, Pagination, ReadOnlyStore, ResultFilter, ResultStore,
    StoreError, StoreFuture,
};

use super::settings::PostgresSettings;
use super::store::PostgresStore;

/// A database opened for reading.
pub(in crate::store) struct PostgresReadOnlyStore(PostgresStore);

impl PostgresReadOnlyStore {
    /// Connects to the database.
    ///
    /// # Errors
    /// Like [`PostgresStore::connect`], and [`StoreError::Unusable`] for tables of an older Vigie, which were not
    /// migrated yet.
    pub(in crate::store) async fn connect(settings: &PostgresSettings) -> Result<Self, StoreError> {
        PostgresStore::connect_read_only(settings).await.map(Self)
    }
}

impl ReadOnlyStore for PostgresReadOnlyStore {
    fn monitors(&self) -> StoreFuture<'_, Vec<Monitor>> {
        MonitorStore::monitors(&self.0)
    }

    fn records(&self, kind: ConfigRecordKind) -> StoreFuture<'_, Vec<ConfigRecord>> {
        Box::pin(async move {
            let page = ConfigStore::records(&self.0, ConfigRecordFilter::new(kind), Pagination::ALL).await?;
            Ok(page.items)
        })
    }

    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults> {
        ResultStore::results(&self.0, filter, page)
    }

    fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> StoreFuture<'_, Option<Paginated<Rollup>>> {
        ResultStore::rollup_points(&self.0, query, page)
    }
}
