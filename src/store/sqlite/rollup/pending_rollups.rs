//! Marks rollups that must be written, for the first time or again.

use rusqlite::{Connection, params};

use crate::store::contract::RollupSpan;

use crate::store::rows::result_row::ResultRow;
use crate::store::rows::rollup::span::{span_code, span_start, width_us};

/// Monitor id of the rows of all monitors in the table `late` of rollups to write; see [`LOCATION_OF_ALL_MONITORS`].
pub(super) const ALL_MONITORS: i64 = i64::MIN;
pub(super) const LOCATION_OF_ALL_MONITORS: i64 = 0;

/// Most hours that one series of missed runs marks: a year and a month.
const MAX_MARKED_HOURS: i64 = 24 * 396;

/// Marks the hours that are rolled up already when one of their results changes, so that their rollup is computed
/// again.
pub(in super::super) struct StaleRollupMarker {
    /// Hours that start before are rolled up already.
    rolled_until: i64,
    /// Hours that start before miss removed results, so they cannot be computed again.
    complete_from: i64,
}

impl StaleRollupMarker {
    /// Reads the two bounds from the database.
    pub(in super::super) fn from_stored_bounds(conn: &Connection) -> rusqlite::Result<Self> {
        let (rolled_until, sources_complete_from) = rollup_bounds(conn, RollupSpan::Hour)?;
        Ok(Self { rolled_until, complete_from: sources_complete_from })
    }

    /// Marks the hours of `row` that were rolled up already, except hours with removed results, which cannot be
    /// computed again.
    pub(in super::super) fn mark_result_row(
        &self,
        conn: &Connection,
        row: &ResultRow,
    ) -> rusqlite::Result<()> {
        let last = row.missed.map_or(row.planned_at, |missed| missed.last_planned_at.max(row.planned_at));
        self.mark_hours(conn, (row.planned_at, last), row.monitor_id, row.location_id)
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

    /// Marks the hours from that of `first` to that of `last` which are rolled up and can be computed again.
    fn mark_hours(
        &self,
        conn: &Connection,
        (first, last): (i64, i64),
        monitor: i64,
        location: i64,
    ) -> rusqlite::Result<()> {
        let width = width_us(RollupSpan::Hour);
        if first >= self.rolled_until {
            return Ok(());
        }
        let earliest_hour =
            self.complete_from.max(self.rolled_until.saturating_sub(MAX_MARKED_HOURS * width));
        let mut hour = span_start(RollupSpan::Hour, first).max(span_start(RollupSpan::Hour, earliest_hour));
        while hour <= last && hour < self.rolled_until {
            if hour >= earliest_hour {
                mark_pending(conn, RollupSpan::Hour, hour, monitor, location)?;
            }
            hour += width;
        }
        Ok(())
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
