//! Reads and writes stored rollups.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::domain::{LocationId, MonitorId, Rollup, Timestamp};
use crate::store::contract::RollupSpan;
use crate::store::rows::decode::RowLocator;
use crate::store::rows::result_row::saturating_i64;

use crate::store::rows::rollup::span::{span_code, width_us};
use crate::store::rows::rollup::stats::RollupStats;

/// Returns the rollups of one monitor, oldest first.
pub(in crate::store::sqlite) fn select_rollups(
    conn: &Connection,
    monitor: MonitorId,
    span: RollupSpan,
    from: Timestamp,
    until: Timestamp,
) -> rusqlite::Result<Vec<Rollup>> {
    conn.prepare_cached(
        "SELECT location_id, start, ok, warning, error, unknown, missed, blackout, sum_us, sketch, parts FROM rollups
         WHERE span = ?1 AND monitor_id = ?2 AND start >= ?3 AND start < ?4 ORDER BY start, location_id",
    )?
    .query_map(params![span_code(span), monitor.0, from.as_micros(), until.as_micros()], |row| {
        let (location, start): (i64, i64) = (row.get(0)?, row.get(1)?);
        let stats = stats_from_row(row, span, start, (monitor.0, location), 2)?;
        Ok(stats.to_rollup(monitor, LocationId(location), Timestamp::from_micros(start)))
    })?
    .collect()
}

/// Returns the stored statistics of one hour or day; `None` when there are none.
pub(super) fn select_stats(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    (monitor, location): (i64, i64),
) -> rusqlite::Result<Option<RollupStats>> {
    conn.prepare_cached(
        "SELECT ok, warning, error, unknown, missed, blackout, sum_us, sketch, parts FROM rollups
         WHERE span = ?1 AND start = ?2 AND monitor_id = ?3 AND location_id = ?4",
    )?
    .query_row([span_code(span), start, monitor, location], |row| {
        stats_from_row(row, span, start, (monitor, location), 0)
    })
    .optional()
}

/// Merges the stored hours of the day that starts at `start`.
pub(super) fn merge_hours(
    conn: &Connection,
    start: i64,
    (monitor, location): (i64, i64),
) -> rusqlite::Result<RollupStats> {
    let mut stats = RollupStats::default();
    let mut statement = conn.prepare_cached(
        "SELECT ok, warning, error, unknown, missed, blackout, sum_us, sketch, parts, start
         FROM rollups INDEXED BY rollups_by_monitor
         WHERE span = 0 AND monitor_id = ?1 AND start >= ?2 AND start < ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([monitor, start, start + width_us(RollupSpan::Day), location])?;
    while let Some(row) = rows.next()? {
        let hour = row.get(9)?;
        stats.merge(&stats_from_row(row, RollupSpan::Hour, hour, (monitor, location), 0)?);
    }
    Ok(stats)
}

/// Writes the statistics of one hour or day.
pub(super) fn replace(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    (monitor, location): (i64, i64),
    stats: &RollupStats,
) -> rusqlite::Result<()> {
    let [ok, warning, error, unknown, missed, blackout] = stats.runs_by_outcome;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO rollups (span, start, monitor_id, location_id, ok, warning, error, unknown, missed,
             blackout, sum_us, sketch, parts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        span_code(span),
        start,
        monitor,
        location,
        ok,
        warning,
        error,
        unknown,
        missed,
        blackout,
        saturating_i64(stats.duration_sum_us),
        stats.to_sketch_bytes(),
        stats.to_sums_bytes()
    ])?;
    Ok(())
}

fn stats_from_row(
    row: &Row<'_>,
    span: RollupSpan,
    start: i64,
    (monitor, location): (i64, i64),
    first_column: usize,
) -> rusqlite::Result<RollupStats> {
    let key =
        [("span", span_code(span)), ("start", start), ("monitor_id", monitor), ("location_id", location)];
    let mut runs_by_outcome = [0; 6];
    for (offset, count) in runs_by_outcome.iter_mut().enumerate() {
        *count = row.get(first_column + offset)?;
    }
    let locator = RowLocator { table: "rollups", key: &key };
    let blob = |offset| Ok::<_, rusqlite::Error>(row.get_ref(first_column + offset)?.as_blob_or_null()?);
    let duration_sum_us = row.get(first_column + 6)?;
    Ok(RollupStats::from_columns(locator, runs_by_outcome, duration_sum_us, blob(7)?, blob(8)?)?)
}
