//! Reads and writes stored rollups.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{LocationId, MonitorId, Rollup, Timestamp};
use crate::store::contract::RollupSpan;
use crate::store::postgres::error::PgResult;
use crate::store::rows::decode::RowLocator;
use crate::store::rows::result_row::saturating_i64;
use crate::store::rows::rollup::span::{span_code, width_us};
use crate::store::rows::rollup::stats::RollupStats;

/// Monitor and location.
pub(super) type Pair = (i64, i64);

/// Returns the rollups of one monitor, oldest first.
pub(in crate::store::postgres) async fn select_rollups(
    conn: &mut PgConnection,
    monitor: MonitorId,
    span: RollupSpan,
    from: Timestamp,
    until: Timestamp,
) -> PgResult<Vec<Rollup>> {
    let rows = sqlx::query(
        "SELECT start, monitor_id, location_id, ok, warning, error, unknown, missed, blackout, duration_sum_us, sketch,
             sums
         FROM rollups WHERE span = $1 AND monitor_id = $2 AND start >= $3 AND start < $4 ORDER BY start, location_id",
    )
    .bind(span_code(span))
    .bind(monitor.0)
    .bind(from.as_micros())
    .bind(until.as_micros())
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let ((start, _, location), stats) = stats_from_row(row, span)?;
            Ok(stats.to_rollup(monitor, LocationId(location), Timestamp::from_micros(start)))
        })
        .collect()
}

/// Returns the stored statistics of the hours or days that start in `from..until` of `monitors`.
pub(super) async fn select_stats(
    conn: &mut PgConnection,
    span: RollupSpan,
    (from, until): (i64, i64),
    monitors: &[i64],
) -> PgResult<Vec<((i64, i64, i64), PgResult<RollupStats>)>> {
    let rows = sqlx::query(
        "SELECT start, monitor_id, location_id, ok, warning, error, unknown, missed, blackout, duration_sum_us, sketch,
             sums
         FROM rollups WHERE span = $1 AND monitor_id = ANY ($2) AND start >= $3 AND start < $4",
    )
    .bind(span_code(span))
    .bind(monitors)
    .bind(from)
    .bind(until)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let key = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            Ok((key, stats_from_row(row, span).map(|(_, stats)| stats)))
        })
        .collect()
}

/// Merges the stored hours of the day that starts at `start`, by monitor and location.
pub(super) async fn merge_hours(
    conn: &mut PgConnection,
    start: i64,
    monitors: &[i64],
) -> PgResult<HashMap<Pair, RollupStats>> {
    let range = (start, start + width_us(RollupSpan::Day));
    let mut merged: HashMap<Pair, RollupStats> = HashMap::new();
    for ((_, monitor, location), stats) in select_stats(conn, RollupSpan::Hour, range, monitors).await? {
        merged.entry((monitor, location)).or_default().merge(&stats?);
    }
    Ok(merged)
}

/// Writes the statistics of hours or days that start at `start`, ordered by monitor and location.
pub(super) async fn replace(
    conn: &mut PgConnection,
    span: RollupSpan,
    start: i64,
    rollups: &[(Pair, &RollupStats)],
) -> PgResult<()> {
    if rollups.is_empty() {
        return Ok(());
    }
    let monitors: Vec<i64> = rollups.iter().map(|((monitor, _), _)| *monitor).collect();
    let locations: Vec<i64> = rollups.iter().map(|((_, location), _)| *location).collect();
    let runs = |index: usize| -> Vec<i64> {
        rollups.iter().map(|(_, stats)| saturating_i64(stats.runs_by_outcome[index])).collect()
    };
    let sums: Vec<i64> = rollups.iter().map(|(_, stats)| saturating_i64(stats.duration_sum_us)).collect();
    let sketches: Vec<Option<Vec<u8>>> = rollups.iter().map(|(_, stats)| stats.to_sketch_bytes()).collect();
    let other_sums: Vec<Option<Vec<u8>>> = rollups.iter().map(|(_, stats)| stats.to_sums_bytes()).collect();
    sqlx::query(
        "INSERT INTO rollups (span, start, monitor_id, location_id, ok, warning, error, unknown, missed, blackout,
             duration_sum_us, sketch, sums)
         SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
             $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[], $13::bytea[])
         ON CONFLICT (span, start, monitor_id, location_id) DO UPDATE SET ok = excluded.ok,
             warning = excluded.warning, error = excluded.error, unknown = excluded.unknown,
             missed = excluded.missed, blackout = excluded.blackout, duration_sum_us = excluded.duration_sum_us,
             sketch = excluded.sketch, sums = excluded.sums",
    )
    .bind(span_code(span))
    .bind(start)
    .bind(monitors)
    .bind(locations)
    .bind(runs(0))
    .bind(runs(1))
    .bind(runs(2))
    .bind(runs(3))
    .bind(runs(4))
    .bind(runs(5))
    .bind(sums)
    .bind(sketches)
    .bind(other_sums)
    .execute(conn)
    .await?;
    Ok(())
}

/// Decodes start, monitor and location of a row, and its statistics.
fn stats_from_row(row: &PgRow, span: RollupSpan) -> PgResult<((i64, i64, i64), RollupStats)> {
    let (start, monitor, location): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let key =
        [("span", span_code(span)), ("start", start), ("monitor_id", monitor), ("location_id", location)];
    let mut runs_by_outcome = [0; 6];
    for (column, count) in (3..).zip(&mut runs_by_outcome) {
        *count = row.try_get::<i64, usize>(column)?.unsigned_abs();
    }
    let duration_sum_us = row.try_get::<i64, _>(9)?.unsigned_abs();
    let (sketch, sums): (Option<&[u8]>, Option<&[u8]>) = (row.try_get(10)?, row.try_get(11)?);
    let locator = RowLocator { table: "rollups", key: &key };
    let stats = RollupStats::from_columns(locator, runs_by_outcome, duration_sum_us, sketch, sums)?;
    Ok(((start, monitor, location), stats))
}
