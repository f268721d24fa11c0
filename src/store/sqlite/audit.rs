//! The stored audit trail.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, Row, params};

use crate::domain::Timestamp;
use crate::store::contract::{
    AuditEntry, AuditEntryByIndex, AuditFilter, AuditObject, NewAuditEntry, Paginated, Pagination,
};

use super::decode::json_object_column;
use super::paged_query::PagedQuery;
use crate::store::rows::decode::RowLocator;

/// Most entries that one transaction removes.
const DELETE_CHUNK_ROWS: i64 = 1000;

const COLUMNS: &str = "id, at, login, address, via, action, object, object_id, object_name, before, after";

/// Inserts `entry` about the object with the id `object_id`.
pub(super) fn insert(
    conn: &Connection,
    entry: &NewAuditEntry,
    object_id: Option<i64>,
) -> rusqlite::Result<()> {
    let to_json = |map| serde_json::to_string(map).unwrap_or_else(|_| "{}".to_owned());
    conn.prepare_cached(
        "INSERT INTO audit (customer, at, login, address, via, action, object, object_id, object_name, before,
             after)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        entry.customer.0,
        entry.occurred_at.as_micros(),
        entry.login,
        entry.address,
        entry.entry_point,
        entry.action,
        entry.object_kind,
        object_id,
        entry.object_name,
        to_json(&entry.before),
        to_json(&entry.after)
    ])?;
    Ok(())
}

/// Inserts `entries` about objects that have ids already.
pub(super) fn insert_all(conn: &Connection, entries: &AuditEntryByIndex) -> rusqlite::Result<()> {
    for entry in (0..).map_while(entries) {
        let object_id = match entry.object_id {
            AuditObject::Id(id) => Some(id),
            AuditObject::CreatedInThisCall(_) | AuditObject::None => None,
        };
        insert(conn, &entry, object_id)?;
    }
    Ok(())
}

/// Of the `DELETE_CHUNK_ROWS` oldest entries after `after_id`, removes those before `cutoff_us`; returns the last id
/// that was read, and how many were removed.
pub(super) fn remove_old(conn: &Connection, after_id: i64, cutoff_us: i64) -> rusqlite::Result<(i64, u64)> {
    let last_id: Option<i64> = conn
        .prepare_cached("SELECT max(id) FROM (SELECT id FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2)")?
        .query_row([after_id, DELETE_CHUNK_ROWS], |row| row.get(0))?;
    let Some(last_id) = last_id else { return Ok((after_id, 0)) };
    let mut delete = conn.prepare_cached("DELETE FROM audit WHERE id > ?1 AND id <= ?2 AND at < ?3")?;
    Ok((last_id, delete.execute([after_id, last_id, cutoff_us])? as u64))
}

/// Returns a page of the matching entries, newest first, and their number.
pub(super) fn read_page(
    conn: &Connection,
    filter: &AuditFilter,
    page: Pagination,
) -> rusqlite::Result<Paginated<AuditEntry>> {
    let (mut conditions, mut values) = (vec!["1"], Vec::new());
    let filters = [
        ("customer = ?", filter.customer.map(|id| SqlValue::from(id.0))),
        ("login = ?", filter.login.clone().map(SqlValue::from)),
        ("object = ?", filter.object_kind.clone().map(SqlValue::from)),
        ("object_id = ?", filter.object_id.map(SqlValue::from)),
        ("at >= ?", filter.from.map(|from| SqlValue::from(from.as_micros()))),
        ("at < ?", filter.until.map(|until| SqlValue::from(until.as_micros()))),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(value);
        }
    }
    let conditions = conditions.join(" AND ");
    PagedQuery { table: "audit", columns: COLUMNS, order_by: "id DESC", conditions, values }.fetch(
        conn,
        page,
        entry_from_row,
    )
}

fn entry_from_row(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    let id = row.get(0)?;
    let locator = RowLocator { table: "audit", key: &[("id", id)] };
    Ok(AuditEntry {
        id,
        occurred_at: Timestamp::from_micros(row.get(1)?),
        login: row.get(2)?,
        address: row.get(3)?,
        entry_point: row.get(4)?,
        action: row.get(5)?,
        object_kind: row.get(6)?,
        object_id: row.get(7)?,
        object_name: row.get(8)?,
        before: json_object_column(locator, row, 9, "before")?,
        after: json_object_column(locator, row, 10, "after")?,
    })
}
