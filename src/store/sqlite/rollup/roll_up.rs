//! Rolls results up by hour and day.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use crate::domain::{LocationId, MonitorId, Outcome, Timestamp};
use crate::store::contract::{Rollup, Span, StoreError};

use super::figures::Figures;
use super::late::{WHOLE, mark, reach, start};
use super::span::{code, width};
use crate::store::sqlite::decode::Place;
use crate::store::sqlite::row::signed;
use crate::store::sqlite::store::SqliteStore;
use crate::store::sqlite::writer::Writing;

/// Rollups that are written in one transaction.
const CHUNK: usize = 500;
/// Late rollups that are written in one transaction.
const LATE_CHUNK: usize = 100;

/// Rollups of one monitor, oldest first.
pub(in crate::store::sqlite) fn read(
    conn: &Connection,
    monitor: MonitorId,
    span: Span,
    from: Timestamp,
    thru: Timestamp,
) -> rusqlite::Result<Vec<Rollup>> {
    conn.prepare_cached(
        "SELECT location_id, start, ok, warning, error, unknown, missed, blackout, sum_us, sketch FROM rollups
         WHERE span = ?1 AND monitor_id = ?2 AND start >= ?3 AND start < ?4 ORDER BY start, location_id",
    )?
    .query_map(params![code(span), monitor.0, from.as_micros(), thru.as_micros()], |row| {
        let (location, start): (i64, i64) = (row.get(0)?, row.get(1)?);
        let key = [
            ("span", code(span)),
            ("start", start),
            ("monitor_id", monitor.0),
            ("location_id", location),
        ];
        let figures = Figures::read(row, Place { table: "rollups", key: &key }, 2)?;
        Ok(figures.rollup(monitor, LocationId(location), Timestamp::from_micros(start)))
    })?
    .collect()
}

/// Writes all that is due at `now`; answers how many rollups were written.
pub(in crate::store::sqlite) async fn roll_up(
    store: &SqliteStore,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut written = 0;
    for span in [Span::Hour, Span::Day] {
        let until = start(span, now.as_micros());
        store.writer.call(move |writing| advance(writing.conn, span, until)).await?;
        for at in due(store, span).await? {
            written += whole(store, span, at).await?;
        }
        loop {
            let again = store.writer.call(move |writing| some_late(writing, span)).await?;
            written += again;
            if again == 0 {
                break;
            }
        }
    }
    Ok(written)
}

/// Moves `rolled_until` on to `until` and notes the hours or days on the way that hold anything as due.
fn advance(conn: &Connection, span: Span, until: i64) -> rusqlite::Result<()> {
    let (from, _) = reach(conn, span)?;
    let mut at = from;
    while let Some(next) = next_with_sources(conn, span, at)?.filter(|&next| next < until) {
        mark(conn, span, next, WHOLE, 0)?;
        at = next + width(span);
    }
    conn.execute(
        "UPDATE spans SET rolled_until = max(rolled_until, ?2) WHERE span = ?1",
        params![code(span), until],
    )?;
    Ok(())
}

/// The first hour or day from `at` on that there is something to roll up for.
fn next_with_sources(conn: &Connection, span: Span, at: i64) -> rusqlite::Result<Option<i64>> {
    let first: Option<i64> = match span {
        Span::Hour => conn
            .prepare_cached(
                "SELECT min(at) FROM (
                     SELECT min(planned_at) AS at FROM results WHERE planned_at >= ?1
                     UNION ALL
                     SELECT max(min(planned_at), ?1) FROM results INDEXED BY results_missed
                     WHERE last_planned_at >= ?1)",
            )?
            .query_row([at], |row| row.get(0))?,
        Span::Day => conn
            .prepare_cached("SELECT min(start) FROM rollups WHERE span = 0 AND start >= ?1")?
            .query_row([at], |row| row.get(0))?,
    };
    Ok(first.map(|first| start(span, first)))
}

async fn due(store: &SqliteStore, span: Span) -> Result<Vec<i64>, StoreError> {
    store
        .readers
        .call(move |conn| {
            conn.prepare_cached("SELECT start FROM late WHERE span = ?1 AND monitor_id = ?2 ORDER BY start")?
                .query_map([code(span), WHOLE], |row| row.get(0))?
                .collect()
        })
        .await
}

/// Writes one hour or day for all monitors, a range of monitors at a time.
async fn whole(store: &SqliteStore, span: Span, at: i64) -> Result<u64, StoreError> {
    let monitors = store.readers.call(move |conn| monitors_of(conn, span, at)).await?;
    let mut written = 0;
    for chunk in monitors.chunks(CHUNK) {
        let chunk = chunk.to_vec();
        let figures = store
            .readers
            .call(move |conn| {
                let mut all = Vec::with_capacity(chunk.len());
                for (monitor, location) in chunk {
                    all.push((monitor, location, figures_of(conn, span, at, monitor, location)?));
                }
                Ok(all)
            })
            .await?;
        written += figures.len() as u64;
        store.writer.call(move |writing| write_all(writing.conn, span, at, &figures)).await?;
    }
    store
        .writer
        .call(move |writing| {
            writing.conn.execute(
                "DELETE FROM late WHERE span = ?1 AND start = ?2 AND monitor_id = ?3",
                params![code(span), at, WHOLE],
            )
        })
        .await?;
    Ok(written)
}

/// The monitors and locations that an hour or day holds anything of.
fn monitors_of(conn: &Connection, span: Span, at: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let sql = match span {
        Span::Hour => {
            "SELECT monitor_id, location_id FROM results WHERE planned_at >= ?1 AND planned_at < ?2
             UNION
             SELECT monitor_id, location_id FROM results WHERE last_planned_at >= ?1 AND planned_at < ?2"
        }
        Span::Day => {
            "SELECT DISTINCT monitor_id, location_id FROM rollups WHERE span = 0 AND start >= ?1 AND start < ?2"
        }
    };
    let pairs: BTreeSet<(i64, i64)> =
        conn.prepare_cached(sql)?.query_map([at, at + width(span)], pair)?.collect::<Result<_, _>>()?;
    Ok(pairs.into_iter().collect())
}

/// Writes some of the late rollups, each read in the transaction that writes it; 0 when there are none.
fn some_late(writing: &mut Writing<'_>, span: Span) -> rusqlite::Result<u64> {
    let conn = writing.conn;
    let late: Vec<(i64, i64, i64)> = conn
        .prepare_cached(
            "SELECT start, monitor_id, location_id FROM late WHERE span = ?1 AND monitor_id <> ?2 LIMIT ?3",
        )?
        .query_map(params![code(span), WHOLE, LATE_CHUNK], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for &(at, monitor, location) in &late {
        let figures = figures_of(conn, span, at, monitor, location)?;
        write_all(conn, span, at, &[(monitor, location, figures)])?;
        conn.prepare_cached(
            "DELETE FROM late WHERE span = ?1 AND start = ?2 AND monitor_id = ?3 AND location_id = ?4",
        )?
        .execute([code(span), at, monitor, location])?;
    }
    Ok(late.len() as u64)
}

fn write_all(conn: &Connection, span: Span, at: i64, all: &[(i64, i64, Figures)]) -> rusqlite::Result<()> {
    let (days_until, days_from) = reach(conn, Span::Day)?;
    let day = start(Span::Day, at);
    for (monitor, location, figures) in all.iter().filter(|(_, _, figures)| figures.runs != [0; 6]) {
        write(conn, span, at, *monitor, *location, figures)?;
        if span == Span::Hour && day < days_until && day >= days_from {
            mark(conn, Span::Day, day, *monitor, *location)?;
        }
    }
    Ok(())
}

fn write(
    conn: &Connection,
    span: Span,
    at: i64,
    monitor: i64,
    location: i64,
    figures: &Figures,
) -> rusqlite::Result<()> {
    let [ok, warning, error, unknown, missed, blackout] = figures.runs;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO rollups VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        code(span),
        at,
        monitor,
        location,
        ok,
        warning,
        error,
        unknown,
        missed,
        blackout,
        signed(figures.sum_us),
        figures.blob()
    ])?;
    Ok(())
}

fn figures_of(
    conn: &Connection,
    span: Span,
    at: i64,
    monitor: i64,
    location: i64,
) -> rusqlite::Result<Figures> {
    match span {
        Span::Hour => hour(conn, at, monitor, location),
        Span::Day => day(conn, at, monitor, location),
    }
}

fn hour(conn: &Connection, at: i64, monitor: i64, location: i64) -> rusqlite::Result<Figures> {
    let end = at + width(Span::Hour);
    let mut figures = Figures::default();
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

/// How many of `slots` runs, evenly spread from `first` to `last`, lie in `from..until`.
fn slots_within(first: i64, last: i64, slots: i64, from: i64, until: i64) -> u64 {
    let steps = i128::from(slots.max(1) - 1);
    let length = i128::from(last.saturating_sub(first).max(0));
    // Runs before `end`: those with first + i * length / steps < end.
    let before = |end: i64| -> i128 {
        let room = i128::from(end) - i128::from(first);
        if room <= 0 {
            0
        } else if length == 0 || steps == 0 {
            steps + 1
        } else {
            ((room * steps + length - 1) / length).min(steps + 1)
        }
    };
    u64::try_from(before(until) - before(from)).unwrap_or(0)
}

fn day(conn: &Connection, at: i64, monitor: i64, location: i64) -> rusqlite::Result<Figures> {
    let mut figures = Figures::default();
    let mut statement = conn.prepare_cached(
        "SELECT ok, warning, error, unknown, missed, blackout, sum_us, sketch, start
         FROM rollups INDEXED BY rollups_by_monitor
         WHERE span = 0 AND monitor_id = ?1 AND start >= ?2 AND start < ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([monitor, at, at + width(Span::Day), location])?;
    while let Some(row) = rows.next()? {
        let key = [("span", 0), ("start", row.get(8)?), ("monitor_id", monitor), ("location_id", location)];
        figures.merge(&Figures::read(row, Place { table: "rollups", key: &key }, 0)?);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_runs_fall_into_the_hours_that_they_were_due_in() {
        let minute = 60_000_000;
        let hour = width(Span::Hour);
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
