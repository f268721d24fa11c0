//! Removes what has outlived its time, a little per transaction, and gives the room back to the disk.

use std::time::Duration;

use rusqlite::{Connection, params};

use crate::domain::Timestamp;
use crate::store::contract::{AlertStore, Retention, RollupSpan, StoreError};

use super::audit;
use super::result_counts::CountChanges;
use super::result_row::to_signed;
use super::rollup::pending_rollups::{rolled_range, span_start};
use super::rollup::span::{span_code, width_us};
use super::store::SqliteStore;
use super::writer::WriteContext;

/// Rows that one transaction removes.
const CHUNK_ROWS: i64 = 1000;
/// The same, of rows that may be large.
const CHUNK_CAPTURES: i64 = 64;
/// Free pages that one transaction gives back.
const CHUNK_PAGES: i64 = 1000;
/// Shared texts live on for as long as `last_used` may lie behind, twice.
const TEXT_GRACE: Duration = Duration::from_hours(48);

/// Removes what is older than `retention` says; answers how many rows went.
pub(super) async fn apply_retention(
    store: &SqliteStore,
    retention: Retention,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let before = |kept: Duration| (now - kept).as_micros();
    let results = before(retention.results);
    let hourly = before(retention.hourly);
    // Neither results that are not rolled up yet, nor hours that are not merged into their day.
    let results = store.writer.call(move |w| retention_cutoff(w.conn, RollupSpan::Hour, results)).await?;
    let hourly = store.writer.call(move |w| retention_cutoff(w.conn, RollupSpan::Day, hourly)).await?;
    let longest = retention.results.max(retention.details_ok).max(retention.details_failed);
    let texts = (now - (longest + TEXT_GRACE)).as_micros();

    let mut gone = 0;
    gone += remove_results(store, results).await?;
    gone += delete_in_chunks(store, DELETE_DETAILS_OK, before(retention.details_ok).max(results)).await?;
    gone +=
        delete_in_chunks(store, DELETE_DETAILS_FAILED, before(retention.details_failed).max(results)).await?;
    gone += delete_in_chunks(store, DELETE_CAPTURES_OK, before(retention.details_ok).max(results)).await?;
    gone += delete_in_chunks(store, DELETE_CAPTURES_FAILED, before(retention.details_failed).max(results))
        .await?;
    gone += delete_in_chunks(store, DELETE_HOURLY_ROLLUPS, hourly).await?;
    gone += delete_in_chunks(store, DELETE_DAILY_ROLLUPS, before(retention.daily)).await?;
    gone += delete_in_chunks(store, DELETE_SHARED_TEXTS, texts).await?;
    gone += remove_audit(store, before(retention.audit)).await?;
    // Outages and messages tell of single results: they stay as long.
    gone += store.remove_ended_before(now - retention.results).await?;
    shrink_file(store).await?;
    Ok(gone)
}

/// Lowers `cut` to what is rolled up, and notes that older hours or days can't be rolled up again.
fn retention_cutoff(conn: &Connection, span: RollupSpan, cut: i64) -> rusqlite::Result<i64> {
    let (rolled_until, _) = rolled_range(conn, span)?;
    let pending: Option<i64> = conn
        .prepare_cached("SELECT min(start) FROM late WHERE span = ?1")?
        .query_row([span_code(span)], |row| row.get(0))?;
    let cut = cut.min(rolled_until).min(pending.unwrap_or(i64::MAX));
    let complete_from = match span_start(span, cut) {
        whole if whole == cut => cut,
        partly => partly.saturating_add(width_us(span)),
    };
    conn.execute(
        "UPDATE spans SET sources_from = max(sources_from, ?2) WHERE span = ?1",
        params![span_code(span), complete_from],
    )?;
    Ok(cut)
}

/// A statement that removes up to `?2` rows older than `?1`, the oldest first.
type DeleteStatement = &'static str;

const DELETE_RESULTS: DeleteStatement = "DELETE FROM results WHERE (planned_at, monitor_id, location_id) IN (
    SELECT planned_at, monitor_id, location_id FROM results WHERE planned_at < ?1
    ORDER BY planned_at LIMIT ?2) RETURNING planned_at, location_id, outcome, monitor_id";
const DELETE_DETAILS_OK: DeleteStatement =
    "DELETE FROM details WHERE (failed, planned_at, monitor_id, location_id) IN (
    SELECT failed, planned_at, monitor_id, location_id FROM details WHERE failed = 0 AND planned_at < ?1
    ORDER BY planned_at LIMIT ?2)";
const DELETE_DETAILS_FAILED: DeleteStatement =
    "DELETE FROM details WHERE (failed, planned_at, monitor_id, location_id) IN (
    SELECT failed, planned_at, monitor_id, location_id FROM details WHERE failed = 1 AND planned_at < ?1
    ORDER BY planned_at LIMIT ?2)";
const DELETE_CAPTURES_OK: DeleteStatement = "DELETE FROM captures WHERE id IN (
    SELECT id FROM captures WHERE failed = 0 AND planned_at < ?1 ORDER BY planned_at LIMIT ?2)";
const DELETE_CAPTURES_FAILED: DeleteStatement = "DELETE FROM captures WHERE id IN (
    SELECT id FROM captures WHERE failed = 1 AND planned_at < ?1 ORDER BY planned_at LIMIT ?2)";
const DELETE_HOURLY_ROLLUPS: DeleteStatement =
    "DELETE FROM rollups WHERE (span, start, monitor_id, location_id) IN (
    SELECT span, start, monitor_id, location_id FROM rollups WHERE span = 0 AND start < ?1
    ORDER BY start LIMIT ?2)";
const DELETE_DAILY_ROLLUPS: DeleteStatement =
    "DELETE FROM rollups WHERE (span, start, monitor_id, location_id) IN (
    SELECT span, start, monitor_id, location_id FROM rollups WHERE span = 1 AND start < ?1
    ORDER BY start LIMIT ?2)";
const DELETE_SHARED_TEXTS: DeleteStatement =
    "DELETE FROM shared WHERE id IN (SELECT id FROM shared WHERE last_used < ?1 LIMIT ?2)";

/// Removes results and takes them off the counts.
async fn remove_results(store: &SqliteStore, before: i64) -> Result<u64, StoreError> {
    let mut gone = 0;
    loop {
        let rows = store
            .writer
            .call(move |writing| {
                let mut changes = CountChanges::default();
                let mut statement = writing.conn.prepare_cached(DELETE_RESULTS)?;
                let mut removed = statement.query([before, CHUNK_ROWS])?;
                let mut rows = 0;
                while let Some(row) = removed.next()? {
                    let owner = writing.shared.cached_customer(writing.conn, row.get(3)?)?;
                    changes.add(row.get(0)?, owner, row.get(1)?, row.get(2)?, -1);
                    rows += 1;
                }
                changes.flush(writing.conn)?;
                Ok(rows)
            })
            .await?;
        gone += rows;
        if to_signed(rows) < CHUNK_ROWS {
            return Ok(gone);
        }
    }
}

/// The trail is in the order of its numbers, so that it is read no further than to the first thousand entries of
/// which none is old. Where a clock was wrong, an entry may stay longer for that, and never goes too early.
async fn remove_audit(store: &SqliteStore, before: i64) -> Result<u64, StoreError> {
    let (mut after, mut gone) = (i64::MIN, 0);
    loop {
        let step = move |writing: &mut WriteContext<'_>| audit::remove_old(writing.conn, after, before);
        let (last, rows) = store.writer.call(step).await?;
        gone += rows;
        if rows == 0 {
            return Ok(gone);
        }
        after = last;
    }
}

/// Between two transactions others get their turn.
async fn delete_in_chunks(
    store: &SqliteStore,
    removal: DeleteStatement,
    before: i64,
) -> Result<u64, StoreError> {
    let chunk = if [DELETE_CAPTURES_OK, DELETE_CAPTURES_FAILED].contains(&removal) {
        CHUNK_CAPTURES
    } else {
        CHUNK_ROWS
    };
    let mut gone = 0;
    loop {
        let rows = store
            .writer
            .call(move |writing| {
                let rows = writing.conn.prepare_cached(removal)?.execute([before, chunk])?;
                if rows > 0 && removal == DELETE_SHARED_TEXTS {
                    writing.shared.clear();
                }
                Ok(rows)
            })
            .await?;
        gone += rows as u64;
        if to_signed(rows as u64) < chunk {
            return Ok(gone);
        }
    }
}

/// Cuts free pages off the end of the file. A tenth of the file stays, for what comes next.
async fn shrink_file(store: &SqliteStore) -> Result<(), StoreError> {
    loop {
        let left = store
            .writer
            .call(|writing| {
                let number =
                    |pragma| writing.conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
                let spare = number("freelist_count")? - number("page_count")? / 10;
                if spare > 0 {
                    let pages = spare.min(CHUNK_PAGES);
                    let mut statement =
                        writing.conn.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
                    let mut rows = statement.query([])?;
                    while rows.next()?.is_some() {}
                }
                Ok(spare - CHUNK_PAGES)
            })
            .await?;
        if left <= 0 {
            return Ok(());
        }
    }
}
