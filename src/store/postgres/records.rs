//! Stored records: users, blackouts, properties and others.

use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, Revision, Timestamp};
use crate::store::contract::{ConfigRecordFilter, Paginated, Pagination, StoreError};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::record_row::{NewRecordRow, UpdatedRecordRow};

use super::error::PgResult;
use super::monitors::to_change_error;
use super::paged_query::{BoundValue, PagedQuery};
use super::{hosts, tokens};

const COLUMNS: &str =
    "id, kind, customer, parent_id, unique_key, revision, created_at, created_by, modified_at,
    fields::text, private_data";

/// Inserts a new record; returns its id.
pub(super) async fn insert(conn: &mut PgConnection, row: &NewRecordRow) -> PgResult<i64> {
    let record = &row.record;
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO records (kind, customer, parent_id, unique_key, revision, created_at, created_by, modified_at,
             fields, private_data)
         VALUES ($1, $2, $3, $4, 1, $5, $6, $5, $7::text::json, $8) RETURNING id",
    )
    .bind(record.kind.name())
    .bind(record.customer.map(|customer| customer.0))
    .bind(record.parent_id)
    .bind(record.unique_key.as_deref())
    .bind(record.created_at.as_micros())
    .bind(&record.created_by)
    .bind(&row.fields_json)
    .bind(record.private_data.as_deref())
    .fetch_one(&mut *conn)
    .await
    .map_err(|error| to_change_error(error, record.unique_key.as_deref()))?;
    if record.customer.is_none() {
        sqlx::query("UPDATE records SET customer = id WHERE id = $1").bind(id).execute(conn).await?;
    }
    Ok(id)
}

/// Replaces the revision `expected_revision` of a record. Kind, account, creator and creation time stay the same.
pub(super) async fn update(
    conn: &mut PgConnection,
    row: &UpdatedRecordRow,
    expected_revision: Revision,
) -> PgResult<()> {
    let record = &row.record;
    let updated = sqlx::query(
        "UPDATE records SET parent_id = $3, unique_key = $4, revision = $5, modified_at = $6,
             fields = $7::text::json, private_data = $8
         WHERE id = $1 AND kind = $2 AND revision = $9",
    )
    .bind(record.id)
    .bind(record.kind.name())
    .bind(record.parent_id)
    .bind(record.unique_key.as_deref())
    .bind(record.revision.0)
    .bind(record.modified_at.as_micros())
    .bind(&row.fields_json)
    .bind(record.private_data.as_deref())
    .bind(expected_revision.0)
    .execute(conn)
    .await
    .map_err(|error| to_change_error(error, record.unique_key.as_deref()))?;
    if updated.rows_affected() == 0 { Err(StoreError::Stale.into()) } else { Ok(()) }
}

/// Removes the revision `expected_revision` of a record, for a user also its tokens; returns whether it existed.
pub(super) async fn delete(
    conn: &mut PgConnection,
    kind: ConfigRecordKind,
    id: i64,
    expected_revision: Revision,
) -> PgResult<bool> {
    let removed = sqlx::query("DELETE FROM records WHERE id = $1 AND kind = $2 AND revision = $3")
        .bind(id)
        .bind(kind.name())
        .bind(expected_revision.0)
        .execute(&mut *conn)
        .await?
        .rows_affected();
    if removed > 0 && kind == ConfigRecordKind::User {
        tokens::delete_for_user(conn, id).await?;
    }
    if removed > 0 && kind == ConfigRecordKind::Host {
        hosts::delete_host(conn, id).await?;
    }
    Ok(removed > 0)
}

/// Returns a record.
pub(super) async fn by_id(
    conn: &mut PgConnection,
    kind: ConfigRecordKind,
    id: i64,
) -> PgResult<Option<ConfigRecord>> {
    let mut query = query_of_kind(kind);
    query.add_number("id = ?", Some(id));
    query.fetch_first(conn, record_from_row).await
}

/// Returns the record of `kind` with this unique key.
pub(super) async fn by_unique_key(
    conn: &mut PgConnection,
    kind: ConfigRecordKind,
    unique_key: String,
) -> PgResult<Option<ConfigRecord>> {
    let mut query = query_of_kind(kind);
    query.add("unique_key = ?", BoundValue::Text(Some(unique_key)));
    query.fetch_first(conn, record_from_row).await
}

fn query_of_kind(kind: ConfigRecordKind) -> PagedQuery {
    let mut query = PagedQuery::new("records", COLUMNS, "id");
    query.add("kind = ?", BoundValue::Text(Some(kind.name().to_owned())));
    query
}

/// Returns a page of the matching records, ordered by id, and their number.
pub(super) async fn read_page(
    conn: &mut PgConnection,
    filter: ConfigRecordFilter,
    page: Pagination,
) -> PgResult<Paginated<ConfigRecord>> {
    let mut query = query_of_kind(filter.kind);
    query.add_number("customer = ?", filter.customer.map(|id| id.0));
    query.add_number("created_at >= ?", filter.from.map(Timestamp::as_micros));
    query.add_number("created_at < ?", filter.until.map(Timestamp::as_micros));
    if !filter.parent_ids.is_empty() {
        query.add("parent_id = ANY (?)", BoundValue::Numbers(filter.parent_ids));
    }
    for (field_name, value) in filter.field_values {
        query.add_texts("(fields ->> ?) IS NOT DISTINCT FROM ?", field_name.to_owned(), field_text(&value));
    }
    query.fetch(conn, page, record_from_row).await
}

/// Converts `value` to the form that the operator `->>` returns.
fn field_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn record_from_row(row: &PgRow) -> PgResult<ConfigRecord> {
    let id = row.try_get(0)?;
    let locator = RowLocator { table: "records", key: &[("id", id)] };
    let kind: &str = row.try_get(1)?;
    Ok(ConfigRecord {
        id,
        kind: locator.require_decoded("kind", kind, ConfigRecordKind::from_name(kind))?,
        customer: CustomerId(row.try_get::<Option<i64>, _>(2)?.unwrap_or(id)),
        parent_id: row.try_get(3)?,
        unique_key: row.try_get(4)?,
        revision: Revision(row.try_get(5)?),
        created_at: Timestamp::from_micros(row.try_get(6)?),
        created_by: row.try_get(7)?,
        modified_at: Timestamp::from_micros(row.try_get(8)?),
        fields: locator.parse_json_object(row.try_get(9)?, "fields")?,
        private_data: row.try_get(10)?,
    })
}
