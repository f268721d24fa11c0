//! Rolls results up by hour and day.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlx::PgConnection;

use crate::domain::Timestamp;
use crate::store::contract::{RollupSpan, StoreError};
use crate::store::postgres::error::{PgResult, skip_undecodable};
use crate::store::postgres::store::PostgresStore;
use crate::store::rows::rollup::span::{span_code, span_start, width_us};
use crate::store::rows::rollup::stats::RollupStats;

use super::pending_rollups::{PendingRollup, mark_pending, rollup_bounds};
use super::result_stats::{ResultRange, result_stats_by_step};
use super::stored::{self, Pair};
use crate::store::rows::rollup::rolled_up_hours::{ALL_MONITORS, LOCATION_OF_ALL_MONITORS};

/// Monitors whose rollups one transaction writes.
const CHUNK_MONITORS: usize = 500;
/// Most pending rollups that one transaction writes.
const CHUNK_PENDING_ROLLUPS: i64 = 500;

/// Writes all rollups due at `now`; returns how many.
pub(in crate::store::postgres) async fn roll_up(
    store: &PostgresStore,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut written = 0;
    for span in [RollupSpan::Hour, RollupSpan::Day] {
        let until = span_start(span, now.as_micros());
        store.write(move |conn| Box::pin(advance_rolled_until(conn, span, until))).await?;
        for start in store.read(move |conn| Box::pin(due_span_starts(conn, span))).await? {
            written += roll_up_span(store, span, start).await?;
        }
        loop {
            let chunk_written = roll_up_pending(store, span).await?;
            written += chunk_written;
            if chunk_written == 0 {
                break;
            }
        }
    }
    Ok(written)
}

/// Advances `rolled_until` to `until` and marks the hours or days in between that have data as pending. Results that
/// are being committed meanwhile wait, or are waited for.
async fn advance_rolled_until(conn: &mut PgConnection, span: RollupSpan, until: i64) -> PgResult<()> {
    let (rolled_until,): (i64,) =
        sqlx::query_as("SELECT rolled_until FROM rollup_bounds WHERE span = $1 FOR UPDATE")
            .bind(span_code(span))
            .fetch_one(&mut *conn)
            .await?;
    let mut search_from = rolled_until;
    while let Some(next) = next_span_with_data(conn, span, search_from).await?.filter(|&next| next < until) {
        mark_pending(conn, span, vec![(next, ALL_MONITORS, LOCATION_OF_ALL_MONITORS)]).await?;
        search_from = next + width_us(span);
    }
    sqlx::query("UPDATE rollup_bounds SET rolled_until = greatest(rolled_until, $2) WHERE span = $1")
        .bind(span_code(span))
        .bind(until)
        .execute(conn)
        .await?;
    Ok(())
}

/// Returns the first hour or day from `from` on that has data to roll up.
async fn next_span_with_data(conn: &mut PgConnection, span: RollupSpan, from: i64) -> PgResult<Option<i64>> {
    let sql = match span {
        RollupSpan::Hour => {
            "SELECT least(
                 (SELECT min(planned_at) FROM results WHERE planned_at >= $1),
                 (SELECT $1 WHERE EXISTS (SELECT 1 FROM results
                  WHERE last_planned_at >= $1 AND planned_at < $1 AND planned_at::numeric >=
                      $1::numeric - (SELECT longest_missed_us FROM result_bounds))))"
        }
        RollupSpan::Day => "SELECT min(start) FROM rollups WHERE span = 0 AND start >= $1",
    };
    let first_time: Option<i64> = sqlx::query_scalar(sql).bind(from).fetch_one(conn).await?;
    Ok(first_time.map(|first_time| span_start(span, first_time)))
}

/// Returns the starts of the hours or days that are marked as due for all monitors.
async fn due_span_starts(conn: &mut PgConnection, span: RollupSpan) -> PgResult<Vec<i64>> {
    Ok(sqlx::query_scalar(
        "SELECT start FROM pending_rollups WHERE span = $1 AND monitor_id = $2 ORDER BY start",
    )
    .bind(span_code(span))
    .bind(ALL_MONITORS)
    .fetch_all(conn)
    .await?)
}

/// Writes one hour or day for all monitors, in chunks.
async fn roll_up_span(store: &PostgresStore, span: RollupSpan, start: i64) -> Result<u64, StoreError> {
    if span == RollupSpan::Hour {
        store.ensure_rollup_day(start).await?;
    }
    let monitors = store.read(move |conn| Box::pin(monitors_in_span(conn, span, start))).await?;
    let mut written = 0;
    for chunk in monitors.chunks(CHUNK_MONITORS) {
        let chunk = chunk.to_vec();
        written += store
            .write(move |conn| {
                Box::pin(async move {
                    let stats = compute_stats(conn, span, start, chunk).await?;
                    write_rollups_and_mark_days(conn, span, start, &stats).await
                })
            })
            .await?;
    }
    store
        .write(move |conn| {
            Box::pin(async move {
                let delete = "DELETE FROM pending_rollups WHERE span = $1 AND start = $2 AND monitor_id = $3";
                sqlx::query(delete)
                    .bind(span_code(span))
                    .bind(start)
                    .bind(ALL_MONITORS)
                    .execute(conn)
                    .await?;
                Ok(())
            })
        })
        .await?;
    Ok(written)
}

/// Returns the monitors with data in an hour or day.
async fn monitors_in_span(conn: &mut PgConnection, span: RollupSpan, start: i64) -> PgResult<Vec<i64>> {
    let sql = match span {
        RollupSpan::Hour => {
            "SELECT monitor_id FROM results WHERE planned_at >= $1 AND planned_at < $2 AND NOT is_first_check
             UNION
             SELECT monitor_id FROM results WHERE last_planned_at >= $1 AND planned_at < $2
                 AND planned_at::numeric >= $1::numeric - (SELECT longest_missed_us FROM result_bounds)
             ORDER BY 1"
        }
        RollupSpan::Day => {
            "SELECT DISTINCT monitor_id FROM rollups WHERE span = 0 AND start >= $1 AND start < $2 ORDER BY 1"
        }
    };
    Ok(sqlx::query_scalar(sql).bind(start).bind(start + width_us(span)).fetch_all(conn).await?)
}

/// Computes and writes one chunk of pending rollups of one hour or day; returns how many there were.
async fn roll_up_pending(store: &PostgresStore, span: RollupSpan) -> Result<u64, StoreError> {
    let pending: Vec<PendingRollup> = store
        .read(move |conn| {
            Box::pin(async move {
                let select = "SELECT start, monitor_id, location_id FROM pending_rollups
                     WHERE span = $1 AND monitor_id <> $2 ORDER BY start, monitor_id LIMIT $3";
                Ok(sqlx::query_as(select)
                    .bind(span_code(span))
                    .bind(ALL_MONITORS)
                    .bind(CHUNK_PENDING_ROLLUPS)
                    .fetch_all(conn)
                    .await?)
            })
        })
        .await?;
    let mut by_start: BTreeMap<i64, BTreeSet<Pair>> = BTreeMap::new();
    for &(start, monitor, location) in &pending {
        by_start.entry(start).or_default().insert((monitor, location));
    }
    for (start, pairs) in by_start {
        if span == RollupSpan::Hour {
            store.ensure_rollup_day(start).await?;
        }
        store.write(move |conn| Box::pin(rewrite_pending(conn, span, start, pairs))).await?;
    }
    Ok(pending.len() as u64)
}

/// Computes and writes the pending rollups of `pairs` again. Their marks are removed first: a result that is committed
/// meanwhile sets its mark again.
async fn rewrite_pending(
    conn: &mut PgConnection,
    span: RollupSpan,
    start: i64,
    pairs: BTreeSet<Pair>,
) -> PgResult<()> {
    let (monitors, locations): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    sqlx::query(
        "DELETE FROM pending_rollups AS p USING unnest($3::bigint[], $4::bigint[]) AS k (monitor_id, location_id)
         WHERE p.span = $1 AND p.start = $2 AND p.monitor_id = k.monitor_id AND p.location_id = k.location_id",
    )
    .bind(span_code(span))
    .bind(start)
    .bind(&monitors)
    .bind(&locations)
    .execute(&mut *conn)
    .await?;
    let mut computed = compute_stats(conn, span, start, monitors.clone()).await?;
    computed.retain(|pair, _| pairs.contains(pair));
    let stored = stored::select_stats(conn, span, (start, start + 1), &monitors).await?;
    for ((_, monitor, location), stats) in stored {
        if let Some(stored) = skip_undecodable(stats)?
            && let Some(stats) = computed.get_mut(&(monitor, location))
        {
            stats.sums.restore_browser_figures(&stored.sums);
        }
    }
    write_rollups_and_mark_days(conn, span, start, &computed).await?;
    Ok(())
}

/// Writes the rollups with runs; returns how many there were. Marks the day of a written hour as pending if that day is
/// rolled up already.
async fn write_rollups_and_mark_days(
    conn: &mut PgConnection,
    span: RollupSpan,
    start: i64,
    stats_by_pair: &HashMap<Pair, RollupStats>,
) -> PgResult<u64> {
    let mut rollups: Vec<(Pair, &RollupStats)> = stats_by_pair
        .iter()
        .filter(|(_, stats)| !stats.is_empty())
        .map(|(pair, stats)| (*pair, stats))
        .collect();
    rollups.sort_unstable_by_key(|(pair, _)| *pair);
    stored::replace(conn, span, start, &rollups).await?;
    if span == RollupSpan::Hour {
        let (days_rolled_until, days_complete_from) = rollup_bounds(conn, RollupSpan::Day).await?;
        let day = span_start(RollupSpan::Day, start);
        if day < days_rolled_until && day >= days_complete_from {
            let days = rollups.iter().map(|((monitor, location), _)| (day, *monitor, *location)).collect();
            mark_pending(conn, RollupSpan::Day, days).await?;
        }
    }
    Ok(rollups.len() as u64)
}

/// Computes an hour from results, or a day from its stored hours.
async fn compute_stats(
    conn: &mut PgConnection,
    span: RollupSpan,
    start: i64,
    monitors: Vec<i64>,
) -> PgResult<HashMap<Pair, RollupStats>> {
    match span {
        RollupSpan::Hour => {
            let width = width_us(RollupSpan::Hour);
            let range = ResultRange { monitors, location: None, from: start, until: start + width };
            let stats = result_stats_by_step(conn, &range, width, true).await?;
            Ok(stats.into_iter().map(|((_, pair), stats)| (pair, stats)).collect())
        }
        RollupSpan::Day => stored::merge_hours(conn, start, &monitors).await,
    }
}
