//! Reads pages of results, newest first.

use sqlx::{PgConnection, Postgres, QueryBuilder};

use crate::domain::{Outcome, Timestamp};
use crate::store::contract::{NewestResultQuery, PaginatedResults, Pagination, ResultFilter};
use crate::store::rows::usage_changes::DAY_US;

use super::batch_columns::ResultRowKey;
use super::error::PgResult;
use super::partitions::day_start;
use super::result_counts::count_matching;
use super::result_filter::push_conditions;
use super::result_lookup::results_by_keys;

/// Days that are searched first, so that the server need not look at all partitions.
const FIRST_SEARCHED_DAYS: i64 = 2;
/// Each further search covers this many times the days of the one before.
const SEARCH_GROWTH: i64 = 8;

/// Returns a page of the matching results, newest first, and their number.
pub(super) async fn read_page(
    conn: &mut PgConnection,
    filter: &ResultFilter,
    page: Pagination,
) -> PgResult<PaginatedResults> {
    let total = count_matching(conn, filter).await?;
    let keys = page_keys(conn, filter, page).await?;
    let results = results_by_keys(conn, &keys).await?.into_iter().flatten().collect();
    Ok(PaginatedResults { total, results })
}

/// Returns the keys of the results of a page. Searches the newest days first, then ever more: the newest rows are
/// those of the page whenever there are enough of them.
async fn page_keys(
    conn: &mut PgConnection,
    filter: &ResultFilter,
    page: Pagination,
) -> PgResult<Vec<ResultRowKey>> {
    let offset = i64::try_from(page.offset).unwrap_or(i64::MAX);
    let newest: Option<i64> = sqlx::query_scalar("SELECT max(planned_at) FROM results WHERE planned_at < $1")
        .bind(filter.until.map_or(i64::MAX, Timestamp::as_micros))
        .fetch_one(&mut *conn)
        .await?;
    let Some(newest) = newest else { return Ok(Vec::new()) };
    let mut days = FIRST_SEARCHED_DAYS;
    loop {
        let search_from = day_start(newest).saturating_sub((days - 1).saturating_mul(DAY_US));
        let is_last_search = filter.from.is_some_and(|from| from.as_micros() >= search_from) || days > 4000;
        let mut query = QueryBuilder::<Postgres>::new(
            "SELECT planned_at, monitor_id, location_id FROM results AS r WHERE ",
        );
        push_conditions(&mut query, filter);
        if !is_last_search {
            query.push(" AND r.planned_at >= ").push_bind(search_from);
        }
        query.push(" ORDER BY r.planned_at DESC, r.monitor_id DESC, r.location_id DESC LIMIT ");
        query.push_bind(i64::from(page.limit)).push(" OFFSET ").push_bind(offset);
        let keys: Vec<ResultRowKey> = query.build_query_as().fetch_all(&mut *conn).await?;
        if is_last_search || keys.len() >= page.limit as usize {
            return Ok(keys);
        }
        days = days.saturating_mul(SEARCH_GROWTH);
    }
}

/// Returns the keys of the newest result of a planned run that each of `queries` asks for.
pub(super) async fn newest_keys(
    conn: &mut PgConnection,
    queries: &[NewestResultQuery],
) -> PgResult<Vec<Option<ResultRowKey>>> {
    let monitors: Vec<i64> = queries.iter().map(|query| query.monitor_id.0).collect();
    let locations: Vec<i64> = queries.iter().map(|query| query.location_id.0).collect();
    let until: Vec<i64> =
        queries.iter().map(|query| query.until.map_or(i64::MAX, Timestamp::as_micros)).collect();
    let only_passed: Vec<bool> = queries.iter().map(|query| query.only_passed).collect();
    let passed_codes = [Outcome::Ok, Outcome::Warning].map(|outcome| i64::from(outcome.code()));
    let rows: Vec<(Option<i64>, i64, i64)> = sqlx::query_as(
        "SELECT newest.planned_at, q.monitor_id, q.location_id
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[]) WITH ORDINALITY
             AS q (monitor_id, location_id, until, only_passed, number)
         LEFT JOIN LATERAL (
             SELECT r.planned_at FROM results AS r
             WHERE r.monitor_id = q.monitor_id AND r.location_id = q.location_id AND r.planned_at < q.until
                 AND (NOT q.only_passed OR r.outcome = ANY ($5)) AND NOT r.is_first_check
             ORDER BY r.planned_at DESC LIMIT 1
         ) AS newest ON true
         ORDER BY q.number",
    )
    .bind(monitors)
    .bind(locations)
    .bind(until)
    .bind(only_passed)
    .bind(passed_codes.to_vec())
    .fetch_all(conn)
    .await?;
    let to_key = |(planned_at, monitor, location): (Option<i64>, i64, i64)| {
        planned_at.map(|planned_at| (planned_at, monitor, location))
    };
    Ok(rows.into_iter().map(to_key).collect())
}
