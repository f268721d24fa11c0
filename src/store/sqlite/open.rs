//! Opens the database: the process lock, the connections and their settings.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};
use rusqlite::{Connection, OpenFlags};

use crate::store::contract::StoreError;

use super::error::ErrorMapper;
use super::migrations;
use super::settings::{DATABASE_FILE, SqliteSettings, Synchronous};

/// Mode of new files and directories: they contain password hashes, scripts and responses of targets.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// A lock held while the database is open; the system releases it when the process ends for any reason.
pub type ProcessLock = Flock<File>;

/// Locks a data folder whose database is elsewhere against other processes, also those with an SQLite file in it.
///
/// # Errors
/// [`StoreError::Locked`] with the process id of the holder.
pub fn lock_data_folder(folder: &Path) -> Result<ProcessLock, StoreError> {
    let path = folder.join(DATABASE_FILE);
    acquire_lock(&path, &ErrorMapper::new(&path))
}

/// Locks `path` against other processes.
///
/// # Errors
/// [`StoreError::Locked`] with the process id of the holder.
pub(super) fn acquire_lock(path: &Path, error_mapper: &ErrorMapper) -> Result<ProcessLock, StoreError> {
    if let Some(parent_folder) = path.parent().filter(|parent_folder| !parent_folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(parent_folder).map_err(|e| {
            error_mapper
                .io_to_store_error(&format!("cannot create the directory `{}`", parent_folder.display()), &e)
        })?;
    }
    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".lock");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(&lock_path)
        .map_err(|e| {
            error_mapper.io_to_store_error(&format!("cannot open `{}`", Path::new(&lock_path).display()), &e)
        })?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(mut lock) => {
            write_pid(&mut lock)
                .map_err(|e| error_mapper.io_to_store_error("cannot write the lock file", &e))?;
            Ok(lock)
        }
        Err((file, nix::errno::Errno::EWOULDBLOCK)) => Err(StoreError::Locked(in_use_message(path, file))),
        Err((_, errno)) => Err(error_mapper.io_to_store_error("cannot lock", &errno.into())),
    }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn in_use_message(path: &Path, lock_file: File) -> String {
    let mut pid = String::new();
    let holder = match lock_file.take(20).read_to_string(&mut pid) {
        Ok(1..) => format!("process {}", pid.trim()),
        _ => "another process".to_owned(),
    };
    format!("`{}` is in use by {holder}; stop it, or name another data folder", path.display())
}

/// Opens the writing connection and migrates the file.
pub(super) fn open_writer(
    path: &Path,
    settings: &SqliteSettings,
    error_mapper: &ErrorMapper,
) -> Result<Connection, StoreError> {
    // SQLite would create it readable for everyone; its log and index inherit the mode of this file.
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(FILE_MODE)
        .open(path)
        .map_err(|e| error_mapper.io_to_store_error(&format!("cannot open `{}`", path.display()), &e))?;
    let mut conn = Connection::open(path).map_err(|e| error_mapper.to_store_error(&e))?;
    configure_writer(&conn, settings).map_err(|e| error_mapper.to_store_error(&e))?;
    migrations::migrate(&mut conn, error_mapper)?;
    Ok(conn)
}

fn configure_writer(conn: &Connection, settings: &SqliteSettings) -> rusqlite::Result<()> {
    conn.busy_timeout(settings.busy_timeout)?;
    // Has no effect after the first table is created or WAL is enabled.
    conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let synchronous = match settings.synchronous {
        Synchronous::Normal => "NORMAL",
        Synchronous::Full => "FULL",
    };
    conn.pragma_update(None, "synchronous", synchronous)?;
    let cache_kib = i64::try_from(settings.cache_bytes / 1024).unwrap_or(i64::MAX);
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update_and_check(None, "wal_autocheckpoint", 16 * 1024, |_| Ok(()))?;
    conn.pragma_update_and_check(None, "journal_size_limit", 256 * 1024 * 1024, |_| Ok(()))?;
    if let Some(bytes) = settings.max_file_bytes {
        let page_bytes: u64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let max_pages = i64::try_from((bytes / page_bytes).max(1)).unwrap_or(i64::MAX);
        conn.pragma_update_and_check(None, "max_page_count", max_pages, |_| Ok(()))?;
    }
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Opens a reading connection.
pub(super) fn open_reader(
    path: &Path,
    settings: &SqliteSettings,
    error_mapper: &ErrorMapper,
) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(|e| error_mapper.to_store_error(&e))?;
    let configure = || -> rusqlite::Result<()> {
        conn.busy_timeout(settings.busy_timeout)?;
        conn.pragma_update(None, "cache_size", -8 * 1024)?;
        conn.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    configure().map_err(|e| error_mapper.to_store_error(&e))?;
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use crate::store::{SqliteSettings, SqliteStore};

    #[tokio::test]
    async fn a_new_database_is_accessible_to_its_owner_only() {
        let parent = tempfile::tempdir().unwrap();
        std::fs::set_permissions(parent.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let folder = parent.path().join("data/inner");
        let store = SqliteStore::open(&folder.join("vigie.db"), &SqliteSettings::default()).unwrap();
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&parent.path().join("data"))), (0o700, 0o700));
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 4, "{files:?}");
        for file in files {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        store.close().await;
    }
}
