//! Removes expired data: results, details, captures and hourly rollups a day at a time by dropping the partition, the
//! rest in chunks.

use std::time::Duration;

use sqlx::PgConnection;

use crate::domain::Timestamp;
use crate::store::contract::{AlertStore, Housekeeping, Retention, RollupSpan, StoreError, StoreFuture};
use crate::store::rows::rollup::span::span_code;
use crate::store::rows::usage_changes::DAY_US;

use super::error::PgResult;
use super::partitions::{DailyTable, day_start};
use super::rollup::roll_up::roll_up;
use super::store::PostgresStore;

/// Rows that one transaction removes.
const DELETE_CHUNK_ROWS: i64 = 10_000;
/// How long unused shared texts are kept: twice the slack of `last_used`.
const TEXT_GRACE_PERIOD: Duration = Duration::from_hours(48);
/// For how many days ahead partitions are made.
const DAYS_AHEAD: i64 = 2;

impl Housekeeping for PostgresStore {
    fn roll_up(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let days = (0..=DAYS_AHEAD).map(move |days| now.as_micros().saturating_add(days * DAY_US));
            self.ensure_result_days(days).await?;
            roll_up(self, now).await
        })
    }

    fn apply_retention(&self, retention: Retention, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(apply_retention(self, retention, now))
    }

    fn roll_up_hosts(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.roll_up_hosts_due(now))
    }
}

/// Removes data older than `retention`; returns how many rows were removed. What lies in a partition stays until the
/// whole day is older.
async fn apply_retention(
    store: &PostgresStore,
    retention: Retention,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let cutoff_us = |period: Duration| (now - period).as_micros();
    let day_cutoff_us = |period: Duration| day_start(cutoff_us(period));
    let (results_cutoff, hourly_cutoff) =
        (day_cutoff_us(retention.results), day_cutoff_us(retention.hourly_rollups));
    // Keeps results that are not rolled up yet, and hours that are not merged into their day.
    let results_cutoff = store
        .write(move |conn| Box::pin(limit_and_record_cutoff(conn, RollupSpan::Hour, results_cutoff)))
        .await?;
    let hourly_cutoff = store
        .write(move |conn| Box::pin(limit_and_record_cutoff(conn, RollupSpan::Day, hourly_cutoff)))
        .await?;
    let longest_period = retention.results.max(retention.details_ok).max(retention.details_failed);
    let texts_cutoff = (now - (longest_period + TEXT_GRACE_PERIOD)).as_micros() - DAY_US;
    let ok_cutoff = day_cutoff_us(retention.details_ok).max(results_cutoff);
    let failed_cutoff = day_cutoff_us(retention.details_failed).max(results_cutoff);

    let mut removed = 0;
    for (day, row_count) in store.drop_days_before(DailyTable::Results, results_cutoff).await? {
        removed += row_count;
        store.write(move |conn| Box::pin(remove_counts(conn, day))).await?;
    }
    for (table, cutoff) in [
        (DailyTable::DetailsOk, ok_cutoff),
        (DailyTable::DetailsFailed, failed_cutoff),
        (DailyTable::CapturesOk, ok_cutoff),
        (DailyTable::CapturesFailed, failed_cutoff),
        (DailyTable::HourlyRollups, hourly_cutoff),
    ] {
        for (_, row_count) in store.drop_days_before(table, cutoff).await? {
            removed += row_count;
        }
    }
    if let Some(period) = retention.daily_rollups {
        removed += store.delete_in_chunks(DELETE_DAILY_ROLLUPS, cutoff_us(period)).await?;
        removed += store.delete_in_chunks(DELETE_USAGE, cutoff_us(period)).await?;
    }
    removed += store.delete_in_chunks(DELETE_SHARED_TEXTS, texts_cutoff).await?;
    removed += store.delete_in_chunks(DELETE_AUDIT_ENTRIES, cutoff_us(retention.audit_entries)).await?;
    // Episodes and notifications refer to single results and are kept as long.
    removed += store.remove_finished_before(now - retention.results).await?;
    removed += store.remove_old_host_history(now).await?;
    Ok(removed)
}

/// Returns `cutoff_us` limited to the days that are rolled up; stores that hours or days before it cannot be rolled up
/// again.
async fn limit_and_record_cutoff(conn: &mut PgConnection, span: RollupSpan, cutoff_us: i64) -> PgResult<i64> {
    let rolled_until: i64 =
        sqlx::query_scalar("SELECT rolled_until FROM rollup_bounds WHERE span = $1 FOR UPDATE")
            .bind(span_code(span))
            .fetch_one(&mut *conn)
            .await?;
    let oldest_pending: Option<i64> =
        sqlx::query_scalar("SELECT min(start) FROM pending_rollups WHERE span = $1")
            .bind(span_code(span))
            .fetch_one(&mut *conn)
            .await?;
    let cutoff_us = day_start(cutoff_us.min(rolled_until).min(oldest_pending.unwrap_or(i64::MAX)));
    sqlx::query(
        "UPDATE rollup_bounds SET sources_complete_from = greatest(sources_complete_from, $2) WHERE span = $1",
    )
    .bind(span_code(span))
    .bind(cutoff_us)
    .execute(conn)
    .await?;
    Ok(cutoff_us)
}

/// Removes the counts of the results of a day.
async fn remove_counts(conn: &mut PgConnection, day: i64) -> PgResult<()> {
    sqlx::query("DELETE FROM result_counts WHERE minute >= $1 AND minute < $2")
        .bind(day)
        .bind(day.saturating_add(DAY_US))
        .execute(conn)
        .await?;
    Ok(())
}

/// A statement that removes up to `$2` rows older than `$1`.
type DeleteSql = &'static str;

const DELETE_DAILY_ROLLUPS: DeleteSql =
    "DELETE FROM rollups WHERE span = 1 AND (start, monitor_id, location_id) IN (
    SELECT start, monitor_id, location_id FROM rollups WHERE span = 1 AND start < $1 LIMIT $2)";
const DELETE_USAGE: DeleteSql = "DELETE FROM usage WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM usage WHERE day < $1 LIMIT $2))";
const DELETE_SHARED_TEXTS: DeleteSql = "DELETE FROM shared_texts WHERE last_used < $1 AND hash IN (
    SELECT hash FROM shared_texts WHERE last_used < $1 LIMIT $2)";
const DELETE_AUDIT_ENTRIES: DeleteSql = "DELETE FROM audit_entries WHERE id IN (
    SELECT id FROM audit_entries WHERE occurred_at < $1 LIMIT $2)";
/// Episodes that ended before `$1`.
pub(super) const DELETE_ENDED_EPISODES: DeleteSql = "DELETE FROM episodes WHERE id IN (
    SELECT id FROM episodes WHERE ended_at < $1 LIMIT $2)";
/// Finished notifications written before `$1`.
pub(super) const DELETE_FINISHED_NOTIFICATIONS: DeleteSql = "DELETE FROM notifications WHERE id IN (
    SELECT id FROM notifications WHERE state >= 2 AND created_at < $1 LIMIT $2)";

impl PostgresStore {
    /// Deletes rows in several transactions, so that other writers are not blocked; returns how many.
    pub(super) async fn delete_in_chunks(
        &self,
        delete_sql: DeleteSql,
        cutoff_us: i64,
    ) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let deleted = self
                .write(move |conn| {
                    Box::pin(async move {
                        let delete = sqlx::query(delete_sql).bind(cutoff_us).bind(DELETE_CHUNK_ROWS);
                        Ok(delete.execute(conn).await?.rows_affected())
                    })
                })
                .await?;
            removed += deleted;
            if deleted < DELETE_CHUNK_ROWS.unsigned_abs() {
                return Ok(removed);
            }
        }
    }
}
