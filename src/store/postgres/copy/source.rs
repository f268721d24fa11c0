//! A PostgreSQL database that is copied from.

use sqlx::PgConnection;

use crate::store::contract::StoreError;
use crate::store::copy::{CopyFuture, CopyKey, CopyRow, CopySource, LogicalTable, PageLimit};
use crate::store::postgres::error::{ErrorMapper, PgResult};
use crate::store::postgres::settings::PostgresSettings;
use crate::store::postgres::{connect, exclusive_use, migrations};

use super::rows;

/// A PostgreSQL database that is copied from. While it is open, no server can open it.
pub struct PostgresCopySource {
    pub(super) conn: PgConnection,
    pub(super) error_mapper: ErrorMapper,
}

impl PostgresCopySource {
    /// Connects to the database, whose tables must be of the newest version.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while a server uses it, [`StoreError::Unusable`] when it is of an older version.
    pub async fn open(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let error_mapper = ErrorMapper { url: settings.location.to_string() };
        let mut conn = connect::connect_in_time(settings, &error_mapper).await?;
        let prepare: PgResult<()> = async {
            migrations::check_version(&mut conn, &error_mapper).await?;
            exclusive_use::lock(&mut conn, &error_mapper).await
        }
        .await;
        prepare.map_err(|error| error_mapper.to_store_error(&error))?;
        Ok(Self { conn, error_mapper })
    }

    /// Converts the error of a step.
    pub(super) fn step<T>(
        error_mapper: &ErrorMapper,
        outcome: PgResult<T>,
    ) -> Result<T, crate::store::maintenance::MaintenanceError> {
        outcome.map_err(|error| error_mapper.to_store_error(&error).into())
    }
}

impl CopySource for PostgresCopySource {
    fn describe(&self) -> &str {
        &self.error_mapper.url
    }

    fn row_count(&mut self, table: &'static LogicalTable) -> CopyFuture<'_, u64> {
        Box::pin(async move { Self::step(&self.error_mapper, rows::row_count(&mut self.conn, table).await) })
    }

    fn read_page(
        &mut self,
        table: &'static LogicalTable,
        after: Option<CopyKey>,
        limit: PageLimit,
    ) -> CopyFuture<'_, Vec<CopyRow>> {
        Box::pin(async move {
            let page = rows::read_page(&mut self.conn, table, after.as_ref(), limit).await;
            Self::step(&self.error_mapper, page)
        })
    }

    fn last_ids(&mut self) -> CopyFuture<'_, Vec<(&'static str, i64)>> {
        Box::pin(async move { Self::step(&self.error_mapper, rows::last_ids(&mut self.conn).await) })
    }
}
