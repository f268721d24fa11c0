//! Counts the checks that ran, by day, account, plan, type and location; those of single monitors come from rollups.

use rusqlite::{Connection, params};

use super::rollup::pending_rollups::rollup_bounds;
use super::store::SqliteStore;
use crate::domain::{Outcome, UsageGrouping};
use crate::store::contract::{RollupSpan, StoreFuture, UsageQuery, UsageStore};
use crate::store::rows::usage_changes::UsageChanges;

/// Writes changes of usage, in the transaction that adds the rows.
pub(super) fn write_changes(conn: &Connection, changes: UsageChanges) -> rusqlite::Result<()> {
    let mut upsert = conn.prepare_cached(
        "INSERT INTO usage (customer, day, plan, type, location_id, checks) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET checks = checks + ?6",
    )?;
    for row in changes.into_rows() {
        upsert.execute(params![
            row.customer,
            row.day,
            row.plan,
            row.monitor_type,
            row.location,
            row.checks
        ])?;
    }
    Ok(())
}

fn select_usage(conn: &Connection, query: UsageQuery) -> rusqlite::Result<Vec<(String, u64)>> {
    let column = match query.by {
        UsageGrouping::Plan => "plan",
        UsageGrouping::Type => "type",
        UsageGrouping::Location => "location_id",
        UsageGrouping::Monitor => return select_by_monitor(conn, query),
    };
    conn.prepare_cached(&format!(
        "SELECT CAST({column} AS TEXT), sum(checks) FROM usage WHERE customer = ?1 AND day >= ?2 AND day < ?3
         GROUP BY {column} ORDER BY {column}"
    ))?
    .query_map(params![query.customer.0, query.from.as_micros(), query.until.as_micros()], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?
    .collect()
}

/// Counts whole days, then hours, then what is not rolled up yet.
fn select_by_monitor(conn: &Connection, query: UsageQuery) -> rusqlite::Result<Vec<(String, u64)>> {
    let (from, until) = (query.from.as_micros(), query.until.as_micros());
    let days_until = rollup_bounds(conn, RollupSpan::Day)?.0.clamp(from, until.max(from));
    let hours_until = rollup_bounds(conn, RollupSpan::Hour)?.0.clamp(days_until, until.max(days_until));
    conn.prepare_cached(
        "SELECT CAST(monitor_id AS TEXT), sum(checks) FROM (
             SELECT r.monitor_id, r.ok + r.warning + r.error + r.unknown AS checks
             FROM monitors AS m JOIN rollups AS r ON r.monitor_id = m.id AND r.span = 1
             WHERE m.customer = ?1 AND r.start >= ?2 AND r.start < ?4
             UNION ALL
             SELECT r.monitor_id, r.ok + r.warning + r.error + r.unknown
             FROM monitors AS m JOIN rollups AS r ON r.monitor_id = m.id AND r.span = 0
             WHERE m.customer = ?1 AND r.start >= ?4 AND r.start < ?5
             UNION ALL
             SELECT r.monitor_id, 1 FROM monitors AS m JOIN results AS r ON r.monitor_id = m.id
             WHERE m.customer = ?1 AND r.planned_at >= ?5 AND r.planned_at < ?3 AND r.outcome NOT IN (?6, ?7)
                 AND r.first_check IS NULL
         ) GROUP BY monitor_id HAVING sum(checks) > 0 ORDER BY monitor_id",
    )?
    .query_map(
        params![
            query.customer.0,
            from,
            until,
            days_until,
            hours_until,
            Outcome::Missed.code(),
            Outcome::Blackout.code()
        ],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?
    .collect()
}

impl UsageStore for SqliteStore {
    fn usage(&self, query: UsageQuery) -> StoreFuture<'_, Vec<(String, u64)>> {
        Box::pin(self.readers.call(move |conn| select_usage(conn, query)))
    }
}
