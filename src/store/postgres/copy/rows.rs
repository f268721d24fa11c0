//! Reads and writes the rows of logical tables.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::store::copy::{ColumnType, CopyKey, CopyRow, CopyValue, LogicalTable, PageLimit, TABLES};
use crate::store::postgres::error::PgResult;
use crate::store::postgres::paged_query::add_argument;

/// Returns the rows that follow `after`, ordered by key.
pub(super) async fn read_page(
    conn: &mut PgConnection,
    table: &LogicalTable,
    after: Option<&CopyKey>,
    limit: PageLimit,
) -> PgResult<Vec<CopyRow>> {
    let mut page = Vec::new();
    for part in parts_after(table, after) {
        if page.len() >= limit.rows {
            break;
        }
        let row_limit = limit.rows - page.len();
        for row in read_part(conn, table, &part, row_limit).await? {
            page.push(row);
        }
    }
    // Fewer rows may be returned: the next page begins after the last one.
    let mut byte_count = 0;
    let fitting = page.iter().take_while(|row| {
        let fits = byte_count <= limit.bytes;
        byte_count += row.iter().map(CopyValue::byte_len).sum::<usize>();
        fits
    });
    let fitting = fitting.count().max(1);
    page.truncate(fitting);
    Ok(page)
}

/// A part of a table in which the order of the key is that of its partitions.
struct Part {
    /// The value of the first column of the key, in tables that are partitioned by it.
    first_value: Option<CopyValue>,
    /// The rest of the key after which the rows follow.
    after: Option<Vec<CopyValue>>,
}

/// Returns the parts of `table` after a key. Without the split, the server would sort the whole table for each page.
fn parts_after(table: &LogicalTable, after: Option<&CopyKey>) -> Vec<Part> {
    let values = match table.name {
        "result_details" | "result_captures" => [CopyValue::Boolean(false), CopyValue::Boolean(true)],
        "rollups" => [CopyValue::Integer(0), CopyValue::Integer(1)],
        _ => return vec![Part { first_value: None, after: after.map(|key| key.0.clone()) }],
    };
    let first_of_key = after.and_then(|key| key.0.first());
    values
        .into_iter()
        .skip_while(|value| first_of_key.is_some_and(|first| first != value))
        .map(|value| {
            let is_of_key = first_of_key == Some(&value);
            let rest = after.filter(|_| is_of_key).map(|key| key.0[1..].to_vec());
            Part { first_value: Some(value), after: rest }
        })
        .collect()
}

async fn read_part(
    conn: &mut PgConnection,
    table: &LogicalTable,
    part: &Part,
    row_limit: usize,
) -> PgResult<Vec<CopyRow>> {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| match column.column_type {
            ColumnType::Integer => format!("\"{}\"::bigint", column.name),
            ColumnType::Json => format!("\"{}\"::text", column.name),
            ColumnType::Boolean | ColumnType::Text | ColumnType::Bytes => format!("\"{}\"", column.name),
        })
        .collect();
    let skipped = usize::from(part.first_value.is_some());
    let key: Vec<String> = table
        .columns
        .iter()
        .take(table.key_len)
        .skip(skipped)
        .map(|column| format!("\"{}\"", column.name))
        .collect();
    let (mut conditions, mut arguments, mut argument_count) = (Vec::new(), PgArguments::default(), 0);
    if let Some(value) = &part.first_value {
        argument_count += 1;
        conditions.push(format!("\"{}\" = ${argument_count}", table.columns[0].name));
        add_value(&mut arguments, value)?;
    }
    if let Some(after) = &part.after {
        let placeholders: Vec<String> =
            (argument_count + 1..).take(after.len()).map(|number| format!("${number}")).collect();
        conditions.push(format!("({}) > ({})", key.join(", "), placeholders.join(", ")));
        // The server skips partitions by this condition alone.
        conditions.push(format!("{} >= {}", key[0], placeholders[0]));
        for value in after {
            add_value(&mut arguments, value)?;
        }
    }
    let conditions = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
    let sql = format!(
        "SELECT {} FROM {} WHERE {conditions} ORDER BY {} LIMIT {row_limit}",
        columns.join(", "),
        table.name,
        key.join(", ")
    );
    let rows = sqlx::query_with(AssertSqlSafe(sql), arguments).fetch_all(conn).await?;
    rows.iter().map(|row| decode_row(row, table)).collect()
}

fn add_value(arguments: &mut PgArguments, value: &CopyValue) -> PgResult<()> {
    match value {
        CopyValue::Null => add_argument(arguments, None::<i64>),
        CopyValue::Boolean(flag) => add_argument(arguments, *flag),
        CopyValue::Integer(number) => add_argument(arguments, *number),
        CopyValue::Text(text) => add_argument(arguments, text.clone()),
        CopyValue::Bytes(bytes) => add_argument(arguments, bytes.clone()),
    }
}

fn decode_row(row: &PgRow, table: &LogicalTable) -> PgResult<CopyRow> {
    let mut values = Vec::with_capacity(table.columns.len());
    for (index, column) in table.columns.iter().enumerate() {
        let value = match column.column_type {
            ColumnType::Boolean => row.try_get::<Option<bool>, _>(index)?.map(CopyValue::Boolean),
            ColumnType::Integer => row.try_get::<Option<i64>, _>(index)?.map(CopyValue::Integer),
            ColumnType::Text | ColumnType::Json => {
                row.try_get::<Option<String>, _>(index)?.map(CopyValue::Text)
            }
            ColumnType::Bytes => row.try_get::<Option<Vec<u8>>, _>(index)?.map(CopyValue::Bytes),
        };
        values.push(value.unwrap_or(CopyValue::Null));
    }
    Ok(values)
}

/// Inserts `rows`, an array per column.
pub(super) async fn insert_rows(
    conn: &mut PgConnection,
    table: &LogicalTable,
    rows: &[CopyRow],
) -> PgResult<()> {
    let mut arguments = PgArguments::default();
    let (mut names, mut arrays, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (index, column) in table.columns.iter().enumerate() {
        let array_type = match column.column_type {
            ColumnType::Boolean => "boolean",
            ColumnType::Integer => "bigint",
            ColumnType::Text | ColumnType::Json => "text",
            ColumnType::Bytes => "bytea",
        };
        let name = format!("\"{}\"", column.name);
        let is_json = column.column_type == ColumnType::Json;
        values.push(if is_json { format!("{name}::json") } else { name.clone() });
        names.push(name);
        arrays.push(format!("${}::{array_type}[]", index + 1));
        add_column(&mut arguments, column.column_type, rows, index)?;
    }
    let names = names.join(", ");
    let sql = format!(
        "INSERT INTO {} ({names}) SELECT {} FROM unnest({}) AS r ({names})",
        table.name,
        values.join(", "),
        arrays.join(", ")
    );
    sqlx::query_with(AssertSqlSafe(sql), arguments).execute(conn).await?;
    Ok(())
}

fn add_column(
    arguments: &mut PgArguments,
    column_type: ColumnType,
    rows: &[CopyRow],
    index: usize,
) -> PgResult<()> {
    let values = rows.iter().map(|row| &row[index]);
    match column_type {
        ColumnType::Boolean => {
            let flags: Vec<Option<bool>> = values
                .map(|value| if let CopyValue::Boolean(flag) = value { Some(*flag) } else { None })
                .collect();
            add_argument(arguments, flags)
        }
        ColumnType::Integer => {
            let numbers: Vec<Option<i64>> = values
                .map(|value| if let CopyValue::Integer(number) = value { Some(*number) } else { None })
                .collect();
            add_argument(arguments, numbers)
        }
        ColumnType::Text | ColumnType::Json => {
            let texts: Vec<Option<String>> = values
                .map(|value| if let CopyValue::Text(text) = value { Some(text.clone()) } else { None })
                .collect();
            add_argument(arguments, texts)
        }
        ColumnType::Bytes => {
            let bytes: Vec<Option<Vec<u8>>> = values
                .map(|value| if let CopyValue::Bytes(bytes) = value { Some(bytes.clone()) } else { None })
                .collect();
            add_argument(arguments, bytes)
        }
    }
}

/// Returns the number of rows of `table`.
pub(super) async fn row_count(conn: &mut PgConnection, table: &LogicalTable) -> PgResult<u64> {
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {}", table.name));
    Ok(sqlx::query_scalar::<_, i64>(sql).fetch_one(conn).await?.unsigned_abs())
}

/// Returns the highest id that was ever assigned in each table with a sequence.
pub(super) async fn last_ids(conn: &mut PgConnection) -> PgResult<Vec<(&'static str, i64)>> {
    let mut last_ids = Vec::new();
    for table in TABLES.iter().filter(|table| table.has_sequence) {
        let sql = format!(
            "SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM {}_id_seq",
            table.name
        );
        last_ids.push((table.name, sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *conn).await?));
    }
    Ok(last_ids)
}
