//! Stored records: users, blackouts, properties and others.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, Revision, Timestamp};
use crate::store::contract::{ConfigRecordFilter, Paginated, Pagination, StoreError};

use super::change_error::{ChangeError, to_change_error};
use super::paged_query::PagedQuery;
use super::{hosts, tokens};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::record_row::{NewRecordRow, UpdatedRecordRow};
use crate::store::sqlite::decode::{json_object_column, text_column};

const COLUMNS: &str =
    "id, kind, customer, assoc, unique_text, revision, created_at, created_by, modified_at, fields, private";

/// Inserts a new record; returns its id.
pub(super) fn insert(conn: &Connection, row: &NewRecordRow) -> Result<i64, ChangeError> {
    let record = &row.record;
    let id = conn
        .prepare_cached(
            "INSERT INTO records (kind, customer, assoc, unique_text, revision, created_at, created_by,
                 modified_at, fields, private)
             VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?5, ?7, ?8)",
        )?
        .insert(params![
            record.kind.name(),
            record.customer.map(|customer| customer.0),
            record.parent_id,
            record.unique_key,
            record.created_at.as_micros(),
            record.created_by,
            row.fields_json,
            record.private_data
        ])
        .map_err(|error| to_change_error(error, record.unique_key.as_deref()))?;
    if record.customer.is_none() {
        conn.prepare_cached("UPDATE records SET customer = id WHERE id = ?1")?.execute([id])?;
    }
    Ok(id)
}

/// Replaces the revision `expected_revision` of a record. Kind, account, creator and creation time stay the same.
pub(super) fn update(
    conn: &Connection,
    row: &UpdatedRecordRow,
    expected_revision: Revision,
) -> Result<(), ChangeError> {
    let record = &row.record;
    let changed = conn
        .prepare_cached(
            "UPDATE records SET assoc = ?3, unique_text = ?4, revision = ?5, modified_at = ?6, fields = ?7,
                 private = ?8
             WHERE id = ?1 AND kind = ?2 AND revision = ?9",
        )?
        .execute(params![
            record.id,
            record.kind.name(),
            record.parent_id,
            record.unique_key,
            record.revision.0,
            record.modified_at.as_micros(),
            row.fields_json,
            record.private_data,
            expected_revision.0
        ])
        .map_err(|error| to_change_error(error, record.unique_key.as_deref()))?;
    if changed == 0 { Err(ChangeError::Rejected(StoreError::Stale)) } else { Ok(()) }
}

/// Removes the revision `expected_revision` of a record, for a user also its tokens; returns whether it existed.
pub(super) fn delete(
    conn: &Connection,
    kind: ConfigRecordKind,
    id: i64,
    expected_revision: Revision,
) -> rusqlite::Result<bool> {
    let removed = conn
        .prepare_cached("DELETE FROM records WHERE id = ?1 AND kind = ?2 AND revision = ?3")?
        .execute(params![id, kind.name(), expected_revision.0])?;
    if removed > 0 && kind == ConfigRecordKind::User {
        tokens::delete_for_user(conn, id)?;
    }
    if removed > 0 && kind == ConfigRecordKind::Host {
        hosts::delete_host(conn, id)?;
    }
    Ok(removed > 0)
}

/// Returns a record.
pub(super) fn by_id(
    conn: &Connection,
    kind: ConfigRecordKind,
    id: i64,
) -> rusqlite::Result<Option<ConfigRecord>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM records WHERE id = ?1 AND kind = ?2"))?
        .query_row(params![id, kind.name()], record_from_row)
        .optional()
}

/// Returns the record of `kind` with this unique key.
pub(super) fn by_unique_key(
    conn: &Connection,
    kind: ConfigRecordKind,
    unique_key: &str,
) -> rusqlite::Result<Option<ConfigRecord>> {
    conn.prepare_cached(&format!("SELECT {COLUMNS} FROM records WHERE kind = ?1 AND unique_text = ?2"))?
        .query_row(params![kind.name(), unique_key], record_from_row)
        .optional()
}

/// Returns a page of the matching records, ordered by id, and their number.
pub(super) fn read_page(
    conn: &Connection,
    filter: &ConfigRecordFilter,
    page: Pagination,
) -> rusqlite::Result<Paginated<ConfigRecord>> {
    let (conditions, values) = where_clause(filter);
    PagedQuery { table: "records", columns: COLUMNS, order_by: "id", conditions, values }.fetch(
        conn,
        page,
        record_from_row,
    )
}

fn where_clause(filter: &ConfigRecordFilter) -> (String, Vec<SqlValue>) {
    let mut conditions = vec!["kind = ?"];
    let mut values = vec![SqlValue::from(filter.kind.name().to_owned())];
    let filters = [
        ("customer = ?", filter.customer.map(|id| id.0)),
        ("created_at >= ?", filter.from.map(Timestamp::as_micros)),
        ("created_at < ?", filter.until.map(Timestamp::as_micros)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(SqlValue::from(value));
        }
    }
    if !filter.parent_ids.is_empty() {
        conditions.push("assoc IN (SELECT value FROM json_each(?))");
        values.push(SqlValue::from(Value::from(filter.parent_ids.clone()).to_string()));
    }
    for (field_name, value) in &filter.field_values {
        // Field names come from Vigie, not from users.
        conditions.push("json_extract(fields, ?) IS ?");
        values.push(SqlValue::from(format!("$.\"{field_name}\"")));
        values.push(to_sql_value(value));
    }
    (conditions.join(" AND "), values)
}

/// Converts `value` to the form that `json_extract` returns.
fn to_sql_value(value: &Value) -> SqlValue {
    match value {
        Value::Null => SqlValue::Null,
        Value::Bool(flag) => SqlValue::from(*flag),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| SqlValue::from(number.as_f64()), SqlValue::from)
        }
        Value::String(text) => SqlValue::from(text.clone()),
        Value::Array(_) | Value::Object(_) => SqlValue::from(value.to_string()),
    }
}

fn record_from_row(row: &Row<'_>) -> rusqlite::Result<ConfigRecord> {
    let id = row.get(0)?;
    let locator = RowLocator { table: "records", key: &[("id", id)] };
    let kind = text_column(locator, row, 1, "kind")?.unwrap_or_default();
    Ok(ConfigRecord {
        id,
        kind: locator.require_decoded("kind", kind, ConfigRecordKind::from_name(kind))?,
        customer: CustomerId(row.get::<_, Option<i64>>(2)?.unwrap_or(id)),
        parent_id: row.get(3)?,
        unique_key: row.get(4)?,
        revision: Revision(row.get(5)?),
        created_at: Timestamp::from_micros(row.get(6)?),
        created_by: row.get(7)?,
        modified_at: Timestamp::from_micros(row.get(8)?),
        fields: json_object_column(locator, row, 9, "fields")?,
        private_data: row.get(10)?,
    })
}
