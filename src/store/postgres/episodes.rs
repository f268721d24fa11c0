//! How episodes are stored.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{CustomerId, EpisodeId, MonitorId, Timestamp};
use crate::store::contract::{EpisodeFilter, Paginated, Pagination, StoredEpisode};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::episode_row::EpisodeRow;

use super::error::PgResult;
use super::paged_query::PagedQuery;

const COLUMNS: &str = "id, customer, monitor_id, monitor_name, started_at, ended_at, acknowledged_by,
    acknowledged_at, snapshot_fields";

/// Inserts or updates the episode, but keeps its acknowledgement, which is written separately.
pub(super) async fn upsert(conn: &mut PgConnection, row: &EpisodeRow) -> PgResult<()> {
    let StoredEpisode { id, customer, monitor_id, monitor_name, started_at, ended_at, .. } = &row.episode;
    sqlx::query(
        "INSERT INTO episodes (id, customer, monitor_id, monitor_name, started_at, ended_at, acknowledged_by,
             acknowledged_at, snapshot_fields)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, snapshot_fields = excluded.snapshot_fields",
    )
    .bind(id.0)
    .bind(customer.0)
    .bind(monitor_id.0)
    .bind(monitor_name)
    .bind(started_at.as_micros())
    .bind(ended_at.map(Timestamp::as_micros))
    .bind(&row.episode.acknowledged_by)
    .bind(row.episode.acknowledged_at.map(Timestamp::as_micros))
    .bind(&row.snapshot_json)
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns a page of the matching episodes, newest first, and their number.
pub(super) async fn read_page(
    conn: &mut PgConnection,
    filter: EpisodeFilter,
    page: Pagination,
) -> PgResult<Paginated<StoredEpisode>> {
    let mut query = PagedQuery::new("episodes", COLUMNS, "started_at DESC, id DESC");
    match filter.is_open {
        Some(true) => query.add_condition("ended_at IS NULL"),
        Some(false) => query.add_condition("ended_at IS NOT NULL"),
        None => {}
    }
    query.add_number("customer = ?", filter.customer.map(|id| id.0));
    query.add_number("monitor_id = ?", filter.monitor.map(|id| id.0));
    query.add_number("(ended_at IS NULL OR ended_at >= ?)", filter.from.map(Timestamp::as_micros));
    query.add_number("started_at < ?", filter.until.map(Timestamp::as_micros));
    query.fetch(conn, page, episode_from_row).await
}

/// Returns an episode of `customer`.
pub(super) async fn by_id(
    conn: &mut PgConnection,
    customer: CustomerId,
    id: EpisodeId,
) -> PgResult<Option<StoredEpisode>> {
    let mut query = PagedQuery::new("episodes", COLUMNS, "id");
    query.add_number("id = ?", Some(id.0));
    query.add_number("customer = ?", Some(customer.0));
    query.fetch_first(conn, episode_from_row).await
}

/// Acknowledges an open episode; returns whether it was open and not acknowledged yet.
pub(super) async fn acknowledge(
    conn: &mut PgConnection,
    customer: CustomerId,
    id: EpisodeId,
    login: String,
    acknowledged_at: Timestamp,
) -> PgResult<bool> {
    let updated = sqlx::query(
        "UPDATE episodes SET acknowledged_by = $3, acknowledged_at = $4
         WHERE id = $1 AND customer = $2 AND ended_at IS NULL AND acknowledged_at IS NULL",
    )
    .bind(id.0)
    .bind(customer.0)
    .bind(login)
    .bind(acknowledged_at.as_micros())
    .execute(conn)
    .await?;
    Ok(updated.rows_affected() == 1)
}

fn episode_from_row(row: &PgRow) -> PgResult<StoredEpisode> {
    let optional_time =
        |column: usize| row.try_get::<Option<i64>, _>(column).map(|time| time.map(Timestamp::from_micros));
    let id = row.try_get(0)?;
    let locator = RowLocator { table: "episodes", key: &[("id", id)] };
    Ok(StoredEpisode {
        id: EpisodeId(id),
        customer: CustomerId(row.try_get(1)?),
        monitor_id: MonitorId(row.try_get(2)?),
        monitor_name: row.try_get(3)?,
        started_at: Timestamp::from_micros(row.try_get(4)?),
        ended_at: optional_time(5)?,
        acknowledged_by: row.try_get(6)?,
        acknowledged_at: optional_time(7)?,
        snapshot_fields: locator.parse_json_object(row.try_get(8)?, "body")?,
    })
}
