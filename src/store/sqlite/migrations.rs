//! The tables, and the migration of files of older versions.

use rusqlite::Connection;

use crate::store::contract::StoreError;

use super::error::ErrorMapper;
use super::write_cache::insert_monitor_location;

/// Identifies files of Vigie (`PRAGMA application_id`), "Vgie".
const APPLICATION_ID: i64 = 0x5667_6965;

/// The migrations in order; the version is the number of applied migrations (`PRAGMA user_version`). Released
/// migrations are never edited.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("migrations/1.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/2.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/3.sql"), after_sql: migrate_location_pairs },
    Migration { sql: include_str!("migrations/4.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/5.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/6.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/7.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/8.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/9.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/10.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/11.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/12.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/13.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/14.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/15.sql"), after_sql: |_| Ok(()) },
    Migration { sql: include_str!("migrations/16.sql"), after_sql: |_| Ok(()) },
];

/// A migration to the next version: SQL statements, and code for what SQL cannot compute, in one transaction.
struct Migration {
    sql: &'static str,
    after_sql: fn(&Connection) -> rusqlite::Result<()>,
}

fn migrate_location_pairs(conn: &Connection) -> rusqlite::Result<()> {
    let mut select_pairs = conn.prepare("SELECT monitor_id, location_id FROM places")?;
    let mut rows = select_pairs.query([])?;
    while let Some(row) = rows.next()? {
        insert_monitor_location(conn, row.get(0)?, row.get(1)?)?;
    }
    drop(rows);
    drop(select_pairs);
    conn.execute_batch("DROP TABLE places")
}

/// Returns the newest version.
pub(super) fn newest_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Returns the version of the tables; 0 without any.
pub(super) fn stored_version(conn: &Connection) -> rusqlite::Result<i64> {
    pragma_value(conn, "user_version")
}

/// Migrates the file to the newest version, each migration in a transaction of its own.
///
/// # Errors
/// [`StoreError::TooNew`] for a file of a newer Vigie, [`StoreError::Unusable`] for the database of
/// another program.
pub(super) fn migrate(conn: &mut Connection, error_mapper: &ErrorMapper) -> Result<(), StoreError> {
    let version = stored_version(conn).map_err(|e| error_mapper.to_store_error(&e))?;
    let newest_version = newest_version();
    if version > newest_version {
        return Err(StoreError::TooNew { found: version, known: newest_version });
    }
    check_application_id(conn, error_mapper)?;
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(usize::try_from(version).unwrap_or(0)) {
        run_migration(conn, index + 1, migration).map_err(|e| error_mapper.to_store_error(&e))?;
    }
    Ok(())
}

/// Checks that the file can be read without a migration.
///
/// # Errors
/// Like [`migrate`], and [`StoreError::Unusable`] for a file of an older version, which only the writing process
/// migrates.
pub(super) fn check_version(conn: &Connection, error_mapper: &ErrorMapper) -> Result<(), StoreError> {
    let version = stored_version(conn).map_err(|e| error_mapper.to_store_error(&e))?;
    let newest_version = newest_version();
    check_application_id(conn, error_mapper)?;
    match version {
        newer if newer > newest_version => Err(StoreError::TooNew { found: newer, known: newest_version }),
        older if older < newest_version => Err(error_mapper.unusable_error(
            "it is of an older version; `vigie store migrate` or the next start of the server migrates it",
        )),
        _ => Ok(()),
    }
}

/// Checks that the file is of Vigie, or has no tables.
pub(super) fn check_application_id(conn: &Connection, error_mapper: &ErrorMapper) -> Result<(), StoreError> {
    let application_id = pragma_value(conn, "application_id").map_err(|e| error_mapper.to_store_error(&e))?;
    let table_count: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|e| error_mapper.to_store_error(&e))?;
    if table_count > 0 && application_id != APPLICATION_ID {
        return Err(error_mapper.unusable_error("it is the database of another program; use another file"));
    }
    Ok(())
}

fn run_migration(conn: &mut Connection, version: usize, migration: &Migration) -> rusqlite::Result<()> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(migration.sql)?;
    (migration.after_sql)(&tx)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", i64::try_from(version).unwrap_or(i64::MAX))?;
    tx.commit()
}

fn pragma_value(conn: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, pragma, |row| row.get(0))
}
