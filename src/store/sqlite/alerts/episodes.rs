//! How episodes are stored.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{CustomerId, EpisodeId, MonitorId, Timestamp};
use crate::store::contract::{EpisodeFilter, Paginated, Pagination, StoredEpisode};

use crate::store::rows::decode::RowLocator;
use crate::store::rows::episode_row::EpisodeRow;
use crate::store::sqlite::decode::json_object_column;
use crate::store::sqlite::paged_query::PagedQuery;

const COLUMNS: &str =
    "id, customer, monitor_id, monitor_name, since, ended_at, acknowledged_by, acknowledged_at, body";

/// Deletes up to `?2` episodes that ended before `?1`.
pub(super) const DELETE_ENDED: &str =
    "DELETE FROM episodes WHERE id IN (SELECT id FROM episodes WHERE ended_at < ?1 LIMIT ?2)";

/// Inserts or updates the episode, but keeps its acknowledgement, which is written separately.
pub(super) fn upsert(conn: &Connection, row: &EpisodeRow) -> rusqlite::Result<()> {
    let StoredEpisode { id, customer, monitor_id, monitor_name, started_at, ended_at, .. } = &row.episode;
    conn.prepare_cached(
        "INSERT INTO episodes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT DO UPDATE SET ended_at = ?6, body = ?9",
    )?
    .execute(params![
        id.0,
        customer.0,
        monitor_id.0,
        monitor_name,
        started_at.as_micros(),
        ended_at.map(Timestamp::as_micros),
        row.episode.acknowledged_by,
        row.episode.acknowledged_at.map(Timestamp::as_micros),
        row.snapshot_json
    ])?;
    Ok(())
}

/// Returns a page of the matching episodes, newest first, and their number.
pub(super) fn read_page(
    conn: &Connection,
    filter: &EpisodeFilter,
    page: Pagination,
) -> rusqlite::Result<Paginated<StoredEpisode>> {
    let (mut conditions, mut values) = (vec!["1"], Vec::new());
    match filter.is_open {
        Some(true) => conditions.push("ended_at IS NULL"),
        Some(false) => conditions.push("ended_at IS NOT NULL"),
        None => {}
    }
    let filters = [
        ("customer = ?", filter.customer.map(|id| id.0)),
        ("monitor_id = ?", filter.monitor.map(|id| id.0)),
        ("(ended_at IS NULL OR ended_at >= ?)", filter.from.map(Timestamp::as_micros)),
        ("since < ?", filter.until.map(Timestamp::as_micros)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(SqlValue::from(value));
        }
    }
    let conditions = conditions.join(" AND ");
    let query = PagedQuery {
        table: "episodes",
        columns: COLUMNS,
        order_by: "since DESC, id DESC",
        conditions,
        values,
    };
    query.fetch(conn, page, episode_from_row)
}

/// Returns an episode of `customer`.
pub(super) fn by_id(
    conn: &Connection,
    customer: CustomerId,
    id: EpisodeId,
) -> rusqlite::Result<Option<StoredEpisode>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM episodes WHERE id = ?1 AND customer = ?2"))?
        .query_row([id.0, customer.0], episode_from_row)
        .optional()
}

/// Acknowledges an open episode; returns whether it was open and not acknowledged yet.
pub(super) fn acknowledge(
    conn: &Connection,
    customer: CustomerId,
    id: EpisodeId,
    login: &str,
    acknowledged_at: Timestamp,
) -> rusqlite::Result<bool> {
    let updated_rows = conn
        .prepare_cached(
            "UPDATE episodes SET acknowledged_by = ?3, acknowledged_at = ?4
             WHERE id = ?1 AND customer = ?2 AND ended_at IS NULL AND acknowledged_at IS NULL",
        )?
        .execute(params![id.0, customer.0, login, acknowledged_at.as_micros()])?;
    Ok(updated_rows == 1)
}

fn episode_from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredEpisode> {
    let optional_time =
        |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_micros));
    let id = row.get(0)?;
    Ok(StoredEpisode {
        id: EpisodeId(id),
        customer: CustomerId(row.get(1)?),
        monitor_id: MonitorId(row.get(2)?),
        monitor_name: row.get(3)?,
        started_at: Timestamp::from_micros(row.get(4)?),
        ended_at: optional_time(5)?,
        acknowledged_by: row.get(6)?,
        acknowledged_at: optional_time(7)?,
        snapshot_fields: json_object_column(
            RowLocator { table: "episodes", key: &[("id", id)] },
            row,
            8,
            "body",
        )?,
    })
}
