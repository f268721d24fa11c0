//! Reads the rows of logical tables from an SQLite file.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use crate::store::contract::StoreError;
use crate::store::copy::{
    ColumnType, CopyKey, CopyRow, CopyValue, LogicalColumn, LogicalTable, PageLimit, SqliteForm, TABLES,
};
use crate::store::sqlite::error::ErrorMapper;

/// Returns the rows that follow `after`, ordered by key.
pub(super) fn read_page(
    conn: &Connection,
    error_mapper: &ErrorMapper,
    table: &LogicalTable,
    after: Option<&CopyKey>,
    limit: PageLimit,
) -> Result<Vec<CopyRow>, StoreError> {
    let to_store_error = |error: rusqlite::Error| error_mapper.to_store_error(&error);
    let mut statement = conn.prepare_cached(&page_sql(table, after.is_some())).map_err(to_store_error)?;
    let key = after.map(|key| key.0.as_slice()).unwrap_or_default();
    let mut rows = statement.query(params_from_iter(key.iter().map(to_sql))).map_err(to_store_error)?;
    let (mut page, mut byte_count) = (Vec::new(), 0);
    while page.len() < limit.rows.max(1) && byte_count <= limit.bytes {
        let Some(row) = rows.next().map_err(to_store_error)? else { break };
        let values = read_row(row, table).map_err(|reason| error_mapper.unusable_error(&reason))?;
        byte_count += values.iter().map(CopyValue::byte_len).sum::<usize>();
        page.push(values);
    }
    Ok(page)
}

/// Returns the number of rows of `table`.
pub(super) fn row_count(conn: &Connection, table: &LogicalTable) -> rusqlite::Result<u64> {
    conn.query_row(&format!("SELECT count(*) FROM \"{}\"", table.sqlite_name), [], |row| row.get(0))
}

/// Returns the highest id that was ever assigned in each table with a sequence.
pub(super) fn last_ids(conn: &Connection) -> rusqlite::Result<Vec<(&'static str, i64)>> {
    let with_sequence = TABLES.iter().filter(|table| table.has_sequence);
    let last_id = |table: &LogicalTable| {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
        conn.query_row(sql, [table.sqlite_name], |row| row.get(0)).optional()
    };
    with_sequence.map(|table| Ok((table.name, last_id(table)?.unwrap_or(0)))).collect()
}

fn page_sql(table: &LogicalTable, has_start: bool) -> String {
    let columns: Vec<String> = table.columns.iter().map(column_expression).collect();
    let key: Vec<String> = table
        .columns
        .iter()
        .take(table.key_len)
        .map(|column| format!("t.\"{}\"", column.sqlite_name))
        .collect();
    let placeholders = vec!["?"; key.len()].join(", ");
    let start =
        if has_start { format!(" WHERE ({}) > ({placeholders})", key.join(", ")) } else { String::new() };
    format!(
        "SELECT {} FROM \"{}\" AS t{start} ORDER BY {}",
        columns.join(", "),
        table.sqlite_name,
        key.join(", ")
    )
}

/// Returns the expression of a column in its logical form.
fn column_expression(column: &LogicalColumn) -> String {
    let name = format!("t.\"{}\"", column.sqlite_name);
    match column.sqlite_form {
        SqliteForm::Plain => name,
        SqliteForm::FlagOrNull => format!("ifnull({name}, 0)"),
        // A text may have been removed before its results.
        SqliteForm::SharedText => format!(
            "CASE WHEN {name} IS NOT NULL
                 THEN ifnull((SELECT hash FROM shared WHERE id = {name}), zeroblob(16)) END"
        ),
    }
}

fn read_row(row: &Row<'_>, table: &LogicalTable) -> Result<CopyRow, String> {
    let mut values = Vec::with_capacity(table.columns.len());
    for (index, column) in table.columns.iter().enumerate() {
        let value = row.get_ref(index).map_err(|error| error.to_string())?;
        let decoded = decode(value, column.column_type).ok_or_else(|| {
            let key: Vec<String> = values.iter().take(table.key_len).map(|key| format!("{key:?}")).collect();
            format!(
                "table `{}`, row {}: column `{}` is no {:?}; correct or remove the row",
                table.sqlite_name,
                key.join(", "),
                column.sqlite_name,
                column.column_type
            )
        })?;
        values.push(decoded);
    }
    Ok(values)
}

fn decode(value: ValueRef<'_>, column_type: ColumnType) -> Option<CopyValue> {
    match (column_type, value) {
        (_, ValueRef::Null) => Some(CopyValue::Null),
        (ColumnType::Boolean, ValueRef::Integer(number @ (0 | 1))) => Some(CopyValue::Boolean(number == 1)),
        (ColumnType::Integer, ValueRef::Integer(number)) => Some(CopyValue::Integer(number)),
        (ColumnType::Text | ColumnType::Json, ValueRef::Text(text)) => {
            std::str::from_utf8(text).ok().map(|text| CopyValue::Text(text.to_owned()))
        }
        (ColumnType::Bytes, ValueRef::Blob(bytes)) => Some(CopyValue::Bytes(bytes.to_vec())),
        _ => None,
    }
}

/// Returns `value` as SQLite stores it.
pub(super) fn to_sql(value: &CopyValue) -> ToSqlOutput<'_> {
    match value {
        CopyValue::Null => ToSqlOutput::Owned(Value::Null),
        CopyValue::Boolean(flag) => ToSqlOutput::Owned(Value::Integer(i64::from(*flag))),
        CopyValue::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
        CopyValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        CopyValue::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
    }
}
