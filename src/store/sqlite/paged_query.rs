//! Lists of rows with the number of all that match.

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params_from_iter};

use crate::store::contract::{Paginated, Pagination};

use super::decode::skip_undecodable;

/// A list out of one table.
pub(super) struct PagedQuery {
    pub(super) table: &'static str,
    pub(super) columns: &'static str,
    pub(super) order: &'static str,
    /// What SQL asks of a row, and the values that it binds.
    pub(super) conditions: String,
    pub(super) values: Vec<Sql>,
}

impl PagedQuery {
    /// The rows in `page`, and how many match in all. One that cannot be decoded counts and is left out.
    pub(super) fn fetch<T>(
        self,
        conn: &Connection,
        page: Pagination,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Paginated<T>> {
        let Self { table, columns, order, conditions, mut values } = self;
        // Count and page have to be of one state of the database.
        let tx = conn.unchecked_transaction()?;
        let count: u64 = tx
            .prepare_cached(&format!("SELECT count(*) FROM {table} WHERE {conditions}"))?
            .query_row(params_from_iter(&values), |row| row.get(0))?;
        values.push(Sql::from(page.limit));
        values.push(Sql::from(i64::try_from(page.offset).unwrap_or(i64::MAX)));
        let rows = tx
            .prepare_cached(&format!(
                "SELECT {columns} FROM {table} WHERE {conditions} ORDER BY {order} LIMIT ? OFFSET ?"
            ))?
            .query_map(params_from_iter(&values), row)?
            .filter_map(|row| skip_undecodable(row).transpose())
            .collect::<Result<_, _>>()?;
        Ok(Paginated { total: count, items: rows })
    }
}
