//! Counts the checks that ran, by day, account, plan, type and location; those of single monitors come from rollups.

use sqlx::{AssertSqlSafe, PgConnection};

use super::error::PgResult;
use super::rollup::pending_rollups::rollup_bounds;
use super::store::PostgresStore;
use crate::domain::{Outcome, UsageGrouping};
use crate::store::contract::{RollupSpan, StoreFuture, UsageQuery, UsageStore};
use crate::store::rows::usage_changes::UsageChanges;

/// Writes changes of usage, in the transaction that adds the rows.
pub(super) async fn write_changes(conn: &mut PgConnection, changes: UsageChanges) -> PgResult<()> {
    let (mut customers, mut days, mut locations, mut checks) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut plans, mut types) = (Vec::new(), Vec::new());
    for row in changes.into_rows() {
        customers.push(row.customer);
        days.push(row.day);
        plans.push(row.plan.to_string());
        types.push(row.monitor_type.to_string());
        locations.push(row.location);
        checks.push(row.checks);
    }
    if days.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO usage AS u (customer, day, plan, type, location_id, checks)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
         ON CONFLICT (customer, day, plan, type, location_id) DO UPDATE SET checks = u.checks + excluded.checks",
    )
    .bind(customers)
    .bind(days)
    .bind(plans)
    .bind(types)
    .bind(locations)
    .bind(checks)
    .execute(conn)
    .await?;
    Ok(())
}

async fn select_usage(conn: &mut PgConnection, query: UsageQuery) -> PgResult<Vec<(String, u64)>> {
    let (column, order) = match query.by {
        UsageGrouping::Plan => ("plan", "plan COLLATE \"C\""),
        UsageGrouping::Type => ("type", "type COLLATE \"C\""),
        UsageGrouping::Location => ("location_id", "location_id"),
        UsageGrouping::Monitor => return select_by_monitor(conn, query).await,
    };
    let sql = format!(
        "SELECT {column}::text, sum(checks)::bigint FROM usage WHERE customer = $1 AND day >= $2 AND day < $3
         GROUP BY {column} ORDER BY usage.{order}"
    );
    let rows: Vec<(String, i64)> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(query.customer.0)
        .bind(query.from.as_micros())
        .bind(query.until.as_micros())
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|(name, checks)| (name, checks.unsigned_abs())).collect())
}

/// Counts whole days, then hours, then what is not rolled up yet.
async fn select_by_monitor(conn: &mut PgConnection, query: UsageQuery) -> PgResult<Vec<(String, u64)>> {
    let (from, until) = (query.from.as_micros(), query.until.as_micros());
    let days_until = rollup_bounds(conn, RollupSpan::Day).await?.0.clamp(from, until.max(from));
    let hours_until = rollup_bounds(conn, RollupSpan::Hour).await?.0.clamp(days_until, until.max(days_until));
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "SELECT monitor_id::text, sum(checks)::bigint FROM (
             SELECT r.monitor_id, r.ok + r.warning + r.error + r.unknown AS checks
             FROM monitors AS m JOIN rollups AS r ON r.monitor_id = m.id AND r.span = 1
             WHERE m.customer = $1 AND r.start >= $2 AND r.start < $4
             UNION ALL
             SELECT r.monitor_id, r.ok + r.warning + r.error + r.unknown
             FROM monitors AS m JOIN rollups AS r ON r.monitor_id = m.id AND r.span = 0
             WHERE m.customer = $1 AND r.start >= $4 AND r.start < $5
             UNION ALL
             SELECT r.monitor_id, count(*) FROM monitors AS m JOIN results AS r ON r.monitor_id = m.id
             WHERE m.customer = $1 AND r.planned_at >= $5 AND r.planned_at < $3
                 AND r.outcome <> $6::bigint AND r.outcome <> $7::bigint AND NOT r.is_first_check
             GROUP BY r.monitor_id
         ) AS checked GROUP BY monitor_id HAVING sum(checks) > 0 ORDER BY checked.monitor_id",
    )
    .bind(query.customer.0)
    .bind(from)
    .bind(until)
    .bind(days_until)
    .bind(hours_until)
    .bind(i64::from(Outcome::Missed.code()))
    .bind(i64::from(Outcome::Blackout.code()))
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(name, checks)| (name, checks.unsigned_abs())).collect())
}

impl UsageStore for PostgresStore {
    fn usage(&self, query: UsageQuery) -> StoreFuture<'_, Vec<(String, u64)>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(select_usage(conn, query))))
    }
}
