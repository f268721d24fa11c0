//! Marks rollups that must be written, for the first time or again.

use rusqlite::{Connection, params};

use crate::store::contract::RollupSpan;

use crate::store::rows::result_row::ResultRow;
use crate::store::rows::rollup::rolled_up_hours::RolledUpHours;
use crate::store::rows::rollup::span::span_code;

/// Marks the hours that are rolled up already when one of their results changes, so that their rollup is computed
/// again.
pub(in super::super) struct StaleRollupMarker(RolledUpHours);

impl StaleRollupMarker {
    /// Reads the two bounds from the database.
    pub(in super::super) fn from_stored_bounds(conn: &Connection) -> rusqlite::Result<Self> {
        let (rolled_until, complete_from) = rollup_bounds(conn, RollupSpan::Hour)?;
        Ok(Self(RolledUpHours { rolled_until, complete_from }))
    }

    /// Marks the hours of `row` that were rolled up already, except hours with removed results, which cannot be
    /// computed again.
    pub(in super::super) fn mark_result_row(
        &self,
        conn: &Connection,
        row: &ResultRow,
    ) -> rusqlite::Result<()> {
        self.mark_hours(conn, (row.planned_at, row.last_run_at()), row.monitor_id, row.location_id)
    }

    /// Marks the hour of a stored result that changed.
    pub(in super::super) fn mark_result(
        &self,
        conn: &Connection,
        planned_at: i64,
        monitor: i64,
        location: i64,
    ) -> rusqlite::Result<()> {
        self.mark_hours(conn, (planned_at, planned_at), monitor, location)
    }

    fn mark_hours(
        &self,
        conn: &Connection,
        (first, last): (i64, i64),
        monitor: i64,
        location: i64,
    ) -> rusqlite::Result<()> {
        self.0
            .stale_hours(first, last)
            .try_for_each(|hour| mark_pending(conn, RollupSpan::Hour, hour, monitor, location))
    }
}

/// Returns until when `span` is rolled up, and since when its sources are complete, both in Unix microseconds.
pub(in super::super) fn rollup_bounds(conn: &Connection, span: RollupSpan) -> rusqlite::Result<(i64, i64)> {
    conn.prepare_cached("SELECT rolled_until, sources_from FROM spans WHERE span = ?1")?
        .query_row([span_code(span)], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Marks one rollup as pending.
pub(super) fn mark_pending(
    conn: &Connection,
    span: RollupSpan,
    start: i64,
    monitor: i64,
    location: i64,
) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO late VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING")?
        .execute(params![span_code(span), start, monitor, location])?;
    Ok(())
}
