//! Statistics of a time range, computed from results.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::domain::{CheckDetails, MonitorType, Outcome, Phase, Phases};
use crate::store::sqlite::decode::{RowLocator, skip_undecodable};
use crate::store::sqlite::result_row::DetailsBody;

use super::stats::{RollupStats, has_passed};

/// A range of time of one monitor at one location, in microseconds.
#[derive(Clone, Copy)]
pub(super) struct ResultRange {
    pub(super) monitor: i64,
    pub(super) location: i64,
    pub(super) from: i64,
    pub(super) until: i64,
}

/// Computes the statistics of the planned runs of `range`. Only with `with_browser_figures`, details of browser
/// checks are read.
pub(super) fn result_stats(
    conn: &Connection,
    range: ResultRange,
    with_browser_figures: bool,
) -> rusqlite::Result<RollupStats> {
    let mut stats = RollupStats::default();
    let ResultRange { monitor, location, from, until } = range;
    let reads_details = with_browser_figures && runs_in_browser(conn, monitor)?;
    let mut statement = conn.prepare_cached(
        "SELECT planned_at, outcome, total_us, prepare_us, resolve_us, connect_us, tls_us, send_us, first_byte_us,
             transfer_us, validate_us, session
         FROM results INDEXED BY results_by_monitor
         WHERE monitor_id = ?1 AND planned_at >= ?2 AND planned_at < ?3 AND location_id = ?4
             AND last_planned_at IS NULL AND first_check IS NULL",
    )?;
    let mut rows = statement.query([monitor, from, until, location])?;
    while let Some(row) = rows.next()? {
        let planned_at: i64 = row.get(0)?;
        let Some(outcome) = Outcome::from_code(row.get(1)?) else { continue };
        stats.add(outcome, 1, row.get(2)?);
        let key = [("planned_at", planned_at), ("monitor_id", monitor), ("location_id", location)];
        let locator = RowLocator { table: "results", key: &key };
        if has_passed(outcome) {
            add_phases(&mut stats, row, locator)?;
        }
        if reads_details
            && let Some(details) = skip_undecodable(read_details(conn, outcome, locator))?.flatten()
        {
            stats.sums.add_details(outcome, &details);
        }
    }
    add_missed_runs(conn, range, &mut stats)?;
    Ok(stats)
}

/// Whether results of the monitor may have details of a browser.
fn runs_in_browser(conn: &Connection, monitor: i64) -> rusqlite::Result<bool> {
    let monitor_type: Option<Option<String>> = conn
        .prepare_cached("SELECT type FROM monitors WHERE id = ?1")?
        .query_row([monitor], |row| row.get(0))
        .optional()?;
    Ok(monitor_type.flatten().as_deref() == Some(MonitorType::BrowserScript.name()))
}

fn add_phases(stats: &mut RollupStats, row: &Row<'_>, locator: RowLocator<'_>) -> rusqlite::Result<()> {
    let mut phases: Phases =
        skip_undecodable(locator.json_column(row, 11, "session"))?.flatten().unwrap_or_default();
    for (column, phase) in (3..).zip(Phase::COMMON) {
        if let Some(micros) = row.get::<_, Option<u32>>(column)? {
            phases.set(phase, Duration::from_micros(u64::from(micros)));
        }
    }
    phases.iter().for_each(|(phase, micros)| stats.sums.add_phase(phase, micros));
    Ok(())
}

/// Returns the details of the result at `locator`; `None` when they were removed.
fn read_details(
    conn: &Connection,
    outcome: Outcome,
    locator: RowLocator<'_>,
) -> rusqlite::Result<Option<CheckDetails>> {
    let [planned_at, monitor, location] = [0, 1, 2].map(|index| locator.key[index].1);
    let locator = RowLocator { table: "details", ..locator };
    let mut statement = conn.prepare_cached(
        "SELECT body FROM details
         WHERE failed = ?1 AND planned_at = ?2 AND monitor_id = ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([i64::from(outcome != Outcome::Ok), planned_at, monitor, location])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let Some(body) = locator.text_column(row, 0, "body")? else { return Ok(None) };
    Ok(Some(DetailsBody::decode(locator, body)?.details.into_owned()))
}

fn add_missed_runs(conn: &Connection, range: ResultRange, stats: &mut RollupStats) -> rusqlite::Result<()> {
    let ResultRange { monitor, location, from, until } = range;
    let mut statement = conn.prepare_cached(
        "SELECT planned_at, last_planned_at, missed_slots FROM results INDEXED BY results_missed_of
         WHERE monitor_id = ?1 AND last_planned_at >= ?2 AND planned_at < ?3 AND location_id = ?4",
    )?;
    let mut rows = statement.query([monitor, from, until, location])?;
    while let Some(row) = rows.next()? {
        let run_count = runs_within(row.get(0)?, row.get(1)?, row.get(2)?, from, until);
        stats.add(Outcome::Missed, run_count, 0);
    }
    Ok(())
}

/// Returns how many of `run_count` runs, evenly spaced from `first` to `last`, are in `from..until`.
pub(super) fn runs_within(first: i64, last: i64, run_count: i64, from: i64, until: i64) -> u64 {
    let intervals = i128::from(run_count.max(1) - 1);
    let duration_us = i128::from(last.saturating_sub(first).max(0));
    // Runs before `end` are those with first + i * duration_us / intervals < end.
    let runs_before = |end: i64| -> i128 {
        let distance = i128::from(end) - i128::from(first);
        if distance <= 0 {
            0
        } else if duration_us == 0 || intervals == 0 {
            intervals + 1
        } else {
            ((distance * intervals + duration_us - 1) / duration_us).min(intervals + 1)
        }
    };
    u64::try_from(runs_before(until) - runs_before(from)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_runs_count_in_the_hours_that_they_were_planned_in() {
        let minute = 60_000_000;
        let hour = 60 * minute;
        // 90 runs, a minute apart, from minute 30 on.
        let within = |from: i64| runs_within(30 * minute, 119 * minute, 90, from, from + hour);
        assert_eq!((within(0), within(hour), within(2 * hour)), (30, 60, 0));
        assert_eq!(runs_within(5, 5, 1, 5, 6), 1);
        assert_eq!(runs_within(5, 5, 1, 6, 9), 0);
    }

    proptest::proptest! {
        #[test]
        fn no_missed_run_is_lost_or_counted_twice(
            first in -1_000_000_000_i64..1_000_000_000, step in 1_i64..100_000_000, run_count in 1_i64..5000, cut in 0_i64..5_000_000_000
        ) {
            let last = first + step * (run_count - 1);
            let cut = first + cut;
            let before = runs_within(first, last, run_count, i64::MIN, cut);
            let after = runs_within(first, last, run_count, cut, i64::MAX);
            let want = (0..run_count).filter(|i| first + i * step < cut).count() as u64;
            proptest::prop_assert_eq!((before, before + after), (want, run_count.unsigned_abs()));
        }
    }
}
