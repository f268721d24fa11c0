//! The audit trail.

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params};

use crate::domain::Timestamp;
use crate::store::contract::{AuditEntry, AuditFilter, AuditObject, AuditRow, Entries, Listed, Page};

use super::decode::Place;
use super::decode::map;
use super::list::List;

/// Entries that one transaction removes at most.
const CHUNK: i64 = 1000;

const COLUMNS: &str = "id, at, login, address, via, action, object, object_id, object_name, before, after";

/// Keeps `entry`, which is about the object `about`.
pub(super) fn keep(conn: &Connection, entry: &AuditEntry, about: Option<i64>) -> rusqlite::Result<()> {
    let json = |map| serde_json::to_string(map).unwrap_or_else(|_| "{}".to_owned());
    conn.prepare_cached(
        "INSERT INTO audit (customer, at, login, address, via, action, object, object_id, object_name, before,
             after)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        entry.customer.0,
        entry.at.as_micros(),
        entry.login,
        entry.address,
        entry.via,
        entry.action,
        entry.object,
        about,
        entry.object_name,
        json(&entry.before),
        json(&entry.after)
    ])?;
    Ok(())
}

/// Keeps `entries` about what has a number already.
pub(super) fn keep_all(conn: &Connection, entries: &Entries) -> rusqlite::Result<()> {
    for entry in (0..).map_while(entries) {
        let about = match entry.object_id {
            AuditObject::Id(id) => Some(id),
            AuditObject::Created(_) | AuditObject::None => None,
        };
        keep(conn, &entry, about)?;
    }
    Ok(())
}

/// Of the entries behind the number `after`, looks at the `CHUNK` oldest and removes those from before `cut`;
/// answers the last number that it looked at, and how many went.
pub(super) fn remove_old(conn: &Connection, after: i64, cut: i64) -> rusqlite::Result<(i64, u64)> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(id) FROM (SELECT id FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2)")?
        .query_row([after, CHUNK], |row| row.get(0))?;
    let Some(last) = last else { return Ok((after, 0)) };
    let mut removal = conn.prepare_cached("DELETE FROM audit WHERE id > ?1 AND id <= ?2 AND at < ?3")?;
    Ok((last, removal.execute([after, last, cut])? as u64))
}

/// The entries in `page` of those that match, newest first, and how many do.
pub(super) fn page(
    conn: &Connection,
    filter: &AuditFilter,
    page: Page,
) -> rusqlite::Result<Listed<AuditRow>> {
    let (mut conditions, mut values) = (vec!["1"], Vec::new());
    let asked = [
        ("customer = ?", filter.customer.map(|id| Sql::from(id.0))),
        ("login = ?", filter.login.clone().map(Sql::from)),
        ("object = ?", filter.object.clone().map(Sql::from)),
        ("object_id = ?", filter.object_id.map(Sql::from)),
        ("at >= ?", filter.from.map(|from| Sql::from(from.as_micros()))),
        ("at < ?", filter.thru.map(|thru| Sql::from(thru.as_micros()))),
    ];
    for (condition, value) in asked {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(value);
        }
    }
    let conditions = conditions.join(" AND ");
    List { table: "audit", columns: COLUMNS, order: "id DESC", conditions, values }.read(conn, page, entry)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    let id = row.get(0)?;
    let place = Place { table: "audit", key: &[("id", id)] };
    Ok(AuditRow {
        id,
        at: Timestamp::from_micros(row.get(1)?),
        login: row.get(2)?,
        address: row.get(3)?,
        via: row.get(4)?,
        action: row.get(5)?,
        object: row.get(6)?,
        object_id: row.get(7)?,
        object_name: row.get(8)?,
        before: map(row, place, 9, "before")?,
        after: map(row, place, 10, "after")?,
    })
}
