//! Removes what has outlived its time, a little per transaction, and gives the room back to the disk.

use std::time::Duration;

use rusqlite::{Connection, params};

use crate::domain::Timestamp;
use crate::store::contract::{Alarms, Retention, Span, StoreError};

use super::audit;
use super::counts::Changes;
use super::rollup::late::{reach, start};
use super::rollup::span::{code, width};
use super::row::signed;
use super::store::SqliteStore;
use super::writer::Writing;

/// Rows that one transaction removes.
const CHUNK: i64 = 1000;
/// The same, of rows that may be large.
const FILES: i64 = 64;
/// Free pages that one transaction gives back.
const PAGES: i64 = 1000;
/// Shared texts live on for as long as `last_used` may lie behind, twice.
const GRACE: Duration = Duration::from_hours(48);

/// Removes what is older than `retention` says; answers how many rows went.
pub(super) async fn retain(
    store: &SqliteStore,
    retention: Retention,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let before = |kept: Duration| (now - kept).as_micros();
    let results = before(retention.results);
    let hourly = before(retention.hourly);
    // Neither results that are not rolled up yet, nor hours that are not merged into their day.
    let results = store.writer.call(move |w| closed_before(w.conn, Span::Hour, results)).await?;
    let hourly = store.writer.call(move |w| closed_before(w.conn, Span::Day, hourly)).await?;
    let longest = retention.results.max(retention.details_ok).max(retention.details_failed);
    let texts = (now - (longest + GRACE)).as_micros();

    let mut gone = 0;
    gone += remove_results(store, results).await?;
    gone += remove(store, DETAILS_OK, before(retention.details_ok).max(results)).await?;
    gone += remove(store, DETAILS_FAILED, before(retention.details_failed).max(results)).await?;
    gone += remove(store, CAPTURES_OK, before(retention.details_ok).max(results)).await?;
    gone += remove(store, CAPTURES_FAILED, before(retention.details_failed).max(results)).await?;
    gone += remove(store, HOURLY, hourly).await?;
    gone += remove(store, DAILY, before(retention.daily)).await?;
    gone += remove(store, TEXTS, texts).await?;
    gone += remove_audit(store, before(retention.audit)).await?;
    // Outages and messages tell of single results: they stay as long.
    gone += store.retain_alarms(now - retention.results).await?;
    give_back(store).await?;
    Ok(gone)
}

/// Lowers `cut` to what is rolled up, and notes that older hours or days can't be rolled up again.
fn closed_before(conn: &Connection, span: Span, cut: i64) -> rusqlite::Result<i64> {
    let (rolled_until, _) = reach(conn, span)?;
    let pending: Option<i64> = conn
        .prepare_cached("SELECT min(start) FROM late WHERE span = ?1")?
        .query_row([code(span)], |row| row.get(0))?;
    let cut = cut.min(rolled_until).min(pending.unwrap_or(i64::MAX));
    let complete_from = match start(span, cut) {
        whole if whole == cut => cut,
        partly => partly.saturating_add(width(span)),
    };
    conn.execute(
        "UPDATE spans SET sources_from = max(sources_from, ?2) WHERE span = ?1",
        params![code(span), complete_from],
    )?;
    Ok(cut)
}

/// A statement that removes up to `?2` rows older than `?1`, the oldest first.
type Removal = &'static str;

const RESULTS: Removal = "DELETE FROM results WHERE (planned_at, monitor_id, location_id) IN (
    SELECT planned_at, monitor_id, location_id FROM results WHERE planned_at < ?1
    ORDER BY planned_at LIMIT ?2) RETURNING planned_at, location_id, outcome, monitor_id";
const DETAILS_OK: Removal = "DELETE FROM details WHERE (failed, planned_at, monitor_id, location_id) IN (
    SELECT failed, planned_at, monitor_id, location_id FROM details WHERE failed = 0 AND planned_at < ?1
    ORDER BY planned_at LIMIT ?2)";
const DETAILS_FAILED: Removal = "DELETE FROM details WHERE (failed, planned_at, monitor_id, location_id) IN (
    SELECT failed, planned_at, monitor_id, location_id FROM details WHERE failed = 1 AND planned_at < ?1
    ORDER BY planned_at LIMIT ?2)";
const CAPTURES_OK: Removal = "DELETE FROM captures WHERE id IN (
    SELECT id FROM captures WHERE failed = 0 AND planned_at < ?1 ORDER BY planned_at LIMIT ?2)";
const CAPTURES_FAILED: Removal = "DELETE FROM captures WHERE id IN (
    SELECT id FROM captures WHERE failed = 1 AND planned_at < ?1 ORDER BY planned_at LIMIT ?2)";
const HOURLY: Removal = "DELETE FROM rollups WHERE (span, start, monitor_id, location_id) IN (
    SELECT span, start, monitor_id, location_id FROM rollups WHERE span = 0 AND start < ?1
    ORDER BY start LIMIT ?2)";
const DAILY: Removal = "DELETE FROM rollups WHERE (span, start, monitor_id, location_id) IN (
    SELECT span, start, monitor_id, location_id FROM rollups WHERE span = 1 AND start < ?1
    ORDER BY start LIMIT ?2)";
const TEXTS: Removal = "DELETE FROM shared WHERE id IN (SELECT id FROM shared WHERE last_used < ?1 LIMIT ?2)";

/// Removes results and takes them off the counts.
async fn remove_results(store: &SqliteStore, before: i64) -> Result<u64, StoreError> {
    let mut gone = 0;
    loop {
        let rows = store
            .writer
            .call(move |writing| {
                let mut changes = Changes::default();
                let mut statement = writing.conn.prepare_cached(RESULTS)?;
                let mut removed = statement.query([before, CHUNK])?;
                let mut rows = 0;
                while let Some(row) = removed.next()? {
                    let owner = writing.shared.owner(writing.conn, row.get(3)?)?;
                    changes.add(row.get(0)?, owner, row.get(1)?, row.get(2)?, -1);
                    rows += 1;
                }
                changes.write(writing.conn)?;
                Ok(rows)
            })
            .await?;
        gone += rows;
        if signed(rows) < CHUNK {
            return Ok(gone);
        }
    }
}

/// The trail is in the order of its numbers, so that it is read no further than to the first thousand entries of
/// which none is old. Where a clock was wrong, an entry may stay longer for that, and never goes too early.
async fn remove_audit(store: &SqliteStore, before: i64) -> Result<u64, StoreError> {
    let (mut after, mut gone) = (i64::MIN, 0);
    loop {
        let step = move |writing: &mut Writing<'_>| audit::remove_old(writing.conn, after, before);
        let (last, rows) = store.writer.call(step).await?;
        gone += rows;
        if rows == 0 {
            return Ok(gone);
        }
        after = last;
    }
}

/// Between two transactions others get their turn.
async fn remove(store: &SqliteStore, removal: Removal, before: i64) -> Result<u64, StoreError> {
    let chunk = if [CAPTURES_OK, CAPTURES_FAILED].contains(&removal) { FILES } else { CHUNK };
    let mut gone = 0;
    loop {
        let rows = store
            .writer
            .call(move |writing| {
                let rows = writing.conn.prepare_cached(removal)?.execute([before, chunk])?;
                if rows > 0 && removal == TEXTS {
                    writing.shared.forget();
                }
                Ok(rows)
            })
            .await?;
        gone += rows as u64;
        if signed(rows as u64) < chunk {
            return Ok(gone);
        }
    }
}

/// Cuts free pages off the end of the file. A tenth of the file stays, for what comes next.
async fn give_back(store: &SqliteStore) -> Result<(), StoreError> {
    loop {
        let left = store
            .writer
            .call(|writing| {
                let number =
                    |pragma| writing.conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
                let spare = number("freelist_count")? - number("page_count")? / 10;
                if spare > 0 {
                    let pages = spare.min(PAGES);
                    let mut statement =
                        writing.conn.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
                    let mut rows = statement.query([])?;
                    while rows.next()?.is_some() {}
                }
                Ok(spare - PAGES)
            })
            .await?;
        if left <= 0 {
            return Ok(());
        }
    }
}
