//! Marks rollups that must be written, for the first time or again.

use sqlx::PgConnection;

use crate::store::contract::RollupSpan;
use crate::store::postgres::error::PgResult;
use crate::store::rows::result_row::ResultRow;
use crate::store::rows::rollup::rolled_up_hours::RolledUpHours;
use crate::store::rows::rollup::span::span_code;

/// Start of the hour, monitor and location.
pub(in crate::store::postgres) type PendingRollup = (i64, i64, i64);

/// Marks the hours that are rolled up already when one of their results changes, so that their rollup is computed
/// again.
pub(in crate::store::postgres) struct StaleRollupMarker(RolledUpHours);

impl StaleRollupMarker {
    /// Reads the two bounds, and keeps them from being changed until the end of the transaction.
    pub(in crate::store::postgres) async fn from_stored_bounds(conn: &mut PgConnection) -> PgResult<Self> {
        let (rolled_until, complete_from) = sqlx::query_as(
            "SELECT rolled_until, sources_complete_from FROM rollup_bounds WHERE span = 0 FOR SHARE",
        )
        .fetch_one(conn)
        .await?;
        Ok(Self(RolledUpHours { rolled_until, complete_from }))
    }

    /// Marks the hours of `rows` that were rolled up already, except hours with removed results.
    pub(in crate::store::postgres) async fn mark_result_rows(
        &self,
        conn: &mut PgConnection,
        rows: impl Iterator<Item = &ResultRow> + Send,
    ) -> PgResult<()> {
        let hours = rows.flat_map(|row| {
            let hours = self.0.stale_hours(row.planned_at, row.last_run_at());
            hours.map(|hour| (hour, row.monitor_id, row.location_id))
        });
        let hours = hours.collect();
        mark_pending(conn, RollupSpan::Hour, hours).await
    }

    /// Marks the hour of a stored result that changed.
    pub(in crate::store::postgres) async fn mark_result(
        &self,
        conn: &mut PgConnection,
        (planned_at, monitor, location): (i64, i64, i64),
    ) -> PgResult<()> {
        let hours = self.0.stale_hours(planned_at, planned_at);
        let hours = hours.map(|hour| (hour, monitor, location)).collect();
        mark_pending(conn, RollupSpan::Hour, hours).await
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
