//! Queries of one table by conditions; pages come with the total number of matches.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments, AssertSqlSafe, PgConnection};

use crate::store::contract::{Paginated, Pagination};

use super::error::{PgError, PgResult, skip_undecodable};

/// A query of one table.
pub(super) struct PagedQuery {
    table: &'static str,
    columns: &'static str,
    order_by: &'static str,
    /// The conditions with numbered placeholders, and what these stand for.
    conditions: Vec<String>,
    values: Vec<BoundValue>,
}

/// A value that a condition compares with.
#[derive(Clone)]
pub(super) enum BoundValue {
    Number(i64),
    Text(Option<String>),
    Numbers(Vec<i64>),
}

impl PagedQuery {
    /// Creates a query of all rows.
    pub(super) const fn new(table: &'static str, columns: &'static str, order_by: &'static str) -> Self {
        Self { table, columns, order_by, conditions: Vec::new(), values: Vec::new() }
    }

    /// Adds a condition without a value.
    pub(super) fn add_condition(&mut self, condition: &str) {
        self.conditions.push(condition.to_owned());
    }

    /// Adds a condition in which `?` stands for `value`.
    pub(super) fn add(&mut self, condition: &str, value: BoundValue) {
        self.values.push(value);
        self.conditions.push(condition.replace('?', &format!("${}", self.values.len())));
    }

    /// Adds a condition if there is a value.
    pub(super) fn add_number(&mut self, condition: &str, value: Option<i64>) {
        if let Some(value) = value {
            self.add(condition, BoundValue::Number(value));
        }
    }

    /// Adds a condition in which each `?` of `condition` stands for the next of two texts.
    pub(super) fn add_texts(&mut self, condition: &str, first: String, second: Option<String>) {
        self.values.push(BoundValue::Text(Some(first)));
        self.values.push(BoundValue::Text(second));
        let (first, second) = (format!("${}", self.values.len() - 1), format!("${}", self.values.len()));
        self.conditions.push(condition.replacen('?', &first, 1).replacen('?', &second, 1));
    }

    /// Returns the rows of `page` and the total number of matches. Rows that cannot be decoded count, but are left out.
    pub(super) async fn fetch<T>(
        &self,
        conn: &mut PgConnection,
        page: Pagination,
        decode_row: impl Fn(&PgRow) -> PgResult<T>,
    ) -> PgResult<Paginated<T>> {
        let (table, conditions) = (self.table, self.where_clause());
        let count = AssertSqlSafe(format!("SELECT count(*) FROM {table} WHERE {conditions}"));
        let total: i64 = sqlx::query_scalar_with(count, self.arguments()?).fetch_one(&mut *conn).await?;
        let (limit, offset) = (self.values.len() + 1, self.values.len() + 2);
        let (columns, order_by) = (self.columns, self.order_by);
        let select = format!(
            "SELECT {columns} FROM {table} WHERE {conditions} ORDER BY {order_by} LIMIT ${limit} OFFSET ${offset}"
        );
        let mut arguments = self.arguments()?;
        add_argument(&mut arguments, i64::from(page.limit))?;
        add_argument(&mut arguments, i64::try_from(page.offset).unwrap_or(i64::MAX))?;
        let rows = sqlx::query_with(AssertSqlSafe(select), arguments).fetch_all(conn).await?;
        let items = rows
            .iter()
            .filter_map(|row| skip_undecodable(decode_row(row)).transpose())
            .collect::<PgResult<_>>()?;
        Ok(Paginated { total: total.unsigned_abs(), items })
    }

    /// Returns the first row.
    pub(super) async fn fetch_first<T>(
        &self,
        conn: &mut PgConnection,
        decode_row: impl Fn(&PgRow) -> PgResult<T>,
    ) -> PgResult<Option<T>> {
        let Self { table, columns, order_by, .. } = self;
        let conditions = self.where_clause();
        let select = format!("SELECT {columns} FROM {table} WHERE {conditions} ORDER BY {order_by} LIMIT 1");
        let row = sqlx::query_with(AssertSqlSafe(select), self.arguments()?).fetch_optional(conn).await?;
        row.as_ref().map(decode_row).transpose()
    }

    fn where_clause(&self) -> String {
        if self.conditions.is_empty() { "true".to_owned() } else { self.conditions.join(" AND ") }
    }

    fn arguments(&self) -> PgResult<PgArguments> {
        let mut arguments = PgArguments::default();
        for value in &self.values {
            match value {
                BoundValue::Number(number) => add_argument(&mut arguments, *number)?,
                BoundValue::Text(text) => add_argument(&mut arguments, text.clone())?,
                BoundValue::Numbers(numbers) => add_argument(&mut arguments, numbers.clone())?,
            }
        }
        Ok(arguments)
    }
}

/// Adds a value to the arguments of a statement.
pub(super) fn add_argument<'q, T>(arguments: &mut PgArguments, value: T) -> PgResult<()>
where
    T: sqlx::Encode<'q, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + 'q,
{
    arguments.add(value).map_err(|error| PgError::Sql(sqlx::Error::Encode(error)))
}
