//! Rolls results up by hour and day.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use crate::domain::{LocationId, MonitorId, Outcome, Timestamp};
use crate::store::contract::{Rollup, RollupSpan, StoreError};

use super::figures::RollupStats;
use super::pending_rollups::{ALL_MONITORS, mark_pending, rollup_bounds, span_start};
use super::span::{span_code, width_us};
use crate::store::sqlite::decode::RowRef;
use crate::store::sqlite::result_row::to_signed;
use crate::store::sqlite::store::SqliteStore;
use crate::store::sqlite::writer::WriteContext;

/// Rollups that one transaction writes.
const CHUNK_ROLLUPS: usize = 500;
/// Late rollups that one transaction writes.
const CHUNK_PENDING_ROLLUPS: usize = 100;

/// Returns the rollups of one monitor, oldest first.
pub(in crate::store::sqlite) fn select_rollups(
    conn: &Connection,
    monitor: MonitorId,
    span: RollupSpan,
    from: Timestamp,
    thru: Timestamp,
) -> rusqlite::Result<Vec<Rollup>> {
    conn.prepare_cached(
        "SELECT location_id, start, ok, warning, error, unknown, missed, blackout, sum_us, sketch FROM rollups
         WHERE span = ?1 AND monitor_id = ?2 AND start >= ?3 AND start < ?4 ORDER BY start, location_id",
    )?
    .query_map(params![span_code(span), monitor.0, from.as_micros(), thru.as_micros()], |row| {
        let (location, start): (i64, i64) = (row.get(0)?, row.get(1)?);
        let key = [
            ("span", span_code(span)),
            ("start", start),
            ("monitor_id", monitor.0),
            ("location_id", location),
        ];
        let figures = RollupStats::from_row(row, RowRef { table: "rollups", key: &key }, 2)?;
        Ok(figures.to_rollup(monitor, LocationId(location), Timestamp::from_micros(start)))
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
        store.writer.call(move |writing| advance_frontier(writing.conn, span, until)).await?;
        for at in due_span_starts(store, span).await? {
            written += roll_up_span(store, span, at).await?;
        }
        loop {
            let pending = store.writer.call(move |writing| roll_up_pending(writing, span)).await?;
            written += pending;
            if pending == 0 {
                break;
            }
        }
    }
    Ok(written)
}

/// Advances `rolled_until` to `until` and marks the hours or days in between that have data as due.
fn advance_frontier(conn: &Connection, span: RollupSpan, until: i64) -> rusqlite::Result<()> {
    let (from, _) = rollup_bounds(conn, span)?;
    let mut at = from;
    while let Some(next) = next_span_with_data(conn, span, at)?.filter(|&next| next < until) {
        mark_pending(conn, span, next, ALL_MONITORS, 0)?;
        at = next + width_us(span);
    }
    conn.execute(
        "UPDATE spans SET rolled_until = max(rolled_until, ?2) WHERE span = ?1",
        params![span_code(span), until],
    )?;
    Ok(())
}

/// Returns the first hour or day from `at` on that has data to roll up.
fn next_span_with_data(conn: &Connection, span: RollupSpan, at: i64) -> rusqlite::Result<Option<i64>> {
    let first: Option<i64> = match span {
        RollupSpan::Hour => conn
            .prepare_cached(
                "SELECT min(at) FROM (
                     SELECT min(planned_at) AS at FROM results WHERE planned_at >= ?1
                     UNION ALL
                     SELECT max(min(planned_at), ?1) FROM results INDEXED BY results_missed
                     WHERE last_planned_at >= ?1)",
            )?
            .query_row([at], |row| row.get(0))?,
        RollupSpan::Day => conn
            .prepare_cached("SELECT min(start) FROM rollups WHERE span = 0 AND start >= ?1")?
            .query_row([at], |row| row.get(0))?,
    };
    Ok(first.map(|first| span_start(span, first)))
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
async fn roll_up_span(store: &SqliteStore, span: RollupSpan, at: i64) -> Result<u64, StoreError> {
    let monitors = store.readers.call(move |conn| pairs_in_span(conn, span, at)).await?;
    let mut written = 0;
    for chunk in monitors.chunks(CHUNK_ROLLUPS) {
        let chunk = chunk.to_vec();
        let figures = store
            .readers
            .call(move |conn| {
                let mut all = Vec::with_capacity(chunk.len());
                for (monitor, location) in chunk {
                    all.push((monitor, location, compute_stats(conn, span, at, monitor, location)?));
                }
                Ok(all)
            })
            .await?;
        written += figures.len() as u64;
        store.writer.call(move |writing| insert_rollups(writing.conn, span, at, &figures)).await?;
    }
    store
        .writer
        .call(move |writing| {
            writing.conn.execute(
                "DELETE FROM late WHERE span = ?1 AND start = ?2 AND monitor_id = ?3",
                params![span_code(span), at, ALL_MONITORS],
            )
        })
        .await?;
    Ok(written)
}

/// Returns the monitors and locations with data in an hour or day.
fn pairs_in_span(conn: &Connection, span: RollupSpan, at: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
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
    let pairs: BTreeSet<(i64, i64)> =
        conn.prepare_cached(sql)?.query_map([at, at + width_us(span)], pair)?.collect::<Result<_, _>>()?;
    Ok(pairs.into_iter().collect())
}

/// Writes some of the late rollups, each read in the transaction that writes it; returns 0 when there are none.
fn roll_up_pending(writing: &mut WriteContext<'_>, span: RollupSpan) -> rusqlite::Result<u64> {
    let conn = writing.conn;
    let late: Vec<(i64, i64, i64)> = conn
        .prepare_cached(
            "SELECT start, monitor_id, location_id FROM late WHERE span = ?1 AND monitor_id <> ?2 LIMIT ?3",
        )?
        .query_map(params![span_code(span), ALL_MONITORS, CHUNK_PENDING_ROLLUPS], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<Result<_, _>>()?;
    for &(at, monitor, location) in &late {
        let figures = compute_stats(conn, span, at, monitor, location)?;
        insert_rollups(conn, span, at, &[(monitor, location, figures)])?;
        conn.prepare_cached(
            "DELETE FROM late WHERE span = ?1 AND start = ?2 AND monitor_id = ?3 AND location_id = ?4",
        )?
        .execute([span_code(span), at, monitor, location])?;
    }
    Ok(late.len() as u64)
}

fn insert_rollups(
    conn: &Connection,
    span: RollupSpan,
    at: i64,
    all: &[(i64, i64, RollupStats)],
) -> rusqlite::Result<()> {
    let (days_until, days_from) = rollup_bounds(conn, RollupSpan::Day)?;
    let day = span_start(RollupSpan::Day, at);
    for (monitor, location, figures) in all.iter().filter(|(_, _, figures)| figures.runs_by_outcome != [0; 6])
    {
        insert_rollup(conn, span, at, *monitor, *location, figures)?;
        if span == RollupSpan::Hour && day < days_until && day >= days_from {
            mark_pending(conn, RollupSpan::Day, day, *monitor, *location)?;
        }
    }
    Ok(())
}

fn insert_rollup(
    conn: &Connection,
    span: RollupSpan,
    at: i64,
    monitor: i64,
    location: i64,
    figures: &RollupStats,
) -> rusqlite::Result<()> {
    let [ok, warning, error, unknown, missed, blackout] = figures.runs_by_outcome;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO rollups VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        span_code(span),
        at,
        monitor,
        location,
        ok,
        warning,
        error,
        unknown,
        missed,
        blackout,
        to_signed(figures.duration_sum_us),
        figures.to_sketch_bytes()
    ])?;
    Ok(())
}

fn compute_stats(
    conn: &Connection,
    span: RollupSpan,
    at: i64,
    monitor: i64,
    location: i64,
) -> rusqlite::Result<RollupStats> {
    match span {
        RollupSpan::Hour => hour_stats(conn, at, monitor, location),
        RollupSpan::Day => day_stats(conn, at, monitor, location),
    }
}

fn hour_stats(conn: &Connection, at: i64, monitor: i64, location: i64) -> rusqlite::Result<RollupStats> {
    let end = at + width_us(RollupSpan::Hour);
    let mut figures = RollupStats::default();
    let mut statement = conn.prepare_cached(
        "SELECT outcome, total_us FROM results INDEXED BY results_by_monitor
         WHERE monitor_id = ?1 AND planned_at >= ?2 AND planned_at < ?3 AND location_id = ?4
             AND last_planned_at IS NULL",
    )?;
    let mut rows = statement.query([monitor, at, end, location])?;
    while let Some(row) = rows.next()? {
        if let Some(outcome) = Outcome::from_code(row.get(0)?) {
            figures.add(outcome, 1, row.get(1)?);
        }
    }
    let mut statement = conn.prepare_cached(
        "SELECT planned_at, last_planned_at, missed_slots FROM results INDEXED BY results_missed_of
         WHERE monitor_id = ?1 AND last_planned_at >= ?2 AND planned_at < ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([monitor, at, end, location])?;
    while let Some(row) = rows.next()? {
        let slots = slots_within(row.get(0)?, row.get(1)?, row.get(2)?, at, end);
        figures.add(Outcome::Missed, slots, 0);
    }
    Ok(figures)
}

/// Returns how many of `slots` runs, evenly spaced from `first` to `last`, are in `from..until`.
fn slots_within(first: i64, last: i64, slots: i64, from: i64, until: i64) -> u64 {
    let steps = i128::from(slots.max(1) - 1);
    let length = i128::from(last.saturating_sub(first).max(0));
    // Runs before `end`: those with first + i * length / steps < end.
    let before = |end: i64| -> i128 {
        let distance = i128::from(end) - i128::from(first);
        if distance <= 0 {
            0
        } else if length == 0 || steps == 0 {
            steps + 1
        } else {
            ((distance * steps + length - 1) / length).min(steps + 1)
        }
    };
    u64::try_from(before(until) - before(from)).unwrap_or(0)
}

fn day_stats(conn: &Connection, at: i64, monitor: i64, location: i64) -> rusqlite::Result<RollupStats> {
    let mut figures = RollupStats::default();
    let mut statement = conn.prepare_cached(
        "SELECT ok, warning, error, unknown, missed, blackout, sum_us, sketch, start
         FROM rollups INDEXED BY rollups_by_monitor
         WHERE span = 0 AND monitor_id = ?1 AND start >= ?2 AND start < ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([monitor, at, at + width_us(RollupSpan::Day), location])?;
    while let Some(row) = rows.next()? {
        let key = [("span", 0), ("start", row.get(8)?), ("monitor_id", monitor), ("location_id", location)];
        figures.merge(&RollupStats::from_row(row, RowRef { table: "rollups", key: &key }, 0)?);
    }
    Ok(figures)
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
