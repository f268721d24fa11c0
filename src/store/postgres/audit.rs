//! The stored audit trail.

use serde_json::{Map, Value};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::Timestamp;
use crate::store::contract::{
    AuditEntry, AuditEntryByIndex, AuditFilter, AuditObject, NewAuditEntry, Paginated, Pagination,
};
use crate::store::rows::decode::RowLocator;

use super::error::PgResult;
use super::paged_query::{BoundValue, PagedQuery};

/// Entries that one statement inserts.
const CHUNK_ENTRIES: usize = 1000;

const COLUMNS: &str =
    "id, occurred_at, login, address, entry_point, action, object_kind, object_id, object_name,
    before, after";

/// Inserts entries, each about the object with the id beside it.
pub(super) async fn insert(
    conn: &mut PgConnection,
    entries: &[(NewAuditEntry, Option<i64>)],
) -> PgResult<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let texts = |value: fn(&NewAuditEntry) -> &str| -> Vec<&str> {
        entries.iter().map(|(entry, _)| value(entry)).collect()
    };
    let json = |value: fn(&NewAuditEntry) -> &Map<String, Value>| -> Vec<String> {
        let to_json = |map| serde_json::to_string(map).unwrap_or_else(|_| "{}".to_owned());
        entries.iter().map(|(entry, _)| to_json(value(entry))).collect()
    };
    let customers: Vec<i64> = entries.iter().map(|(entry, _)| entry.customer.0).collect();
    let times: Vec<i64> = entries.iter().map(|(entry, _)| entry.occurred_at.as_micros()).collect();
    let object_ids: Vec<Option<i64>> = entries.iter().map(|(_, object_id)| *object_id).collect();
    sqlx::query(
        "INSERT INTO audit_entries (customer, occurred_at, login, address, entry_point, action, object_kind, object_id,
             object_name, before, after)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[],
             $7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[])",
    )
    .bind(customers)
    .bind(times)
    .bind(texts(|entry| &entry.login))
    .bind(texts(|entry| &entry.address))
    .bind(texts(|entry| entry.entry_point))
    .bind(texts(|entry| entry.action))
    .bind(texts(|entry| entry.object_kind))
    .bind(object_ids)
    .bind(texts(|entry| &entry.object_name))
    .bind(json(|entry| &entry.before))
    .bind(json(|entry| &entry.after))
    .execute(conn)
    .await?;
    Ok(())
}

/// Inserts `entries` about objects that have ids already.
pub(super) async fn insert_all(conn: &mut PgConnection, entries: AuditEntryByIndex) -> PgResult<()> {
    let mut next_index = 0;
    loop {
        let chunk: Vec<(NewAuditEntry, Option<i64>)> = (next_index..next_index + CHUNK_ENTRIES)
            .map_while(&entries)
            .map(|entry| {
                let object_id = match entry.object_id {
                    AuditObject::Id(id) => Some(id),
                    AuditObject::CreatedInThisCall(_) | AuditObject::None => None,
                };
                (entry, object_id)
            })
            .collect();
        insert(conn, &chunk).await?;
        if chunk.len() < CHUNK_ENTRIES {
            return Ok(());
        }
        next_index += CHUNK_ENTRIES;
    }
}

/// Returns a page of the matching entries, newest first, and their number.
pub(super) async fn read_page(
    conn: &mut PgConnection,
    filter: AuditFilter,
    page: Pagination,
) -> PgResult<Paginated<AuditEntry>> {
    let mut query = PagedQuery::new("audit_entries", COLUMNS, "id DESC");
    query.add_number("customer = ?", filter.customer.map(|id| id.0));
    if let Some(login) = filter.login {
        query.add("login = ?", BoundValue::Text(Some(login)));
    }
    if let Some(object_kind) = filter.object_kind {
        query.add("object_kind = ?", BoundValue::Text(Some(object_kind)));
    }
    query.add_number("object_id = ?", filter.object_id);
    query.add_number("occurred_at >= ?", filter.from.map(Timestamp::as_micros));
    query.add_number("occurred_at < ?", filter.until.map(Timestamp::as_micros));
    query.fetch(conn, page, entry_from_row).await
}

fn entry_from_row(row: &PgRow) -> PgResult<AuditEntry> {
    let id = row.try_get(0)?;
    let locator = RowLocator { table: "audit", key: &[("id", id)] };
    Ok(AuditEntry {
        id,
        occurred_at: Timestamp::from_micros(row.try_get(1)?),
        login: row.try_get(2)?,
        address: row.try_get(3)?,
        entry_point: row.try_get(4)?,
        action: row.try_get(5)?,
        object_kind: row.try_get(6)?,
        object_id: row.try_get(7)?,
        object_name: row.try_get(8)?,
        before: locator.parse_json_object(row.try_get(9)?, "before")?,
        after: locator.parse_json_object(row.try_get(10)?, "after")?,
    })
}
