//! Writes the rows of logical tables to an SQLite file.

use std::collections::HashMap;

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::store::copy::{CopyRow, CopyValue, LogicalColumn, LogicalTable, SqliteForm};

use super::table_reader::to_sql;

/// Most ids of shared texts that are remembered; beyond, they are forgotten.
const MAX_KNOWN_TEXTS: usize = 500_000;
/// Id of a shared text that does not exist; ids start at 1.
const MISSING_TEXT_ID: i64 = 0;

/// Ids of the shared texts in the target, by hash.
#[derive(Default)]
pub(super) struct TextIds(HashMap<Vec<u8>, i64>);

impl TextIds {
    fn id(&mut self, conn: &Connection, hash: &[u8]) -> rusqlite::Result<i64> {
        if let Some(id) = self.0.get(hash) {
            return Ok(*id);
        }
        let id = conn
            .prepare_cached("SELECT id FROM shared WHERE hash = ?1")?
            .query_row([hash], |row| row.get(0))
            .optional()?
            .unwrap_or(MISSING_TEXT_ID);
        if self.0.len() >= MAX_KNOWN_TEXTS {
            self.0.clear();
        }
        self.0.insert(hash.to_vec(), id);
        Ok(id)
    }
}

/// Inserts `rows` in the transaction of the caller. Shared texts are written before the rows that refer to them.
pub(super) fn insert_rows(
    conn: &Connection,
    table: &LogicalTable,
    rows: &[CopyRow],
    text_ids: &mut TextIds,
) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached(&insert_sql(table))?;
    for row in rows {
        let mut values = Vec::with_capacity(row.len());
        for (column, value) in table.columns.iter().zip(row) {
            values.push(encode(conn, column, value, text_ids)?);
        }
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}

fn insert_sql(table: &LogicalTable) -> String {
    let names: Vec<String> =
        table.columns.iter().map(|column| format!("\"{}\"", column.sqlite_name)).collect();
    let placeholders = vec!["?"; names.len()].join(", ");
    format!("INSERT INTO \"{}\" ({}) VALUES ({placeholders})", table.sqlite_name, names.join(", "))
}

fn encode<'a>(
    conn: &Connection,
    column: &LogicalColumn,
    value: &'a CopyValue,
    text_ids: &mut TextIds,
) -> rusqlite::Result<ToSqlOutput<'a>> {
    match (column.sqlite_form, value) {
        (SqliteForm::FlagOrNull, CopyValue::Boolean(false)) => Ok(ToSqlOutput::Owned(Value::Null)),
        (SqliteForm::SharedText, CopyValue::Bytes(hash)) => {
            Ok(ToSqlOutput::Owned(Value::Integer(text_ids.id(conn, hash)?)))
        }
        _ => Ok(to_sql(value)),
    }
}
