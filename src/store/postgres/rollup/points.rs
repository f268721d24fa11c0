//! Reads statistics by minute, hour or day. What is not rolled up yet, and minutes always, are computed from results.

use std::collections::BTreeMap;

use sqlx::PgConnection;

use crate::domain::{LocationId, Paginated, Pagination, Rollup, RollupQuery, RollupStep, Timestamp};
use crate::store::contract::RollupSpan;
use crate::store::postgres::error::PgResult;
use crate::store::rows::rollup::span::{ceil_step, span_code};
use crate::store::rows::rollup::stats::RollupStats;

use super::pending_rollups::rollup_bounds;
use super::result_stats::{ResultRange, result_stats_by_step};
use super::stored;
use crate::store::rows::rollup::rolled_up_hours::ALL_MONITORS;

/// Start of a step, and a location.
type PointKey = (i64, i64);
type Points = BTreeMap<PointKey, RollupStats>;

/// Returns one page of the points that `query` selects; `None` when the account has no such monitor.
pub(in crate::store::postgres) async fn select_points(
    conn: &mut PgConnection,
    query: &RollupQuery,
    page: Pagination,
) -> PgResult<Option<Paginated<Rollup>>> {
    let has_monitor: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM monitors WHERE id = $1 AND customer = coalesce($2, customer))",
    )
    .bind(query.monitor_id.0)
    .bind(query.customer.map(|customer| customer.0))
    .fetch_one(&mut *conn)
    .await?;
    if !has_monitor {
        return Ok(None);
    }
    let points = points(conn, query).await?;
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let items = points
        .iter()
        .skip(offset)
        .take(page.limit as usize)
        .map(|((start, location), stats)| {
            stats.to_rollup(query.monitor_id, LocationId(*location), Timestamp::from_micros(*start))
        })
        .collect();
    Ok(Some(Paginated { total: points.len() as u64, items }))
}

/// Returns the points with runs, by time and location.
async fn points(conn: &mut PgConnection, query: &RollupQuery) -> PgResult<Points> {
    let step = query.step;
    let [from, until] = [query.from, query.until].map(|time| ceil_step(step, time.as_micros()));
    match step {
        RollupStep::Minute => result_points(conn, query, step, from, until).await,
        RollupStep::Hour => hour_points(conn, query, from, until).await,
        RollupStep::Day => {
            let days_stored_until = stored_until(conn, RollupSpan::Day).await?;
            let mut points = stored_points(conn, query, RollupSpan::Day, from, until).await?;
            let hours = hour_points(conn, query, from.max(days_stored_until), until).await?;
            let mut unstored_days = Points::new();
            for ((hour, location), stats) in hours {
                let day = step.start_of(Timestamp::from_micros(hour)).as_micros();
                unstored_days.entry((day, location)).or_default().merge(&stats);
            }
            for (key, stats) in unstored_days {
                points.entry(key).or_insert(stats);
            }
            Ok(points)
        }
    }
}

/// Returns the hours with runs: stored rollups, then results that are not rolled up yet.
async fn hour_points(
    conn: &mut PgConnection,
    query: &RollupQuery,
    from: i64,
    until: i64,
) -> PgResult<Points> {
    let hours_stored_until = stored_until(conn, RollupSpan::Hour).await?;
    let mut points = stored_points(conn, query, RollupSpan::Hour, from, until).await?;
    let unstored_from = from.max(hours_stored_until);
    for (key, stats) in result_points(conn, query, RollupStep::Hour, unstored_from, until).await? {
        points.entry(key).or_insert(stats);
    }
    Ok(points)
}

async fn stored_points(
    conn: &mut PgConnection,
    query: &RollupQuery,
    span: RollupSpan,
    from: i64,
    until: i64,
) -> PgResult<Points> {
    let mut points = Points::new();
    for ((start, _, location), stats) in
        stored::select_stats(conn, span, (from, until), &[query.monitor_id.0]).await?
    {
        if query.location.is_none_or(|queried| queried.0 == location) {
            points.insert((start, location), stats?);
        }
    }
    Ok(points)
}

/// Computes the points of `from..until` from results.
async fn result_points(
    conn: &mut PgConnection,
    query: &RollupQuery,
    step: RollupStep,
    from: i64,
    until: i64,
) -> PgResult<Points> {
    if from >= until {
        return Ok(Points::new());
    }
    let monitors = vec![query.monitor_id.0];
    let range = ResultRange { monitors, location: query.location.map(|location| location.0), from, until };
    let stats = result_stats_by_step(conn, &range, step.width_us(), query.with_browser_figures).await?;
    Ok(stats.into_iter().map(|((start, (_, location)), stats)| ((start, location), stats)).collect())
}

/// Returns the time before which all hours or days are stored. Those that are being written are not.
async fn stored_until(conn: &mut PgConnection, span: RollupSpan) -> PgResult<i64> {
    let (rolled_until, _) = rollup_bounds(conn, span).await?;
    let first_unwritten: Option<i64> =
        sqlx::query_scalar("SELECT min(start) FROM pending_rollups WHERE span = $1 AND monitor_id = $2")
            .bind(span_code(span))
            .bind(ALL_MONITORS)
            .fetch_one(conn)
            .await?;
    Ok(rolled_until.min(first_unwritten.unwrap_or(i64::MAX)))
}
