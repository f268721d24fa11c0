//! Converts a filter of results to SQL.

use sqlx::{Postgres, QueryBuilder};

use crate::domain::{Outcome, Timestamp};
use crate::store::contract::ResultFilter;

/// Adds the conditions for rows of `results AS r`.
pub(super) fn push_conditions(query: &mut QueryBuilder<Postgres>, filter: &ResultFilter) {
    query.push("true");
    if !filter.monitors.is_empty() {
        let ids: Vec<i64> = filter.monitors.iter().map(|id| id.0).collect();
        query.push(" AND r.monitor_id = ANY (").push_bind(ids).push(")");
    }
    if let Some(customer) = filter.customer {
        query
            .push(" AND EXISTS (SELECT 1 FROM monitors AS m WHERE m.id = r.monitor_id AND m.customer = ")
            .push_bind(customer.0)
            .push(")");
    }
    let filters = [
        (" AND r.location_id = ", filter.location.map(|id| id.0)),
        (" AND r.planned_at >= ", filter.from.map(Timestamp::as_micros)),
        (" AND r.planned_at < ", filter.until.map(Timestamp::as_micros)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            query.push(condition).push_bind(value);
        }
    }
    if !filter.outcomes.is_empty() {
        // Codes come from Vigie, not from users.
        let outcome_codes: Vec<String> =
            filter.outcomes.iter().map(|outcome| outcome.code().to_string()).collect();
        query.push(format_args!(" AND r.outcome IN ({})", outcome_codes.join(", ")));
        if !filter.outcomes.contains(&Outcome::Ok) {
            // Allows the index of results that are not ok.
            query.push(" AND r.outcome <> 0");
        }
    }
}
