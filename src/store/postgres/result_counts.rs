//! Counts of results by minute.

use sqlx::{PgConnection, Postgres, QueryBuilder};

use crate::store::contract::ResultFilter;
use crate::store::rows::count_changes::{CountChanges, CountParts};

use super::error::PgResult;
use super::result_filter::push_conditions;

/// Writes changes of counts, in the transaction that changes the rows.
pub(super) async fn write_changes(conn: &mut PgConnection, changes: CountChanges) -> PgResult<()> {
    let mut columns: [Vec<i64>; 5] = Default::default();
    let mut has_negative = false;
    for row in changes.into_rows() {
        has_negative |= row[4] < 0;
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    if columns[0].is_empty() {
        return Ok(());
    }
    let [minutes, customers, locations, outcomes, deltas] = columns;
    // Rows come in the order of the key, so that concurrent writers lock them in the same order.
    sqlx::query(
        "INSERT INTO result_counts AS c (minute, customer, location_id, outcome, row_count)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
         ON CONFLICT (minute, customer, location_id, outcome)
         DO UPDATE SET row_count = c.row_count + excluded.row_count",
    )
    .bind(&minutes)
    .bind(&customers)
    .bind(&locations)
    .bind(&outcomes)
    .bind(&deltas)
    .execute(&mut *conn)
    .await?;
    if has_negative {
        sqlx::query("DELETE FROM result_counts WHERE minute = ANY ($1) AND row_count <= 0")
            .bind(&minutes)
            .execute(conn)
            .await?;
    }
    Ok(())
}

/// Counts the results that match `filter`.
pub(super) async fn count_matching(conn: &mut PgConnection, filter: &ResultFilter) -> PgResult<u64> {
    let CountParts { minutes, row_ranges } = CountParts::of(filter);
    let mut count = 0;
    if let Some((from, until)) = minutes {
        count += count_by_minute(conn, filter, from, until).await?;
    }
    for planned_range in row_ranges {
        count += count_rows(conn, filter, planned_range).await?;
    }
    Ok(count)
}

async fn count_by_minute(
    conn: &mut PgConnection,
    filter: &ResultFilter,
    from: i64,
    until: i64,
) -> PgResult<u64> {
    let outcome_codes: Vec<i64> = filter.outcomes.iter().map(|outcome| i64::from(outcome.code())).collect();
    let count: i64 = sqlx::query_scalar(
        "SELECT coalesce(sum(row_count), 0)::bigint FROM result_counts WHERE minute >= $1 AND minute < $2
         AND ($3::bigint IS NULL OR location_id = $3)
         AND ($4::bigint[] IS NULL OR outcome = ANY ($4))
         AND ($5::bigint IS NULL OR customer = $5)",
    )
    .bind(from)
    .bind(until)
    .bind(filter.location.map(|id| id.0))
    .bind((!outcome_codes.is_empty()).then_some(outcome_codes))
    .bind(filter.customer.map(|id| id.0))
    .fetch_one(conn)
    .await?;
    Ok(count.unsigned_abs())
}

/// Counts matching rows, limited to those planned in `planned_range`.
async fn count_rows(
    conn: &mut PgConnection,
    filter: &ResultFilter,
    planned_range: Option<(i64, i64)>,
) -> PgResult<u64> {
    let mut query = QueryBuilder::<Postgres>::new("SELECT count(*) FROM results AS r WHERE ");
    push_conditions(&mut query, filter);
    if let Some((first, end)) = planned_range {
        query.push(" AND r.planned_at >= ").push_bind(first).push(" AND r.planned_at < ").push_bind(end);
    }
    let count: i64 = query.build_query_scalar().fetch_one(conn).await?;
    Ok(count.unsigned_abs())
}
