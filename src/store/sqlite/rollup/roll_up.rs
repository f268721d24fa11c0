//! Rolls results up by hour and day.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use crate::domain::{LocationId, MonitorId, Outcome, Timestamp};
use crate::store::contract::{Rollup, RollupSpan, StoreError};

use super::pending_rollups::{ALL_MONITORS, mark_pending, rollup_bounds, span_start};
use super::span::{span_code, width_us};
use super::stats::RollupStats;
use crate::store::sqlite::decode::RowLocator;
use crate::store::sqlite::result_row::saturating_i64;
use crate::store::sqlite::store::SqliteStore;
use crate::store::sqlite::writer::WriteContext;

/// Most rollups that one transaction writes.
const CHUNK_ROLLUPS: usize = 500;
/// Most pending rollups that one transaction writes.
const CHUNK_PENDING_ROLLUPS: usize = 100;

/// Returns the rollups of one monitor, oldest first.
pub(in crate::store::sqlite) fn select_rollups(
    conn: &Connection,
    monitor: MonitorId,
    span: RollupSpan,
    from: Timestamp,
    until: Timestamp,
) -> rusqlite::Result<Vec<Rollup>> {
    conn.prepare_cached(
        "SELECT location_id, start, ok, warning, error, unknown, missed, blackout, sum_us, sketch FROM rollups
         WHERE span = ?1 AND monitor_id = ?2 AND start >= ?3 AND start < ?4 ORDER BY start, location_id",
    )?
    .query_map(params![span_code(span), monitor.0, from.as_micros(), until.as_micros()], |row| {
        let (location, start): (i64, i64) = (row.get(0)?, row.get(1)?);
        let key = [
            ("span", span_code(span)),
            ("start", start),
            ("monitor_id", monitor.0),
            ("location_id", location),
        ];
        let stats = RollupStats::from_row(row, RowLocator { table: "rollups", key: &key }, 2)?;
        Ok(stats.to_rollup(monitor, LocationId(location), Timestamp::from_micros(start)))
    })?
    .collect()
}

/// Writes all rollups due at `now`; returns how many.
pub(in crate::store::sqlite) async fn roll_up(
    store: &SqliteStore,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut written = 0;
    for span in [RollupSpan::Hour, RollupSpan::Day] {
        let until = span_start(span, now.as_micros());
        store.writer.call(move |context| advance_frontier(context.conn, span, until)).await?;
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
fn advance_frontier(conn: &Connection, span: RollupSpan, until: i64) -> rusqlite::Result<()> {
    let (rolled_until, _) = rollup_bounds(conn, span)?;
    let mut search_from = rolled_until;
    while let Some(next) = next_span_with_data(conn, span, search_from)?.filter(|&next| next < until) {
        mark_pending(conn, span, next, ALL_MONITORS, 0)?;
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
    let pairs = store.readers.call(move |conn| pairs_in_span(conn, span, start)).await?;
    let mut written = 0;
    for chunk in pairs.chunks(CHUNK_ROLLUPS) {
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
        store.writer.call(move |context| insert_rollups(context.conn, span, start, &stats_by_pair)).await?;
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
fn pairs_in_span(conn: &Connection, span: RollupSpan, start: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let to_pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let sql = match span {
        RollupSpan::Hour => {
            "SELECT monitor_id, location_id FROM results WHERE planned_at >= ?1 AND planned_at < ?2
             UNION
             SELECT monitor_id, location_id FROM results WHERE last_planned_at >= ?1 AND planned_at < ?2"
        }
        RollupSpan::Day => {
            "SELECT DISTINCT monitor_id, location_id FROM rollups WHERE span = 0 AND start >= ?1 AND start < ?2"
        }
    };
    let pairs: BTreeSet<(i64, i64)> = conn
        .prepare_cached(sql)?
        .query_map([start, start + width_us(span)], to_pair)?
        .collect::<Result<_, _>>()?;
    Ok(pairs.into_iter().collect())
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
        let stats = compute_stats(conn, span, start, monitor, location)?;
        insert_rollups(conn, span, start, &[(monitor, location, stats)])?;
        conn.prepare_cached(
            "DELETE FROM late WHERE span = ?1 AND start = ?2 AND monitor_id = ?3 AND location_id = ?4",
        )?
        .execute([span_code(span), start, monitor, location])?;
    }
    Ok(pending.len() as u64)
}

fn insert_rollups(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    stats_by_pair: &[(i64, i64, RollupStats)],
) -> rusqlite::Result<()> {
    let (days_rolled_until, days_complete_from) = rollup_bounds(conn, RollupSpan::Day)?;
    let day = span_start(RollupSpan::Day, start);
    for (monitor, location, stats) in
        stats_by_pair.iter().filter(|(_, _, stats)| stats.runs_by_outcome != [0; 6])
    {
        insert_rollup(conn, span, start, *monitor, *location, stats)?;
        if span == RollupSpan::Hour && day < days_rolled_until && day >= days_complete_from {
            mark_pending(conn, RollupSpan::Day, day, *monitor, *location)?;
        }
    }
    Ok(())
}

fn insert_rollup(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    monitor: i64,
    location: i64,
    stats: &RollupStats,
) -> rusqlite::Result<()> {
    let [ok, warning, error, unknown, missed, blackout] = stats.runs_by_outcome;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO rollups VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
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
        stats.to_sketch_bytes()
    ])?;
    Ok(())
}

fn compute_stats(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    monitor: i64,
    location: i64,
) -> rusqlite::Result<RollupStats> {
    match span {
        RollupSpan::Hour => hour_stats(conn, start, monitor, location),
        RollupSpan::Day => day_stats(conn, start, monitor, location),
    }
}

fn hour_stats(conn: &Connection, start: i64, monitor: i64, location: i64) -> rusqlite::Result<RollupStats> {
    let end = start + width_us(RollupSpan::Hour);
    let mut stats = RollupStats::default();
    let mut statement = conn.prepare_cached(
        "SELECT outcome, total_us FROM results INDEXED BY results_by_monitor
         WHERE monitor_id = ?1 AND planned_at >= ?2 AND planned_at < ?3 AND location_id = ?4
             AND last_planned_at IS NULL",
    )?;
    let mut rows = statement.query([monitor, start, end, location])?;
    while let Some(row) = rows.next()? {
        if let Some(outcome) = Outcome::from_code(row.get(0)?) {
            stats.add(outcome, 1, row.get(1)?);
        }
    }
    let mut statement = conn.prepare_cached(
        "SELECT planned_at, last_planned_at, missed_slots FROM results INDEXED BY results_missed_of
         WHERE monitor_id = ?1 AND last_planned_at >= ?2 AND planned_at < ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([monitor, start, end, location])?;
    while let Some(row) = rows.next()? {
        let slots = slots_within(row.get(0)?, row.get(1)?, row.get(2)?, start, end);
        stats.add(Outcome::Missed, slots, 0);
    }
    Ok(stats)
}

/// Returns how many of `slots` runs, evenly spaced from `first` to `last`, are in `from..until`.
fn slots_within(first: i64, last: i64, slots: i64, from: i64, until: i64) -> u64 {
    let intervals = i128::from(slots.max(1) - 1);
    let duration_us = i128::from(last.saturating_sub(first).max(0));
    // Runs before `end`: those with first + i * duration_us / intervals < end.
    let slots_before = |end: i64| -> i128 {
        let distance = i128::from(end) - i128::from(first);
        if distance <= 0 {
            0
        } else if duration_us == 0 || intervals == 0 {
            intervals + 1
        } else {
            ((distance * intervals + duration_us - 1) / duration_us).min(intervals + 1)
        }
    };
    u64::try_from(slots_before(until) - slots_before(from)).unwrap_or(0)
}

fn day_stats(conn: &Connection, start: i64, monitor: i64, location: i64) -> rusqlite::Result<RollupStats> {
    let mut stats = RollupStats::default();
    let mut statement = conn.prepare_cached(
        "SELECT ok, warning, error, unknown, missed, blackout, sum_us, sketch, start
         FROM rollups INDEXED BY rollups_by_monitor
         WHERE span = 0 AND monitor_id = ?1 AND start >= ?2 AND start < ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([monitor, start, start + width_us(RollupSpan::Day), location])?;
    while let Some(row) = rows.next()? {
        let key = [("span", 0), ("start", row.get(8)?), ("monitor_id", monitor), ("location_id", location)];
        stats.merge(&RollupStats::from_row(row, RowLocator { table: "rollups", key: &key }, 0)?);
    }
    Ok(stats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_runs_count_in_the_hours_that_they_were_planned_in() {
        let minute = 60_000_000;
        let hour = width_us(RollupSpan::Hour);
        // 90 runs, a minute apart, from minute 30 on.
        let within = |from: i64| slots_within(30 * minute, 119 * minute, 90, from, from + hour);
        assert_eq!((within(0), within(hour), within(2 * hour)), (30, 60, 0));
        assert_eq!(slots_within(5, 5, 1, 5, 6), 1);
        assert_eq!(slots_within(5, 5, 1, 6, 9), 0);
    }

    proptest::proptest! {
        #[test]
        fn no_missed_run_is_lost_or_counted_twice(
            first in -1_000_000_000_i64..1_000_000_000, step in 1_i64..100_000_000, slots in 1_i64..5000, cut in 0_i64..5_000_000_000
        ) {
            let last = first + step * (slots - 1);
            let cut = first + cut;
            let before = slots_within(first, last, slots, i64::MIN, cut);
            let after = slots_within(first, last, slots, cut, i64::MAX);
            let want = (0..slots).filter(|i| first + i * step < cut).count() as u64;
            proptest::prop_assert_eq!((before, before + after), (want, slots.unsigned_abs()));
        }
    }
}
