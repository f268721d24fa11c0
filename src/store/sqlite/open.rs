//! Opens the file: the lock of the process, the connections and how they are set up.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};
use rusqlite::{Connection, OpenFlags};

use crate::store::StoreError;

use super::error::Told;
use super::{SqliteSettings, Synchronous, schema};

/// Rights of the files, as they are made.
const PRIVATE: u32 = 0o600;

/// Held as long as the database is open; the system drops it with the process, however that ends.
pub(super) type Lock = Flock<File>;

/// Makes sure that no other process works on `path`.
///
/// # Errors
/// [`StoreError::Locked`] with the process id of the holder.
pub(super) fn lock(path: &Path, told: &Told) -> Result<Lock, StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        // Hashes of passwords lie there: nobody else on this host is to read them.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|e| told.of_io(&format!("cannot make the folder `{}`", folder.display()), &e))?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE)
        .open(&name)
        .map_err(|e| told.of_io(&format!("cannot open `{}`", Path::new(&name).display()), &e))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(mut lock) => {
            write_pid(&mut lock).map_err(|e| told.of_io("cannot write the lock file", &e))?;
            Ok(lock)
        }
        Err((file, nix::errno::Errno::EWOULDBLOCK)) => Err(StoreError::Locked(held_by(path, file))),
        Err((_, errno)) => Err(told.of_io("cannot lock", &errno.into())),
    }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn held_by(path: &Path, file: File) -> String {
    let mut pid = String::new();
    let whom = match file.take(20).read_to_string(&mut pid) {
        Ok(1..) => format!("process {}", pid.trim()),
        _ => "another process".to_owned(),
    };
    format!("`{}` is in use by {whom}; stop it, or name another data folder", path.display())
}

/// Opens the connection that writes, and brings the file up to this version.
pub(super) fn writer(path: &Path, settings: &SqliteSettings, told: &Told) -> Result<Connection, StoreError> {
    // What SQLite puts beside the file gets the same rights.
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE)
        .open(path)
        .map_err(|e| told.of_io(&format!("cannot open `{}`", path.display()), &e))?;
    let mut conn = Connection::open(path).map_err(|e| told.of(&e))?;
    set_up_writer(&conn, settings).map_err(|e| told.of(&e))?;
    schema::migrate(&mut conn, told)?;
    Ok(conn)
}

fn set_up_writer(conn: &Connection, settings: &SqliteSettings) -> rusqlite::Result<()> {
    conn.busy_timeout(settings.busy_timeout)?;
    // Before the first table and before WAL, else it has no effect.
    conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let level = match settings.synchronous {
        Synchronous::Normal => "NORMAL",
        Synchronous::Full => "FULL",
    };
    conn.pragma_update(None, "synchronous", level)?;
    conn.pragma_update(None, "cache_size", -64 * 1024)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update_and_check(None, "wal_autocheckpoint", 16 * 1024, |_| Ok(()))?;
    conn.pragma_update_and_check(None, "journal_size_limit", 256 * 1024 * 1024, |_| Ok(()))?;
    if let Some(bytes) = settings.max_bytes {
        let page: u64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from((bytes / page).max(1)).unwrap_or(i64::MAX);
        conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Opens a connection that reads.
pub(super) fn reader(path: &Path, settings: &SqliteSettings, told: &Told) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(|e| told.of(&e))?;
    let set_up = || -> rusqlite::Result<()> {
        conn.busy_timeout(settings.busy_timeout)?;
        conn.pragma_update(None, "cache_size", -8 * 1024)?;
        conn.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    set_up().map_err(|e| told.of(&e))?;
    Ok(conn)
}
