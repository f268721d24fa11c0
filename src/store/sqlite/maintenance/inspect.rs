//! Says what an SQLite file contains and whether it is sound.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use crate::domain::Timestamp;
use crate::store::contract::StoreError;
use crate::store::maintenance::{StoreContents, StoreReport};
use crate::store::sqlite::durable_file::beside;
use crate::store::sqlite::error::ErrorMapper;
use crate::store::sqlite::settings::SqliteSettings;
use crate::store::sqlite::{migrations, open};

/// Most problems that are reported.
const MAX_PROBLEMS: u32 = 20;

/// Inspects the file at `path`; takes no lock, so that it works beside a server. Blocks, for minutes with a large file.
///
/// # Errors
/// [`StoreError::Unusable`] when the file does not exist, cannot be read or is not of Vigie.
pub fn inspect(path: &Path) -> Result<StoreReport, StoreError> {
    let error_mapper = ErrorMapper::new(path);
    if !path.exists() {
        return Err(error_mapper.unusable_error("the file does not exist"));
    }
    let conn = open::open_reader(path, &SqliteSettings::default(), &error_mapper)?;
    let to_store_error = |error: rusqlite::Error| error_mapper.to_store_error(&error);
    // One snapshot, so that counts agree while a server writes.
    conn.execute_batch("BEGIN").map_err(to_store_error)?;
    migrations::check_application_id(&conn, &error_mapper)?;
    let schema_version = migrations::stored_version(&conn).map_err(to_store_error)?;
    let newest_version = migrations::newest_version();
    let mut problems = integrity_problems(&conn).unwrap_or_else(|error| vec![error.to_string()]);
    let contents = if problems.is_empty() && (1..=newest_version).contains(&schema_version) {
        match read_contents(&conn) {
            Ok(contents) => Some(contents),
            Err(error) => {
                problems.push(error.to_string());
                None
            }
        }
    } else {
        None
    };
    if schema_version == newest_version
        && let Some(contents) = contents
    {
        problems.extend(count_problem(&conn, contents.result_count).map_err(to_store_error)?);
    }
    let size_bytes = size_with_log(path).map_err(|e| error_mapper.io_to_store_error("cannot read", &e))?;
    Ok(StoreReport { schema_version, newest_version, size_bytes, contents, problems })
}

/// Returns what `PRAGMA quick_check` finds.
pub(super) fn integrity_problems(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(&format!("PRAGMA quick_check({MAX_PROBLEMS})"))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    lines.filter(|line| !line.as_ref().is_ok_and(|line| line == "ok")).collect()
}

/// Counts what the tables of every version have.
fn read_contents(conn: &Connection) -> rusqlite::Result<StoreContents> {
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, u64>(0));
    let planned_range = conn
        .query_row("SELECT min(planned_at), max(planned_at) FROM results", [], |row| {
            Ok(row.get::<_, Option<i64>>(0)?.zip(row.get::<_, Option<i64>>(1)?))
        })
        .optional()?
        .flatten();
    Ok(StoreContents {
        monitor_count: count(
            "SELECT count(*) FROM monitors WHERE removed_at IS NULL AND document IS NOT NULL",
        )?,
        result_count: count("SELECT count(*) FROM results")?,
        planned_range: planned_range
            .map(|(first, last)| (Timestamp::from_micros(first), Timestamp::from_micros(last))),
    })
}

/// Compares the counts by minute with the results.
fn count_problem(conn: &Connection, result_count: u64) -> rusqlite::Result<Option<String>> {
    let counted: i64 = conn.query_row("SELECT ifnull(sum(rows), 0) FROM counts", [], |row| row.get(0))?;
    Ok((u64::try_from(counted) != Ok(result_count)).then(|| {
        format!("the table `counts` counts {counted} results, but there are {result_count}: totals of pages are wrong")
    }))
}

/// Returns the size of the file and of its write-ahead log.
fn size_with_log(path: &Path) -> std::io::Result<u64> {
    let log_size = std::fs::metadata(beside(path, "-wal")).map_or(0, |metadata| metadata.len());
    Ok(std::fs::metadata(path)?.len() + log_size)
}
