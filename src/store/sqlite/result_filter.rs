//! Converts a filter of results to SQL.

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::domain::{CustomerId, Outcome, Timestamp};
use crate::store::contract::ResultFilter;

/// Returns the SQL conditions for rows of `results`, and the values that they bind.
pub(super) fn where_clause(
    conn: &Connection,
    filter: &ResultFilter,
) -> rusqlite::Result<(String, Vec<Value>)> {
    let mut conditions = vec!["1".to_owned()];
    let mut values = Vec::new();
    match filter.monitors.as_slice() {
        [] => {}
        [monitor] => {
            conditions.push("monitor_id = ?".to_owned());
            values.push(Value::from(monitor.0));
        }
        monitors => {
            conditions.push("monitor_id IN (SELECT value FROM json_each(?))".to_owned());
            let ids: Vec<i64> = monitors.iter().map(|id| id.0).collect();
            values.push(Value::from(serde_json::Value::from(ids).to_string()));
        }
    }
    if let Some(customer) = filter.customer {
        conditions.push(if has_few_monitors(conn, customer)? {
            CUSTOMER_BY_MONITOR_IDS.to_owned()
        } else {
            CUSTOMER_BY_EXISTS.to_owned()
        });
        values.push(Value::from(customer.0));
    }
    let filters = [
        ("location_id = ?", filter.location.map(|id| id.0)),
        ("planned_at >= ?", filter.from.map(Timestamp::as_micros)),
        ("planned_at < ?", filter.until.map(Timestamp::as_micros)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            conditions.push(condition.to_owned());
            values.push(Value::from(value));
        }
    }
    if !filter.outcomes.is_empty() {
        // Codes come from Vigie, not from users.
        let outcome_codes: Vec<String> =
            filter.outcomes.iter().map(|outcome| outcome.code().to_string()).collect();
        conditions.push(format!("outcome IN ({})", outcome_codes.join(", ")));
        if !filter.outcomes.contains(&Outcome::Ok) {
            // Allows SQLite to use the index of results that are not ok.
            conditions.push("outcome <> 0".to_owned());
        }
    }
    Ok((conditions.join(" AND "), values))
}

/// The results of an account with up to this many monitors are looked up monitor by monitor.
const MAX_FEW_MONITORS: i64 = 100;
const CUSTOMER_BY_MONITOR_IDS: &str = "monitor_id IN (SELECT id FROM monitors WHERE customer = ?)";
/// Makes SQLite scan in time order and stop when the page is full; with the other condition it would sort all rows
/// first.
const CUSTOMER_BY_EXISTS: &str =
    "EXISTS (SELECT 1 FROM monitors AS m WHERE m.id = results.monitor_id AND m.customer = ?)";

fn has_few_monitors(conn: &Connection, customer: CustomerId) -> rusqlite::Result<bool> {
    let monitor_count: i64 = conn
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM monitors WHERE customer = ?1 LIMIT ?2)")?
        .query_row([customer.0, MAX_FEW_MONITORS + 1], |row| row.get(0))?;
    Ok(monitor_count <= MAX_FEW_MONITORS)
}
