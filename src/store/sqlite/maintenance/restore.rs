//! Restores an SQLite file from a backup.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::domain::Timestamp;
use crate::store::contract::StoreError;
use crate::store::maintenance::{MaintenanceError, RestoreSummary};
use crate::store::sqlite::durable_file::{
    NewFile, beside, copy_owner, folder_of, is_same_file, publish, sync_folder_of,
};
use crate::store::sqlite::error::ErrorMapper;
use crate::store::sqlite::settings::SqliteSettings;
use crate::store::sqlite::{migrations, open};

use super::migrate::migrate_locked;
use super::page_copy::{OnProgress, copy_pages};

/// Copies the backup `file` to `path` and migrates it. A database at `path` that contains data is refused, or moved
/// aside when `moves_existing`. Blocks.
///
/// # Errors
/// [`MaintenanceError::Refused`] when there are data; [`StoreError::Locked`] while a server uses the database;
/// [`StoreError::TooNew`] or [`StoreError::Unusable`] for a file that is no sound backup of Vigie.
pub fn restore(
    file: &Path,
    path: &Path,
    moves_existing: bool,
    now: Timestamp,
    on_progress: OnProgress<'_>,
) -> Result<RestoreSummary, MaintenanceError> {
    let file_mapper = ErrorMapper::new(file);
    if !file.is_file() {
        return Err(file_mapper.unusable_error("there is no such file").into());
    }
    if is_same_file(file, path) {
        let text = format!("`{}` is the database itself; name a backup", file.display());
        return Err(MaintenanceError::Refused(text));
    }
    let error_mapper = ErrorMapper::new(path);
    let lock_existed = beside(path, ".lock").exists();
    let _lock = open::acquire_lock(path, &error_mapper)?;
    let io_error = |error: &io::Error| error_mapper.io_to_store_error("cannot restore", error);
    if !lock_existed {
        copy_owner(&beside(path, ".lock"), folder_of(path)).map_err(|error| io_error(&error))?;
    }
    if !moves_existing && may_contain_data(path, &error_mapper) {
        return Err(MaintenanceError::Refused(format!(
            "`{}` contains data; restore to another place, or move it aside with `--force`",
            path.display()
        )));
    }
    let restored = beside(path, ".restoring");
    let new_file = NewFile::create(&restored, &error_mapper)?;
    let outcome = copy_pages(file, &restored, &file_mapper, on_progress)
        .and_then(|()| migrate_locked(&restored, &ErrorMapper::new(&restored)));
    let migration = match outcome {
        Ok(migration) => migration,
        Err(error) => {
            // What is left of it takes space; the error of the copy is the one to report.
            let _ = fs::remove_file(&restored);
            return Err(error.into());
        }
    };
    let reference = if path.exists() { path } else { folder_of(path) };
    copy_owner(&restored, reference).map_err(|error| io_error(&error))?;
    let previous_path = move_aside(path, now).map_err(|error| io_error(&error))?;
    publish(&restored, path, &error_mapper)?;
    drop(new_file);
    Ok(RestoreSummary { migration, previous_path })
}

/// Whether the database at `path` contains more than a new one, or cannot be read.
fn may_contain_data(path: &Path, error_mapper: &ErrorMapper) -> bool {
    let log_is_empty = fs::metadata(beside(path, "-wal")).map_or(true, |metadata| metadata.len() == 0);
    match fs::metadata(path) {
        Err(_) => !log_is_empty,
        Ok(metadata) if metadata.len() == 0 && log_is_empty => false,
        Ok(_) => {
            let conn = open::open_reader(path, &SqliteSettings::default(), error_mapper);
            !conn.is_ok_and(|conn| is_empty(&conn, error_mapper).unwrap_or(false))
        }
    }
}

/// Whether the database contains only what its migrations write.
fn is_empty(conn: &Connection, error_mapper: &ErrorMapper) -> Result<bool, StoreError> {
    migrations::check_version(conn, error_mapper)?;
    let exists = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, bool>(0));
    let has_data = exists(
        "SELECT EXISTS (SELECT 1 FROM results) OR EXISTS (SELECT 1 FROM monitors)
             OR EXISTS (SELECT 1 FROM rollups) OR EXISTS (SELECT 1 FROM audit)
             OR EXISTS (SELECT 1 FROM records WHERE id <> 1 OR revision <> 1)",
    );
    has_data.map(|has_data| !has_data).map_err(|error| error_mapper.to_store_error(&error))
}

/// Moves the database at `path` and its log aside; returns its new path. A new database must never meet the log of an
/// old one, so the log goes first.
fn move_aside(path: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let time_text: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let aside = beside(path, &format!(".before-restore-{time_text}"));
    let mut is_moved = false;
    for suffix in ["-wal", "-shm", ""] {
        match fs::rename(beside(path, suffix), beside(&aside, suffix)) {
            Ok(()) => is_moved = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    sync_folder_of(path)?;
    Ok(is_moved.then_some(aside))
}
