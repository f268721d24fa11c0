//! Queries of pages with the total number of matches.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, Row, params_from_iter};

use crate::store::contract::{Paginated, Pagination};

use super::decode::skip_undecodable;

/// A paged query of one table.
pub(super) struct PagedQuery {
    pub(super) table: &'static str,
    pub(super) columns: &'static str,
    pub(super) order_by: &'static str,
    /// The SQL conditions and the values that they bind.
    /// Joined by AND; each `?` in them stands for one of `values`, in order.
    pub(super) conditions: String,
    pub(super) values: Vec<SqlValue>,
}

impl PagedQuery {
    /// Returns the rows of `page` and the total number of matches. Rows that cannot be decoded count, but are left out.
    pub(super) fn fetch<T>(
        self,
        conn: &Connection,
        page: Pagination,
        decode_row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Paginated<T>> {
        let Self { table, columns, order_by: order, conditions, mut values } = self;
        // Count and page must see the same state of the database.
        let tx = conn.unchecked_transaction()?;
        let total: u64 = tx
            .prepare_cached(&format!("SELECT count(*) FROM {table} WHERE {conditions}"))?
            .query_row(params_from_iter(&values), |row| row.get(0))?;
        values.push(SqlValue::from(page.limit));
        values.push(SqlValue::from(i64::try_from(page.offset).unwrap_or(i64::MAX)));
        let rows = tx
            .prepare_cached(&format!(
                "SELECT {columns} FROM {table} WHERE {conditions} ORDER BY {order} LIMIT ? OFFSET ?"
            ))?
            .query_map(params_from_iter(&values), decode_row)?
            .filter_map(|row| skip_undecodable(row).transpose())
            .collect::<Result<_, _>>()?;
        Ok(Paginated { total, items: rows })
    }
}
