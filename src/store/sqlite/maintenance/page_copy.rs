//! Copies an SQLite file page by page while other processes use it.

use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::store::contract::StoreError;
use crate::store::sqlite::error::ErrorMapper;
use crate::store::sqlite::settings::SqliteSettings;
use crate::store::sqlite::{migrations, open};

use super::inspect::integrity_problems;

/// Pages that are copied between two reports of the progress; 8 MiB.
const STEP_PAGES: i32 = 2_048;

/// Receives how many pages are copied, of how many.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// Copies the database at `source` into the empty file at `target`, as one consistent file without a log, and checks
/// the copy. Takes no lock: in WAL mode it reads one snapshot, which blocks nobody.
pub(super) fn copy_pages(
    source: &Path,
    target: &Path,
    error_mapper: &ErrorMapper,
    on_progress: OnProgress<'_>,
) -> Result<(), StoreError> {
    let source_conn = open::open_reader(source, &SqliteSettings::default(), error_mapper)?;
    migrations::check_application_id(&source_conn, error_mapper)?;
    let version = migrations::stored_version(&source_conn).map_err(|e| error_mapper.to_store_error(&e))?;
    match version {
        0 => return Err(error_mapper.unusable_error("it has no tables of Vigie")),
        newer if newer > migrations::newest_version() => {
            return Err(StoreError::TooNew { found: newer, known: migrations::newest_version() });
        }
        _ => {}
    }
    let target_mapper = ErrorMapper::new(target);
    copy_snapshot(&source_conn, target, error_mapper, on_progress).and_then(|()| {
        drop(source_conn);
        finish_copy(target).map_err(|error| target_mapper.to_store_error(&error))
    })?;
    check_copy(target, &target_mapper)
}

fn copy_snapshot(
    source_conn: &Connection,
    target: &Path,
    error_mapper: &ErrorMapper,
    on_progress: OnProgress<'_>,
) -> Result<(), StoreError> {
    let mut copy = || -> rusqlite::Result<()> {
        // Without an open snapshot, each commit of a server would start the copy again.
        source_conn.execute_batch("BEGIN")?;
        let _: i64 = source_conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let mut target_conn = open_target(target)?;
        let backup = Backup::new(source_conn, &mut target_conn)?;
        loop {
            let step = backup.step(STEP_PAGES)?;
            let progress = backup.progress();
            let (total, remaining) = (progress.pagecount, progress.remaining);
            let to_count = |pages: i32| u64::try_from(pages).unwrap_or_default();
            on_progress(to_count(total - remaining), to_count(total));
            match step {
                StepResult::Done => return Ok(()),
                // Another program has locked the whole file.
                StepResult::Busy | StepResult::Locked => {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
                _ => {}
            }
        }
    };
    copy().map_err(|error| error_mapper.to_store_error(&error))
}

/// Opens the file that is written. It becomes visible when it is complete and on disk, so it needs no log.
fn open_target(target: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(target, flags)?;
    conn.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    Ok(conn)
}

/// Takes the copy out of WAL mode, which it has from its source: it is a single file then.
fn finish_copy(target: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(target, flags)?;
    conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    conn.close().map_err(|(_, error)| error)
}

/// Checks that the copy is sound.
fn check_copy(target: &Path, error_mapper: &ErrorMapper) -> Result<(), StoreError> {
    let conn = open::open_reader(target, &SqliteSettings::default(), error_mapper)?;
    let problems = integrity_problems(&conn).map_err(|error| error_mapper.to_store_error(&error))?;
    match problems.first() {
        None => Ok(()),
        Some(problem) => Err(error_mapper.unusable_error(&format!(
            "the copy is damaged, and so is the database that it was copied from ({problem})"
        ))),
    }
}
