//! Marks rollups that must be written, for the first time or again.

use sqlx::PgConnection;

use crate::store::contract::RollupSpan;
use crate::store::postgres::error::PgResult;
use crate::store::rows::result_row::ResultRow;
use crate::store::rows::rollup::span::{span_code, span_start, width_us};

/// Monitor id of the rows for all monitors in the table of pending rollups; see [`LOCATION_OF_ALL_MONITORS`].
pub(super) const ALL_MONITORS: i64 = i64::MIN;
pub(super) const LOCATION_OF_ALL_MONITORS: i64 = 0;

/// Most hours that one series of missed runs marks: a year and a month.
const MAX_MARKED_HOURS: i64 = 24 * 396;

/// Start of the hour, monitor and location.
pub(in crate::store::postgres) type PendingRollup = (i64, i64, i64);

/// Marks the hours that are rolled up already when one of their results changes, so that their rollup is computed
/// again.
pub(in crate::store::postgres) struct StaleRollupMarker {
    /// Hours that start before are rolled up already.
    rolled_until: i64,
    /// Hours that start before miss removed results, so they cannot be computed again.
    complete_from: i64,
}

impl StaleRollupMarker {
    /// Reads the two bounds, and keeps them from being changed until the end of the transaction.
    pub(in crate::store::postgres) async fn from_stored_bounds(conn: &mut PgConnection) -> PgResult<Self> {
        let (rolled_until, complete_from) = sqlx::query_as(
            "SELECT rolled_until, sources_complete_from FROM rollup_bounds WHERE span = 0 FOR SHARE",
        )
        .fetch_one(conn)
        .await?;
        Ok(Self { rolled_until, complete_from })
    }

    /// Adds to `hours` those of `row` that were rolled up already, except hours with removed results.
    pub(in crate::store::postgres) fn collect_stale_hours(
        &self,
        row: &ResultRow,
        hours: &mut Vec<PendingRollup>,
    ) {
        let last = row.missed.map_or(row.planned_at, |missed| missed.last_planned_at.max(row.planned_at));
        let width = width_us(RollupSpan::Hour);
        if row.planned_at >= self.rolled_until {
            return;
        }
        let earliest_hour =
            self.complete_from.max(self.rolled_until.saturating_sub(MAX_MARKED_HOURS * width));
        let hour_of = |time| span_start(RollupSpan::Hour, time);
        let mut hour = hour_of(row.planned_at).max(hour_of(earliest_hour));
        while hour <= last && hour < self.rolled_until {
            if hour >= earliest_hour {
                hours.push((hour, row.monitor_id, row.location_id));
            }
            hour += width;
        }
    }

    /// Marks `hours` as pending.
    pub(in crate::store::postgres) async fn write(
        &self,
        conn: &mut PgConnection,
        hours: Vec<PendingRollup>,
    ) -> PgResult<()> {
        mark_pending(conn, RollupSpan::Hour, hours).await
    }

    /// Marks the hour of a stored result that changed.
    pub(in crate::store::postgres) async fn mark_result(
        &self,
        conn: &mut PgConnection,
        (planned_at, monitor, location): (i64, i64, i64),
    ) -> PgResult<()> {
        let hour = span_start(RollupSpan::Hour, planned_at);
        if planned_at >= self.rolled_until || hour < self.complete_from {
            return Ok(());
        }
        mark_pending(conn, RollupSpan::Hour, vec![(hour, monitor, location)]).await
    }
}

/// Returns until when `span` is rolled up, and since when its sources are complete, both in Unix microseconds.
pub(in crate::store::postgres) async fn rollup_bounds(
    conn: &mut PgConnection,
    span: RollupSpan,
) -> PgResult<(i64, i64)> {
    Ok(sqlx::query_as("SELECT rolled_until, sources_complete_from FROM rollup_bounds WHERE span = $1")
        .bind(span_code(span))
        .fetch_one(conn)
        .await?)
}

/// Marks rollups as pending.
pub(super) async fn mark_pending(
    conn: &mut PgConnection,
    span: RollupSpan,
    mut rollups: Vec<PendingRollup>,
) -> PgResult<()> {
    if rollups.is_empty() {
        return Ok(());
    }
    rollups.sort_unstable();
    rollups.dedup();
    let starts: Vec<i64> = rollups.iter().map(|(start, ..)| *start).collect();
    let monitors: Vec<i64> = rollups.iter().map(|(_, monitor, _)| *monitor).collect();
    let locations: Vec<i64> = rollups.iter().map(|(.., location)| *location).collect();
    sqlx::query(
        "INSERT INTO pending_rollups (span, start, monitor_id, location_id)
         SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) ON CONFLICT DO NOTHING",
    )
    .bind(span_code(span))
    .bind(starts)
    .bind(monitors)
    .bind(locations)
    .execute(conn)
    .await?;
    Ok(())
}
