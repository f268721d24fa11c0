//! Counts of results by minute, since counting millions of rows for each page would take seconds.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use crate::store::contract::ResultFilter;
use crate::store::rows::count_changes::{CountChanges, CountParts};

use super::result_filter::where_clause;

/// Writes changes of counts, in the transaction that changes the rows.
pub(super) fn write_changes(conn: &Connection, changes: CountChanges) -> rusqlite::Result<()> {
    let mut upsert = conn.prepare_cached(
        "INSERT INTO counts VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET rows = rows + ?5",
    )?;
    let mut delete_empty = conn.prepare_cached(
        "DELETE FROM counts
         WHERE minute = ?1 AND customer = ?2 AND location_id = ?3 AND outcome = ?4 AND rows <= 0",
    )?;
    for [minute, customer, location, outcome, rows] in changes.into_rows() {
        upsert.execute([minute, customer, location, outcome, rows])?;
        if rows < 0 {
            delete_empty.execute([minute, customer, location, outcome])?;
        }
    }
    Ok(())
}

/// Counts the results that match `filter`.
pub(super) fn count_matching(conn: &Connection, filter: &ResultFilter) -> rusqlite::Result<i64> {
    let CountParts { minutes, row_ranges } = CountParts::of(filter);
    let mut count = 0;
    if let Some((from, until)) = minutes {
        count += count_by_minute(conn, filter, from, until)?;
    }
    for planned_range in row_ranges {
        count += count_rows(conn, filter, planned_range)?;
    }
    Ok(count)
}

fn count_by_minute(conn: &Connection, filter: &ResultFilter, from: i64, until: i64) -> rusqlite::Result<i64> {
    let location = filter.location.map(|id| id.0);
    let outcome_codes: Vec<i64> = filter.outcomes.iter().map(|outcome| i64::from(outcome.code())).collect();
    let outcome_codes =
        (!outcome_codes.is_empty()).then(|| serde_json::Value::from(outcome_codes).to_string());
    conn.prepare_cached(
        "SELECT ifnull(sum(rows), 0) FROM counts WHERE minute >= ?1 AND minute < ?2
         AND (?3 IS NULL OR location_id = ?3)
         AND (?4 IS NULL OR outcome IN (SELECT value FROM json_each(?4)))
         AND (?5 IS NULL OR customer = ?5)",
    )?
    .query_row(params![from, until, location, outcome_codes, filter.customer.map(|id| id.0)], |row| {
        row.get(0)
    })
}

/// Counts matching rows, limited to those planned in `planned_range`.
fn count_rows(
    conn: &Connection,
    filter: &ResultFilter,
    planned_range: Option<(i64, i64)>,
) -> rusqlite::Result<i64> {
    let (mut conditions, mut values) = where_clause(conn, filter)?;
    if let Some((first, end)) = planned_range {
        conditions.push_str(" AND planned_at >= ? AND planned_at < ?");
        values.extend([Value::from(first), Value::from(end)]);
    }
    conn.prepare_cached(&format!("SELECT count(*) FROM results WHERE {conditions}"))?
        .query_row(params_from_iter(&values), |row| row.get(0))
}
