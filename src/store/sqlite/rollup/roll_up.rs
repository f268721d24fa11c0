//! Rolls results up by hour and day.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use crate::domain::Timestamp;
use crate::store::contract::{RollupSpan, StoreError};

use super::pending_rollups::{mark_pending, rollup_bounds};
use super::result_stats::{ResultRange, result_stats};
use super::stored;
use crate::store::rows::rollup::rolled_up_hours::{ALL_MONITORS, LOCATION_OF_ALL_MONITORS};
use crate::store::rows::rollup::span::{span_code, span_start, width_us};
use crate::store::rows::rollup::stats::RollupStats;
use crate::store::sqlite::decode::skip_undecodable;
use crate::store::sqlite::store::SqliteStore;
use crate::store::sqlite::writer::WriteContext;

/// Most rollups that one transaction writes.
const CHUNK_ROLLUPS: usize = 500;
/// Most pending rollups that one transaction writes.
const CHUNK_PENDING_ROLLUPS: usize = 100;

/// Writes all rollups due at `now`; returns how many.
pub(in crate::store::sqlite) async fn roll_up(
    store: &SqliteStore,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut written = 0;
    for span in [RollupSpan::Hour, RollupSpan::Day] {
        let until = span_start(span, now.as_micros());
        store.writer.call(move |context| advance_rolled_until(context.conn, span, until)).await?;
        for start in due_span_starts(store, span).await? {
            written += roll_up_span(store, span, start).await?;
        }
        loop {
            let chunk_written = store.writer.call(move |context| roll_up_pending(context, span)).await?;
            written += chunk_written;
            if chunk_written == 0 {
                break;
            }
        }
    }
    Ok(written)
}

/// Advances `rolled_until` to `until` and marks the hours or days in between that have data as pending.
fn advance_rolled_until(conn: &Connection, span: RollupSpan, until: i64) -> rusqlite::Result<()> {
    let (rolled_until, _) = rollup_bounds(conn, span)?;
    let mut search_from = rolled_until;
    while let Some(next) = next_span_with_data(conn, span, search_from)?.filter(|&next| next < until) {
        mark_pending(conn, span, next, ALL_MONITORS, LOCATION_OF_ALL_MONITORS)?;
        search_from = next + width_us(span);
    }
    conn.execute(
        "UPDATE spans SET rolled_until = max(rolled_until, ?2) WHERE span = ?1",
        params![span_code(span), until],
    )?;
    Ok(())
}

/// Returns the first hour or day from `from` on that has data to roll up.
fn next_span_with_data(conn: &Connection, span: RollupSpan, from: i64) -> rusqlite::Result<Option<i64>> {
    let first_time: Option<i64> = match span {
        RollupSpan::Hour => conn
            .prepare_cached(
                "SELECT min(at) FROM (
                     SELECT min(planned_at) AS at FROM results WHERE planned_at >= ?1
                     UNION ALL
                     SELECT max(min(planned_at), ?1) FROM results INDEXED BY results_missed
                     WHERE last_planned_at >= ?1)",
            )?
            .query_row([from], |row| row.get(0))?,
        RollupSpan::Day => conn
            .prepare_cached("SELECT min(start) FROM rollups WHERE span = 0 AND start >= ?1")?
            .query_row([from], |row| row.get(0))?,
    };
    Ok(first_time.map(|first_time| span_start(span, first_time)))
}

/// Returns the starts of the hours or days that are marked as due for all monitors.
async fn due_span_starts(store: &SqliteStore, span: RollupSpan) -> Result<Vec<i64>, StoreError> {
    store
        .readers
        .call(move |conn| {
            conn.prepare_cached("SELECT start FROM late WHERE span = ?1 AND monitor_id = ?2 ORDER BY start")?
                .query_map([span_code(span), ALL_MONITORS], |row| row.get(0))?
                .collect()
        })
        .await
}

/// Writes one hour or day for all monitors, in chunks.
async fn roll_up_span(store: &SqliteStore, span: RollupSpan, start: i64) -> Result<u64, StoreError> {
    let monitor_locations =
        store.readers.call(move |conn| monitor_locations_in_span(conn, span, start)).await?;
    let mut written = 0;
    for chunk in monitor_locations.chunks(CHUNK_ROLLUPS) {
        let chunk = chunk.to_vec();
        let stats_by_pair = store
            .readers
            .call(move |conn| {
                let mut stats = Vec::with_capacity(chunk.len());
                for (monitor, location) in chunk {
                    stats.push((monitor, location, compute_stats(conn, span, start, monitor, location)?));
                }
                Ok(stats)
            })
            .await?;
        written += stats_by_pair.len() as u64;
        store
            .writer
            .call(move |context| write_rollups_and_mark_days(context.conn, span, start, &stats_by_pair))
            .await?;
    }
    store
        .writer
        .call(move |context| {
            context.conn.execute(
                "DELETE FROM late WHERE span = ?1 AND start = ?2 AND monitor_id = ?3",
                params![span_code(span), start, ALL_MONITORS],
            )
        })
        .await?;
    Ok(written)
}

/// Returns the monitors and locations with data in an hour or day.
fn monitor_locations_in_span(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    let to_pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let sql = match span {
        RollupSpan::Hour => {
            "SELECT monitor_id, location_id FROM results
             WHERE planned_at >= ?1 AND planned_at < ?2 AND first_check IS NULL
             UNION
             SELECT monitor_id, location_id FROM results WHERE last_planned_at >= ?1 AND planned_at < ?2"
        }
        RollupSpan::Day => {
            "SELECT DISTINCT monitor_id, location_id FROM rollups WHERE span = 0 AND start >= ?1 AND start < ?2"
        }
    };
    let monitor_locations: BTreeSet<(i64, i64)> = conn
        .prepare_cached(sql)?
        .query_map([start, start + width_us(span)], to_pair)?
        .collect::<Result<_, _>>()?;
    Ok(monitor_locations.into_iter().collect())
}

/// Computes and writes one chunk of pending rollups in one transaction; returns how many there were.
fn roll_up_pending(context: &mut WriteContext<'_>, span: RollupSpan) -> rusqlite::Result<u64> {
    let conn = context.conn;
    let pending: Vec<(i64, i64, i64)> = conn
        .prepare_cached(
            "SELECT start, monitor_id, location_id FROM late WHERE span = ?1 AND monitor_id <> ?2 LIMIT ?3",
        )?
        .query_map(params![span_code(span), ALL_MONITORS, CHUNK_PENDING_ROLLUPS], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<Result<_, _>>()?;
    for &(start, monitor, location) in &pending {
        let mut stats = compute_stats(conn, span, start, monitor, location)?;
        let stored = skip_undecodable(stored::select_stats(conn, span, start, (monitor, location)))?;
        if let Some(stored) = stored.flatten() {
            stats.sums.restore_browser_figures(&stored.sums);
        }
        write_rollups_and_mark_days(conn, span, start, &[(monitor, location, stats)])?;
        conn.prepare_cached(
            "DELETE FROM late WHERE span = ?1 AND start = ?2 AND monitor_id = ?3 AND location_id = ?4",
        )?
        .execute([span_code(span), start, monitor, location])?;
    }
    Ok(pending.len() as u64)
}

/// Writes the rollups with runs. Marks the day of a written hour as pending if that day is rolled up already.
fn write_rollups_and_mark_days(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    stats_by_pair: &[(i64, i64, RollupStats)],
) -> rusqlite::Result<()> {
    let (days_rolled_until, days_complete_from) = rollup_bounds(conn, RollupSpan::Day)?;
    let day = span_start(RollupSpan::Day, start);
    for (monitor, location, stats) in stats_by_pair.iter().filter(|(_, _, stats)| !stats.is_empty()) {
        stored::replace(conn, span, start, (*monitor, *location), stats)?;
        if span == RollupSpan::Hour && day < days_rolled_until && day >= days_complete_from {
            mark_pending(conn, RollupSpan::Day, day, *monitor, *location)?;
        }
    }
    Ok(())
}

/// Computes an hour from results, or a day from its stored hours.
fn compute_stats(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    monitor: i64,
    location: i64,
) -> rusqlite::Result<RollupStats> {
    match span {
        RollupSpan::Hour => {
            let (until, with_browser_figures) = (start + width_us(RollupSpan::Hour), true);
            result_stats(conn, ResultRange { monitor, location, from: start, until }, with_browser_figures)
        }
        RollupSpan::Day => stored::merge_hours(conn, start, (monitor, location)),
    }
}
