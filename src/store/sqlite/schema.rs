//! The tables and how a file of an older version comes up to them.

use rusqlite::Connection;

use crate::store::contract::StoreError;

use super::error::Told;
use super::shared::keep_place;

/// Marks the file as ours (`PRAGMA application_id`), "Vgie".
const APPLICATION: i64 = 0x5667_6965;

/// The steps from version to version; the version is the number of steps taken (`PRAGMA user_version`).
/// A step that was released is never edited.
const STEPS: &[Step] = &[
    Step { sql: include_str!("schema/1.sql"), then: |_| Ok(()) },
    Step { sql: include_str!("schema/2.sql"), then: |_| Ok(()) },
    Step { sql: include_str!("schema/3.sql"), then: places_to_marks },
    Step { sql: include_str!("schema/4.sql"), then: |_| Ok(()) },
    Step { sql: include_str!("schema/5.sql"), then: |_| Ok(()) },
    Step { sql: include_str!("schema/6.sql"), then: |_| Ok(()) },
    Step { sql: include_str!("schema/7.sql"), then: |_| Ok(()) },
    Step { sql: include_str!("schema/8.sql"), then: |_| Ok(()) },
];

/// From one version to the next: statements, and then what SQL cannot compute, in the same transaction.
struct Step {
    sql: &'static str,
    then: fn(&Connection) -> rusqlite::Result<()>,
}

fn places_to_marks(conn: &Connection) -> rusqlite::Result<()> {
    let mut places = conn.prepare("SELECT monitor_id, location_id FROM places")?;
    let mut rows = places.query([])?;
    while let Some(row) = rows.next()? {
        keep_place(conn, row.get(0)?, row.get(1)?)?;
    }
    drop(rows);
    drop(places);
    conn.execute_batch("DROP TABLE places")
}

/// Brings the file up to the newest version, each step in a transaction of its own.
///
/// # Errors
/// [`StoreError::TooNew`] for a file of a newer Vigie, [`StoreError::Unusable`] for the database of
/// another program.
pub(super) fn migrate(conn: &mut Connection, told: &Told) -> Result<(), StoreError> {
    let version = number(conn, "user_version").map_err(|e| told.of(&e))?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if version > known {
        return Err(StoreError::TooNew { found: version, known });
    }
    refuse_foreign(conn, told)?;
    for (at, step) in STEPS.iter().enumerate().skip(usize::try_from(version).unwrap_or(0)) {
        apply(conn, at + 1, step).map_err(|e| told.of(&e))?;
    }
    Ok(())
}

/// Whether the file can be read as it is.
///
/// # Errors
/// As [`migrate`], and [`StoreError::Unusable`] for a file of an older version, which only the writing
/// process brings up.
pub(super) fn is_current(conn: &Connection, told: &Told) -> Result<(), StoreError> {
    let version = number(conn, "user_version").map_err(|e| told.of(&e))?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    refuse_foreign(conn, told)?;
    match version {
        newer if newer > known => Err(StoreError::TooNew { found: newer, known }),
        older if older < known => {
            Err(told
                .unusable("it is of an older version; start `vigie serve` on it once, which brings it up"))
        }
        _ => Ok(()),
    }
}

fn refuse_foreign(conn: &Connection, told: &Told) -> Result<(), StoreError> {
    let application = number(conn, "application_id").map_err(|e| told.of(&e))?;
    let tables: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|e| told.of(&e))?;
    if tables > 0 && application != APPLICATION {
        return Err(told.unusable("it is the database of another program; name another file"));
    }
    Ok(())
}

fn apply(conn: &mut Connection, version: usize, step: &Step) -> rusqlite::Result<()> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(step.sql)?;
    (step.then)(&tx)?;
    tx.pragma_update(None, "application_id", APPLICATION)?;
    tx.pragma_update(None, "user_version", i64::try_from(version).unwrap_or(i64::MAX))?;
    tx.commit()
}

fn number(conn: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, pragma, |row| row.get(0))
}
