//! Series of missed runs in which results of checks take the place of single runs.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{LocationId, Timestamp};
use crate::store::contract::{MissedRunStore, PlannedRuns, StoreFuture};
use crate::store::rows::missed_runs::MissedColumns;
use crate::store::rows::missed_series_rows::MissedSeries;
use crate::store::rows::result_row::ResultRow;
use crate::store::rows::shared_text::SharedText;

use super::store::SqliteStore;

/// Returns the planned time of the newest run that is recorded as missed, in microseconds; the least one without any.
pub(super) fn newest_missed_at(conn: &Connection) -> rusqlite::Result<i64> {
    let newest: Option<i64> = conn
        .prepare_cached(
            "SELECT max(last_planned_at) FROM results INDEXED BY results_missed WHERE last_planned_at IS NOT NULL",
        )?
        .query_row([], |row| row.get(0))?;
    Ok(newest.unwrap_or(i64::MIN))
}

/// Returns when recorded runs of a monitor at a location are planned, within `planned_at`.
pub(super) fn select_recorded_runs(
    conn: &Connection,
    (monitor, location): (i64, i64),
    planned_at: &RangeInclusive<i64>,
) -> rusqlite::Result<Vec<RangeInclusive<i64>>> {
    // A first check is none of the planned runs, unless it has the key of one.
    conn.prepare_cached(
        "SELECT planned_at, coalesce(last_planned_at, planned_at) FROM results INDEXED BY results_by_monitor
         WHERE monitor_id = ?1 AND location_id = ?2 AND planned_at BETWEEN ?3 AND ?4
             AND (first_check IS NULL OR planned_at = ?3)
         UNION ALL
         SELECT planned_at, last_planned_at FROM results INDEXED BY results_missed_of
         WHERE monitor_id = ?1 AND location_id = ?2 AND last_planned_at >= ?3 AND planned_at < ?3",
    )?
    .query_map(params![monitor, location, planned_at.start(), planned_at.end()], |row| {
        Ok(row.get(0)?..=row.get(1)?)
    })?
    .collect()
}

/// Removes and returns the series of missed runs that has the run of `row`, the result of a check.
pub(super) fn remove_series_at(conn: &Connection, row: &ResultRow) -> rusqlite::Result<Option<MissedSeries>> {
    // A first check is none of the planned runs, unless it has the key of one.
    let series = conn
        .prepare_cached(
            "SELECT planned_at, missed_reason, missed_slots, last_planned_at, revision, shared.text, started_after,
                 status
             FROM results INDEXED BY results_missed_of JOIN shared ON shared.id = results.label
             WHERE monitor_id = ?2 AND location_id = ?3 AND last_planned_at >= ?1
                 AND (planned_at < ?1 AND NOT ?4 OR planned_at = ?1)",
        )?
        .query_row(params![row.planned_at, row.monitor_id, row.location_id, row.is_first_check], |columns| {
            Ok(MissedSeries {
                planned_at: columns.get(0)?,
                monitor_id: row.monitor_id,
                location_id: row.location_id,
                missed: MissedColumns {
                    reason_code: columns.get::<_, Option<usize>>(1)?.unwrap_or_default(),
                    run_count: columns.get::<_, Option<u32>>(2)?.unwrap_or(1),
                    last_planned_at: columns.get(3)?,
                },
                revision: columns.get(4)?,
                type_and_name: SharedText::from_string(columns.get(5)?),
                start_delay_us: columns.get(6)?,
                status: columns.get(7)?,
                details_json: None,
            })
        })
        .optional()?;
    let Some(mut series) = series else { return Ok(None) };
    let key = params![series.planned_at, series.monitor_id, series.location_id];
    conn.prepare_cached(
        "DELETE FROM results WHERE planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3",
    )?
    .execute(key)?;
    series.details_json = conn
        .prepare_cached(
            "DELETE FROM details
             WHERE failed = 1 AND planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3 RETURNING body",
        )?
        .query_row(key, |row| row.get(0))
        .optional()?;
    Ok(Some(series))
}

impl MissedRunStore for SqliteStore {
    fn missed_run_sweeps(&self) -> StoreFuture<'_, Vec<(LocationId, Timestamp)>> {
        Box::pin(self.readers.call(|conn| {
            conn.prepare_cached("SELECT location_id, swept_until FROM missed_run_sweeps")?
                .query_map([], |row| Ok((LocationId(row.get(0)?), Timestamp::from_micros(row.get(1)?))))?
                .collect()
        }))
    }

    fn set_missed_run_sweeps(&self, swept_until: Vec<(LocationId, Timestamp)>) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| {
            let mut replace =
                context.conn.prepare_cached("INSERT OR REPLACE INTO missed_run_sweeps VALUES (?1, ?2)")?;
            swept_until
                .iter()
                .try_for_each(|(location, until)| replace.execute([location.0, until.as_micros()]).map(drop))
        }))
    }

    fn recorded_runs(&self, runs: Vec<PlannedRuns>) -> StoreFuture<'_, Vec<Vec<RangeInclusive<Timestamp>>>> {
        Box::pin(self.readers.call(move |conn| {
            let recorded = |runs: &PlannedRuns| {
                let planned_at = runs.planned_at.start().as_micros()..=runs.planned_at.end().as_micros();
                let recorded =
                    select_recorded_runs(conn, (runs.monitor_id.0, runs.location_id.0), &planned_at)?;
                let to_time = |micros: i64| Timestamp::from_micros(micros);
                Ok(recorded.iter().map(|runs| to_time(*runs.start())..=to_time(*runs.end())).collect())
            };
            runs.iter().map(recorded).collect()
        }))
    }
}
