//! Removes expired data, a little per transaction, and returns free space to the disk.

use std::time::Duration;

use rusqlite::{Connection, params};

use crate::domain::Timestamp;
use crate::store::contract::{AlertStore, Retention, RollupSpan, StoreError};

use super::audit;
use super::result_counts;
use super::rollup::pending_rollups::rollup_bounds;
use super::store::SqliteStore;
use super::writer::WriteContext;
use crate::store::rows::count_changes::CountChanges;
use crate::store::rows::result_row::saturating_i64;
use crate::store::rows::rollup::span::{span_code, span_start, width_us};

/// Rows that one transaction removes.
const DELETE_CHUNK_ROWS: i64 = 1000;
/// Captures that one transaction removes: these rows may be large.
const DELETE_CHUNK_CAPTURES: i64 = 64;
/// Free pages that one transaction returns to the disk.
const VACUUM_CHUNK_PAGES: i64 = 1000;
/// How long unused shared texts are kept: twice the slack of `last_used`.
const TEXT_GRACE_PERIOD: Duration = Duration::from_hours(48);

/// Removes data older than `retention`; returns how many rows were removed.
pub(super) async fn apply_retention(
    store: &SqliteStore,
    retention: Retention,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let cutoff_us = |period: Duration| (now - period).as_micros();
    let results_cutoff_us = cutoff_us(retention.results);
    let hourly_cutoff_us = cutoff_us(retention.hourly_rollups);
    // Keeps results that are not rolled up yet, and hours that are not merged into their day.
    let results_cutoff_us = store
        .writer
        .call(move |context| limit_and_record_cutoff(context.conn, RollupSpan::Hour, results_cutoff_us))
        .await?;
    let hourly_cutoff_us = store
        .writer
        .call(move |context| limit_and_record_cutoff(context.conn, RollupSpan::Day, hourly_cutoff_us))
        .await?;
    let longest_period = retention.results.max(retention.details_ok).max(retention.details_failed);
    let texts_cutoff_us = (now - (longest_period + TEXT_GRACE_PERIOD)).as_micros();

    let mut removed = 0;
    removed += remove_results(store, results_cutoff_us).await?;
    removed +=
        delete_in_chunks(store, DELETE_DETAILS_OK, cutoff_us(retention.details_ok).max(results_cutoff_us))
            .await?;
    removed += delete_in_chunks(
        store,
        DELETE_DETAILS_FAILED,
        cutoff_us(retention.details_failed).max(results_cutoff_us),
    )
    .await?;
    removed +=
        delete_in_chunks(store, DELETE_CAPTURES_OK, cutoff_us(retention.details_ok).max(results_cutoff_us))
            .await?;
    removed += delete_in_chunks(
        store,
        DELETE_CAPTURES_FAILED,
        cutoff_us(retention.details_failed).max(results_cutoff_us),
    )
    .await?;
    removed += delete_in_chunks(store, DELETE_HOURLY_ROLLUPS, hourly_cutoff_us).await?;
    if let Some(period) = retention.daily_rollups {
        removed += delete_in_chunks(store, DELETE_DAILY_ROLLUPS, cutoff_us(period)).await?;
        removed += delete_in_chunks(store, DELETE_USAGE, cutoff_us(period)).await?;
    }
    removed += delete_in_chunks(store, DELETE_SHARED_TEXTS, texts_cutoff_us).await?;
    removed += remove_audit_entries(store, cutoff_us(retention.audit_entries)).await?;
    // Episodes and notifications refer to single results and are kept as long.
    removed += store.remove_finished_before(now - retention.results).await?;
    removed += store.remove_old_host_history(now).await?;
    shrink_file(store).await?;
    Ok(removed)
}

/// Returns `cutoff_us` limited to the rolled-up time; stores that hours or days before it cannot be rolled up again.
fn limit_and_record_cutoff(conn: &Connection, span: RollupSpan, cutoff_us: i64) -> rusqlite::Result<i64> {
    let (rolled_until, _) = rollup_bounds(conn, span)?;
    let oldest_pending: Option<i64> = conn
        .prepare_cached("SELECT min(start) FROM late WHERE span = ?1")?
        .query_row([span_code(span)], |row| row.get(0))?;
    let cutoff_us = cutoff_us.min(rolled_until).min(oldest_pending.unwrap_or(i64::MAX));
    let complete_from = match span_start(span, cutoff_us) {
        start if start == cutoff_us => cutoff_us,
        start => start.saturating_add(width_us(span)),
    };
    conn.execute(
        "UPDATE spans SET sources_from = max(sources_from, ?2) WHERE span = ?1",
        params![span_code(span), complete_from],
    )?;
    Ok(cutoff_us)
}

/// A statement that removes up to `?2` rows older than `?1`, oldest first.
type DeleteSql = &'static str;

const DELETE_RESULTS: DeleteSql = "DELETE FROM results WHERE (planned_at, monitor_id, location_id) IN (
    SELECT planned_at, monitor_id, location_id FROM results WHERE planned_at < ?1
    ORDER BY planned_at LIMIT ?2) RETURNING planned_at, location_id, outcome, monitor_id";
const DELETE_DETAILS_OK: DeleteSql =
    "DELETE FROM details WHERE (failed, planned_at, monitor_id, location_id) IN (
    SELECT failed, planned_at, monitor_id, location_id FROM details WHERE failed = 0 AND planned_at < ?1
    ORDER BY planned_at LIMIT ?2)";
const DELETE_DETAILS_FAILED: DeleteSql =
    "DELETE FROM details WHERE (failed, planned_at, monitor_id, location_id) IN (
    SELECT failed, planned_at, monitor_id, location_id FROM details WHERE failed = 1 AND planned_at < ?1
    ORDER BY planned_at LIMIT ?2)";
const DELETE_CAPTURES_OK: DeleteSql = "DELETE FROM captures WHERE id IN (
    SELECT id FROM captures WHERE failed = 0 AND planned_at < ?1 ORDER BY planned_at LIMIT ?2)";
const DELETE_CAPTURES_FAILED: DeleteSql = "DELETE FROM captures WHERE id IN (
    SELECT id FROM captures WHERE failed = 1 AND planned_at < ?1 ORDER BY planned_at LIMIT ?2)";
const DELETE_HOURLY_ROLLUPS: DeleteSql =
    "DELETE FROM rollups WHERE (span, start, monitor_id, location_id) IN (
    SELECT span, start, monitor_id, location_id FROM rollups WHERE span = 0 AND start < ?1
    ORDER BY start LIMIT ?2)";
const DELETE_DAILY_ROLLUPS: DeleteSql =
    "DELETE FROM rollups WHERE (span, start, monitor_id, location_id) IN (
    SELECT span, start, monitor_id, location_id FROM rollups WHERE span = 1 AND start < ?1
    ORDER BY start LIMIT ?2)";
const DELETE_USAGE: DeleteSql = "DELETE FROM usage WHERE (customer, day, plan, type, location_id) IN (
    SELECT customer, day, plan, type, location_id FROM usage WHERE day < ?1 LIMIT ?2)";
const DELETE_SHARED_TEXTS: DeleteSql =
    "DELETE FROM shared WHERE id IN (SELECT id FROM shared WHERE last_used < ?1 LIMIT ?2)";

/// Removes results and subtracts them from the counts.
async fn remove_results(store: &SqliteStore, cutoff_us: i64) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let chunk_removed = store
            .writer
            .call(move |context| {
                let mut count_changes = CountChanges::default();
                let mut statement = context.conn.prepare_cached(DELETE_RESULTS)?;
                let mut deleted_rows = statement.query([cutoff_us, DELETE_CHUNK_ROWS])?;
                let mut chunk_removed = 0;
                while let Some(row) = deleted_rows.next()? {
                    let customer = context.cache.cached_customer(context.conn, row.get(3)?)?;
                    count_changes.add(row.get(0)?, customer, row.get(1)?, row.get(2)?, -1);
                    chunk_removed += 1;
                }
                result_counts::write_changes(context.conn, count_changes)?;
                Ok(chunk_removed)
            })
            .await?;
        removed += chunk_removed;
        if saturating_i64(chunk_removed) < DELETE_CHUNK_ROWS {
            return Ok(removed);
        }
    }
}

/// Removes old audit entries. Entries are in the order of their ids, so reading stops at the first thousand without an
/// old one. After a wrong clock, an entry may stay longer, but is never removed too early.
async fn remove_audit_entries(store: &SqliteStore, cutoff_us: i64) -> Result<u64, StoreError> {
    let (mut after_id, mut removed) = (i64::MIN, 0);
    loop {
        let remove_chunk =
            move |context: &mut WriteContext<'_>| audit::remove_old(context.conn, after_id, cutoff_us);
        let (last_id, chunk_removed) = store.writer.call(remove_chunk).await?;
        removed += chunk_removed;
        if chunk_removed == 0 {
            return Ok(removed);
        }
        after_id = last_id;
    }
}

/// Deletes rows in several transactions, so that other writers are not blocked.
async fn delete_in_chunks(
    store: &SqliteStore,
    delete_sql: DeleteSql,
    cutoff_us: i64,
) -> Result<u64, StoreError> {
    let chunk_rows = if [DELETE_CAPTURES_OK, DELETE_CAPTURES_FAILED].contains(&delete_sql) {
        DELETE_CHUNK_CAPTURES
    } else {
        DELETE_CHUNK_ROWS
    };
    let mut removed = 0;
    loop {
        let deleted = store
            .writer
            .call(move |context| {
                let deleted = context.conn.prepare_cached(delete_sql)?.execute([cutoff_us, chunk_rows])?;
                if deleted > 0 && delete_sql == DELETE_SHARED_TEXTS {
                    context.cache.clear();
                }
                Ok(deleted)
            })
            .await?;
        removed += deleted as u64;
        if saturating_i64(deleted as u64) < chunk_rows {
            return Ok(removed);
        }
    }
}

/// Returns free pages at the end of the file to the disk, except a tenth of the file for new data.
async fn shrink_file(store: &SqliteStore) -> Result<(), StoreError> {
    loop {
        let remaining_pages = store
            .writer
            .call(|context| {
                let pragma_value =
                    |pragma| context.conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
                let excess_pages = pragma_value("freelist_count")? - pragma_value("page_count")? / 10;
                if excess_pages > 0 {
                    let pages = excess_pages.min(VACUUM_CHUNK_PAGES);
                    let mut statement =
                        context.conn.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
                    let mut rows = statement.query([])?;
                    while rows.next()?.is_some() {}
                }
                Ok(excess_pages - VACUUM_CHUNK_PAGES)
            })
            .await?;
        if remaining_pages <= 0 {
            return Ok(());
        }
    }
}
