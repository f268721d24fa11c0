//! A new PostgreSQL database that is copied to. While a table says so, no server opens it.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::store::contract::StoreError;
use crate::store::copy::{
    CopyFuture, CopyKey, CopyRow, CopySource, CopyTarget, CopyValue, LogicalTable, PageLimit, TABLES,
    TableProgress,
};
use crate::store::maintenance::MaintenanceError;
use crate::store::postgres::error::{ErrorMapper, PgError, PgResult};
use crate::store::postgres::partitions::{create_partitions, day_start, tables_of_partitioned};
use crate::store::postgres::settings::PostgresSettings;
use crate::store::postgres::{connect, exclusive_use, migrations};

use super::rows;
use super::source::PostgresCopySource;

/// The tables of an interrupted copy.
const CREATE_PROGRESS: &str = "
    CREATE TABLE copy_source (description TEXT NOT NULL);
    CREATE TABLE copy_progress (
        table_name  TEXT PRIMARY KEY,
        last_key    TEXT,             -- JSON
        row_count   BIGINT NOT NULL,
        is_complete BOOLEAN NOT NULL
    )";

/// Makes the copy complete: removes what marks it as interrupted.
const FINISH: &str = "
    UPDATE result_bounds SET longest_missed_us = coalesce((
        SELECT max(last_planned_at - planned_at) FROM results WHERE last_planned_at IS NOT NULL), 0),
        newest_missed_at = coalesce((
        SELECT max(last_planned_at) FROM results WHERE last_planned_at IS NOT NULL), 0);
    DROP TABLE copy_progress;
    DROP TABLE copy_source";

/// A new PostgreSQL database that is copied to.
pub struct PostgresCopyTarget(PostgresCopySource);

impl PostgresCopyTarget {
    /// Connects to the database and makes its tables, if it has none.
    ///
    /// # Errors
    /// [`MaintenanceError::Refused`] when it contains data.
    pub async fn open(settings: &PostgresSettings) -> Result<Self, MaintenanceError> {
        let error_mapper = ErrorMapper { url: settings.location.to_string() };
        let mut conn = connect::connect_in_time(settings, &error_mapper).await?;
        let prepare: PgResult<bool> = async {
            connect::check_server(&mut conn, settings, &error_mapper).await?;
            migrations::migrate(&mut conn, &error_mapper).await?;
            exclusive_use::lock(&mut conn, &error_mapper).await?;
            Ok(!connect::is_copy_target(&mut conn).await? && has_data(&mut conn).await?)
        }
        .await;
        if PostgresCopySource::step(&error_mapper, prepare)? {
            let text = format!("`{}` contains data; name an empty database", error_mapper.url);
            return Err(MaintenanceError::Refused(text));
        }
        Ok(Self(PostgresCopySource { conn, error_mapper }))
    }

    async fn begin_copy(&mut self, source: &str, restarts: bool) -> PgResult<Vec<TableProgress>> {
        let url = self.0.error_mapper.url.clone();
        let conn = &mut self.0.conn;
        if restarts && connect::is_copy_target(conn).await? {
            sqlx::raw_sql("DROP TABLE copy_progress; DROP TABLE copy_source").execute(&mut *conn).await?;
        }
        if !connect::is_copy_target(conn).await? {
            let mut tx = conn.begin().await?;
            for table in TABLES {
                sqlx::raw_sql(AssertSqlSafe(format!("TRUNCATE {}", table.name))).execute(&mut *tx).await?;
            }
            sqlx::raw_sql(CREATE_PROGRESS).execute(&mut *tx).await?;
            sqlx::query("INSERT INTO copy_source VALUES ($1)").bind(source).execute(&mut *tx).await?;
            tx.commit().await?;
            return Ok(Vec::new());
        }
        let other: String =
            sqlx::query_scalar("SELECT description FROM copy_source").fetch_one(&mut *conn).await?;
        if other != source {
            return Err(StoreError::Unusable(format!(
                "`{url}` has what an interrupted copy of `{other}` left; `--restart` removes it and begins again"
            ))
            .into());
        }
        stored_progress(conn).await
    }

    async fn write(
        &mut self,
        table: &'static LogicalTable,
        page: Vec<CopyRow>,
        progress: TableProgress,
    ) -> PgResult<()> {
        if let Some(row) = page.iter().find(|row| row.iter().any(contains_nul)) {
            return Err(StoreError::Rejected(format!(
                "table `{}`, row {:?}: a text contains a NUL character, which PostgreSQL cannot store; correct or remove the row",
                table.name,
                table.key_of(row).0
            ))
            .into());
        }
        let mut tx = self.0.conn.begin().await?;
        for (tables, day) in days_of(table, &page) {
            create_partitions(&mut tx, tables, day).await?;
        }
        if !page.is_empty() {
            rows::insert_rows(&mut tx, table, &page).await?;
        }
        let last_key = progress.last_key.as_ref().map(serde_json::to_string).transpose();
        let last_key = last_key.map_err(|error| PgError::Sql(sqlx::Error::Encode(error.into())))?;
        sqlx::query(
            "INSERT INTO copy_progress VALUES ($1, $2, $3, $4) ON CONFLICT (table_name) DO UPDATE
             SET last_key = excluded.last_key, row_count = excluded.row_count, is_complete = excluded.is_complete",
        )
        .bind(progress.table)
        .bind(last_key)
        .bind(i64::try_from(progress.row_count).unwrap_or(i64::MAX))
        .bind(progress.is_complete)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    async fn complete(&mut self, last_ids: Vec<(&'static str, i64)>) -> PgResult<()> {
        let mut tx = self.0.conn.begin().await?;
        for (table, last_id) in last_ids.into_iter().filter(|(_, last_id)| *last_id > 0) {
            sqlx::query("SELECT setval(pg_get_serial_sequence($1, 'id'), $2)")
                .bind(table)
                .bind(last_id)
                .execute(&mut *tx)
                .await?;
        }
        sqlx::raw_sql(FINISH).execute(&mut *tx).await?;
        tx.commit().await?;
        sqlx::raw_sql("ANALYZE").execute(&mut self.0.conn).await?;
        Ok(())
    }
}

/// Whether there is more than what migrations write.
async fn has_data(conn: &mut PgConnection) -> PgResult<bool> {
    for table in TABLES {
        let row_count = rows::row_count(conn, table).await?;
        let initial_rows = match table.name {
            "records" => 1,
            "rollup_bounds" => 2,
            _ => 0,
        };
        if row_count > initial_rows {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains_nul(value: &CopyValue) -> bool {
    matches!(value, CopyValue::Text(text) if text.contains('\0'))
}

/// Returns the partitions that `page` needs: tables and days.
fn days_of(
    table: &LogicalTable,
    page: &[CopyRow],
) -> BTreeSet<(&'static [crate::store::postgres::partitions::DailyTable], i64)> {
    let Some(tables) = tables_of_partitioned(table.name) else { return BTreeSet::new() };
    let time_index = usize::from(table.name != "results");
    page.iter()
        .filter(|row| table.name != "rollups" || row[0] == CopyValue::Integer(0))
        .filter_map(|row| match row[time_index] {
            CopyValue::Integer(time_us) => Some((tables, day_start(time_us))),
            _ => None,
        })
        .collect()
}

async fn stored_progress(conn: &mut PgConnection) -> PgResult<Vec<TableProgress>> {
    let stored: Vec<(String, Option<String>, i64, bool)> =
        sqlx::query_as("SELECT table_name, last_key, row_count, is_complete FROM copy_progress")
            .fetch_all(conn)
            .await?;
    let mut progress = Vec::new();
    for (name, last_key, row_count, is_complete) in stored {
        let Some(table) = TABLES.iter().find(|table| table.name == name) else { continue };
        let last_key = last_key.map(|json| serde_json::from_str::<CopyKey>(&json)).transpose();
        let last_key = last_key.map_err(|error| PgError::Sql(sqlx::Error::Decode(error.into())))?;
        progress.push(TableProgress {
            table: table.name,
            last_key,
            row_count: row_count.unsigned_abs(),
            is_complete,
        });
    }
    Ok(progress)
}

impl CopySource for PostgresCopyTarget {
    fn describe(&self) -> &str {
        self.0.describe()
    }

    fn row_count(&mut self, table: &'static LogicalTable) -> CopyFuture<'_, u64> {
        self.0.row_count(table)
    }

    fn read_page(
        &mut self,
        table: &'static LogicalTable,
        after: Option<CopyKey>,
        limit: PageLimit,
    ) -> CopyFuture<'_, Vec<CopyRow>> {
        self.0.read_page(table, after, limit)
    }

    fn last_ids(&mut self) -> CopyFuture<'_, Vec<(&'static str, i64)>> {
        self.0.last_ids()
    }
}

impl CopyTarget for PostgresCopyTarget {
    fn begin(&mut self, source: String, restarts: bool) -> CopyFuture<'_, Vec<TableProgress>> {
        Box::pin(async move {
            let progress = self.begin_copy(&source, restarts).await;
            PostgresCopySource::step(&self.0.error_mapper, progress)
        })
    }

    fn write_page(
        &mut self,
        table: &'static LogicalTable,
        rows: Vec<CopyRow>,
        progress: TableProgress,
    ) -> CopyFuture<'_, ()> {
        Box::pin(async move {
            let written = self.write(table, rows, progress).await;
            PostgresCopySource::step(&self.0.error_mapper, written)
        })
    }

    fn finish(&mut self, last_ids: Vec<(&'static str, i64)>) -> CopyFuture<'_, ()> {
        Box::pin(async move {
            let completed = self.complete(last_ids).await;
            PostgresCopySource::step(&self.0.error_mapper, completed)
        })
    }
}
