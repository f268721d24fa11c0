//! Statistics of a time range, computed from results.

use rusqlite::{Connection, OptionalExtension, Row};

use crate::domain::{CheckDetails, MonitorType, Outcome, Phase, Phases};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::result_row::DetailsBody;
use crate::store::rows::rollup::missed_series::runs_within;
use crate::store::rows::rollup::stats::{RollupStats, has_passed};
use crate::store::rows::stored_result::add_common_phases;
use crate::store::sqlite::decode::{json_column, skip_undecodable, text_column};

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
        skip_undecodable(json_column(locator, row, 11, "session"))?.flatten().unwrap_or_default();
    let mut phases_us = [None; Phase::COMMON.len()];
    for (column, micros) in (3..).zip(&mut phases_us) {
        *micros = row.get(column)?;
    }
    add_common_phases(&mut phases, &phases_us);
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
    let Some(body) = text_column(locator, row, 0, "body")? else { return Ok(None) };
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
