//! What the commands of `vigie store` do with a PostgreSQL database.

use sqlx::{Connection, PgConnection};

use crate::domain::Timestamp;
use crate::store::contract::StoreError;
use crate::store::maintenance::{MigrationSummary, StoreContents, StoreReport};

use super::connect;
use super::error::{ErrorMapper, PgError, PgResult};
use super::migrations;
use super::settings::PostgresSettings;

/// Says what the database contains and whether it is sound; changes nothing, and works beside a server. Takes minutes
/// with a large database.
///
/// # Errors
/// Like [`PostgresStore::connect`](super::PostgresStore::connect); [`StoreError::Unusable`] for a database without
/// tables of Vigie.
pub(in crate::store) async fn inspect(settings: &PostgresSettings) -> Result<StoreReport, StoreError> {
    let error_mapper = ErrorMapper { url: settings.location.to_string() };
    let mut conn = connect::connect_in_time(settings, &error_mapper).await?;
    let report = inspect_with(&mut conn, &error_mapper).await;
    let _ = conn.close().await;
    report.map_err(|error| error_mapper.to_store_error(&error))
}

/// Brings the tables of the database to the newest version; waits for other processes that do the same.
///
/// # Errors
/// Like [`PostgresStore::connect`](super::PostgresStore::connect).
pub(in crate::store) async fn migrate(settings: &PostgresSettings) -> Result<MigrationSummary, StoreError> {
    let error_mapper = ErrorMapper { url: settings.location.to_string() };
    let mut conn = connect::connect_in_time(settings, &error_mapper).await?;
    let outcome = async {
        connect::check_server(&mut conn, settings, &error_mapper).await?;
        let from_version = migrations::stored_version(&mut conn, &error_mapper).await?.unwrap_or(0);
        migrations::migrate(&mut conn, &error_mapper).await?;
        Ok(MigrationSummary { from_version, to_version: migrations::newest_version() })
    }
    .await;
    let _ = conn.close().await;
    outcome.map_err(|error: PgError| error_mapper.to_store_error(&error))
}

async fn inspect_with(conn: &mut PgConnection, error_mapper: &ErrorMapper) -> PgResult<StoreReport> {
    // One snapshot, so that counts agree while a server writes.
    let mut tx = conn.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let Some(schema_version) = migrations::stored_version(&mut tx, error_mapper).await? else {
        let reason = "it has no tables; run `vigie store migrate`, or start the server";
        return Err(error_mapper.unusable_error(reason).into());
    };
    let newest_version = migrations::newest_version();
    let size_bytes: i64 =
        sqlx::query_scalar("SELECT pg_database_size(current_database())").fetch_one(&mut *tx).await?;
    let mut report = StoreReport {
        schema_version,
        newest_version,
        size_bytes: size_bytes.unsigned_abs(),
        contents: None,
        problems: Vec::new(),
    };
    if schema_version == newest_version {
        let contents = read_contents(&mut tx).await?;
        report.contents = Some(contents);
        report.problems = problems(&mut tx, contents.result_count).await?;
    }
    tx.commit().await?;
    Ok(report)
}

async fn read_contents(conn: &mut PgConnection) -> PgResult<StoreContents> {
    let (monitors, results, first, last): (i64, i64, Option<i64>, Option<i64>) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM monitors WHERE removed_at IS NULL AND document IS NOT NULL),
             (SELECT count(*) FROM results), (SELECT min(planned_at) FROM results),
             (SELECT max(planned_at) FROM results)",
    )
    .fetch_one(conn)
    .await?;
    let range = first.zip(last);
    Ok(StoreContents {
        monitor_count: monitors.unsigned_abs(),
        result_count: results.unsigned_abs(),
        planned_range: range
            .map(|(first, last)| (Timestamp::from_micros(first), Timestamp::from_micros(last))),
    })
}

/// Returns invalid indexes, and whether the counts by minute differ from the results.
async fn problems(conn: &mut PgConnection, result_count: u64) -> PgResult<Vec<String>> {
    let invalid_indexes: Vec<String> = sqlx::query_scalar(
        "SELECT i.indexrelid::regclass::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
         WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace ORDER BY 1",
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut problems: Vec<String> = invalid_indexes
        .into_iter()
        .map(|index| format!("the index `{index}` is invalid; run `REINDEX INDEX {index}` with psql"))
        .collect();
    let counted: i64 = sqlx::query_scalar("SELECT coalesce(sum(row_count), 0)::bigint FROM result_counts")
        .fetch_one(conn)
        .await?;
    if u64::try_from(counted) != Ok(result_count) {
        problems.push(format!(
            "the table `result_counts` counts {counted} results, but there are {result_count}: totals of pages are wrong"
        ));
    }
    Ok(problems)
}
