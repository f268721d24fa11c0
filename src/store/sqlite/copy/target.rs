//! A new SQLite file that is copied to. It has another name until the copy is complete, so that no server opens it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use crate::store::contract::StoreError;
use crate::store::copy::{
    CopyFuture, CopyKey, CopyRow, CopySource, CopyTarget, LogicalTable, PageLimit, TABLES, TableProgress,
};
use crate::store::maintenance::MaintenanceError;
use crate::store::sqlite::durable_file::{beside, copy_owner, folder_of, publish};
use crate::store::sqlite::error::ErrorMapper;
use crate::store::sqlite::open;
use crate::store::sqlite::open::ProcessLock;
use crate::store::sqlite::settings::{SqliteSettings, Synchronous};

use super::table_reader;
use super::table_writer::{TextIds, insert_rows};

/// What the name of the file ends with until the copy is complete.
const SUFFIX: &str = ".copying";

/// The tables of an interrupted copy.
const CREATE_PROGRESS: &str = "
    CREATE TABLE copy_source (description TEXT NOT NULL);
    CREATE TABLE copy_progress (
        table_name  TEXT PRIMARY KEY,
        last_key    TEXT,             -- JSON
        row_count   INTEGER NOT NULL,
        is_complete INTEGER NOT NULL
    ) WITHOUT ROWID;";
const DROP_PROGRESS: &str = "DROP TABLE copy_progress; DROP TABLE copy_source";

/// A new SQLite file that is copied to.
pub struct SqliteCopyTarget {
    path: PathBuf,
    description: String,
    /// `None` before the copy begins and after it is complete.
    conn: Option<Connection>,
    error_mapper: ErrorMapper,
    text_ids: TextIds,
    _lock: ProcessLock,
}

impl SqliteCopyTarget {
    /// Locks `path`, where there must be no file. Blocks.
    ///
    /// # Errors
    /// [`MaintenanceError::Refused`] when there is a file.
    pub fn open(path: &Path) -> Result<Self, MaintenanceError> {
        for existing in [path, &beside(path, "-wal")] {
            if existing.exists() {
                let text = format!("`{}` exists; name a file that does not exist", existing.display());
                return Err(MaintenanceError::Refused(text));
            }
        }
        let error_mapper = ErrorMapper::new(path);
        let lock = open::acquire_lock(path, &error_mapper)?;
        copy_owner(&beside(path, ".lock"), folder_of(path))
            .map_err(|error| error_mapper.io_to_store_error("cannot write", &error))?;
        Ok(Self {
            path: path.to_owned(),
            description: path.display().to_string(),
            conn: None,
            error_mapper,
            text_ids: TextIds::default(),
            _lock: lock,
        })
    }

    fn begin_blocking(
        &mut self,
        source: &str,
        restarts: bool,
    ) -> Result<Vec<TableProgress>, MaintenanceError> {
        let partial = beside(&self.path, SUFFIX);
        if restarts {
            remove_with_logs(&partial)
                .map_err(|error| self.error_mapper.io_to_store_error("cannot restart", &error))?;
        }
        // A power cut may take the last pages, with their progress.
        let settings = SqliteSettings { synchronous: Synchronous::Normal, ..SqliteSettings::default() };
        let mut conn = open::open_writer(&partial, &settings, &self.error_mapper)?;
        let to_store_error = |error: rusqlite::Error| self.error_mapper.to_store_error(&error);
        let progress = match interrupted_source(&conn).map_err(to_store_error)? {
            None => {
                start(&mut conn, source).map_err(to_store_error)?;
                Vec::new()
            }
            Some(other) if other != source => {
                return Err(MaintenanceError::Refused(format!(
                    "`{}` is what an interrupted copy of `{other}` left\n\
                     hint: `--restart` removes it and begins again",
                    partial.display()
                )));
            }
            Some(_) => stored_progress(&conn).map_err(to_store_error)?,
        };
        self.conn = Some(conn);
        Ok(progress)
    }

    fn finish_blocking(&mut self, last_ids: &[(&'static str, i64)]) -> Result<(), StoreError> {
        let mut conn = self.conn.take().ok_or(StoreError::Closed)?;
        let complete = || -> rusqlite::Result<()> {
            let tx = conn.transaction()?;
            for (name, last_id) in last_ids {
                let Some(table) = TABLES.iter().find(|table| table.name == *name) else { continue };
                continue_ids_after(&tx, table.sqlite_name, *last_id)?;
            }
            tx.execute_batch(DROP_PROGRESS)?;
            tx.commit()?;
            conn.execute_batch("PRAGMA optimize")?;
            // The last connection moves the log into the file and removes it.
            conn.close().map_err(|(_, error)| error)
        };
        complete().map_err(|error| self.error_mapper.to_store_error(&error))?;
        let partial = beside(&self.path, SUFFIX);
        copy_owner(&partial, folder_of(&self.path))
            .map_err(|error| self.error_mapper.io_to_store_error("cannot write", &error))?;
        publish(&partial, &self.path, &self.error_mapper)
    }

    /// Runs `work` on the connection.
    fn with_conn<T>(
        &mut self,
        work: impl FnOnce(&mut Connection, &mut TextIds) -> rusqlite::Result<T>,
    ) -> Result<T, MaintenanceError> {
        let conn = self.conn.as_mut().ok_or(StoreError::Closed)?;
        work(conn, &mut self.text_ids).map_err(|error| self.error_mapper.to_store_error(&error).into())
    }
}

/// Returns the source of the interrupted copy in the file; `None` when no copy was started.
fn interrupted_source(conn: &Connection) -> rusqlite::Result<Option<String>> {
    let is_started: bool = conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'copy_source')",
        [],
        |row| row.get(0),
    )?;
    if !is_started {
        return Ok(None);
    }
    conn.query_row("SELECT description FROM copy_source", [], |row| row.get(0)).optional()
}

/// Removes what the migrations wrote, and notes the source.
fn start(conn: &mut Connection, source: &str) -> rusqlite::Result<()> {
    let tx = conn.transaction()?;
    for table in TABLES {
        tx.execute(&format!("DELETE FROM \"{}\"", table.sqlite_name), [])?;
    }
    tx.execute_batch(CREATE_PROGRESS)?;
    tx.execute("INSERT INTO copy_source VALUES (?1)", [source])?;
    tx.commit()
}

fn stored_progress(conn: &Connection) -> rusqlite::Result<Vec<TableProgress>> {
    let mut statement =
        conn.prepare("SELECT table_name, last_key, row_count, is_complete FROM copy_progress")?;
    let mut rows = statement.query([])?;
    let mut progress = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let Some(table) = TABLES.iter().find(|table| table.name == name) else { continue };
        let last_key: Option<String> = row.get(1)?;
        let last_key = last_key.map(|json| serde_json::from_str::<CopyKey>(&json)).transpose();
        let last_key = last_key.map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, error.into())
        })?;
        progress.push(TableProgress {
            table: table.name,
            last_key,
            row_count: row.get(2)?,
            is_complete: row.get(3)?,
        });
    }
    Ok(progress)
}

fn store_progress(conn: &Connection, progress: &TableProgress) -> rusqlite::Result<()> {
    let last_key = progress.last_key.as_ref().map(serde_json::to_string).transpose();
    let last_key = last_key.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    conn.prepare_cached("INSERT OR REPLACE INTO copy_progress VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        progress.table,
        last_key,
        progress.row_count,
        progress.is_complete
    ])?;
    Ok(())
}

/// Lets the next id of `table` follow `last_id`.
fn continue_ids_after(conn: &Connection, table: &str, last_id: i64) -> rusqlite::Result<()> {
    let updated = conn
        .execute("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", params![table, last_id])?;
    if updated == 0 {
        conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", params![table, last_id])?;
    }
    Ok(())
}

fn remove_with_logs(path: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm", "-journal", ""] {
        match fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

impl CopySource for SqliteCopyTarget {
    fn describe(&self) -> &str {
        &self.description
    }

    fn row_count(&mut self, table: &'static LogicalTable) -> CopyFuture<'_, u64> {
        Box::pin(async move { self.with_conn(|conn, _| table_reader::row_count(conn, table)) })
    }

    fn read_page(
        &mut self,
        table: &'static LogicalTable,
        after: Option<CopyKey>,
        limit: PageLimit,
    ) -> CopyFuture<'_, Vec<CopyRow>> {
        Box::pin(async move {
            let conn = self.conn.as_ref().ok_or(StoreError::Closed)?;
            Ok(table_reader::read_page(conn, &self.error_mapper, table, after.as_ref(), limit)?)
        })
    }

    fn last_ids(&mut self) -> CopyFuture<'_, Vec<(&'static str, i64)>> {
        Box::pin(async move { self.with_conn(|conn, _| table_reader::last_ids(conn)) })
    }
}

impl CopyTarget for SqliteCopyTarget {
    fn begin(&mut self, source: String, restarts: bool) -> CopyFuture<'_, Vec<TableProgress>> {
        Box::pin(async move { self.begin_blocking(&source, restarts) })
    }

    fn write_page(
        &mut self,
        table: &'static LogicalTable,
        rows: Vec<CopyRow>,
        progress: TableProgress,
    ) -> CopyFuture<'_, ()> {
        Box::pin(async move {
            self.with_conn(|conn, text_ids| {
                let tx = conn.transaction()?;
                insert_rows(&tx, table, &rows, text_ids)?;
                store_progress(&tx, &progress)?;
                tx.commit()
            })
        })
    }

    fn finish(&mut self, last_ids: Vec<(&'static str, i64)>) -> CopyFuture<'_, ()> {
        Box::pin(async move { Ok(self.finish_blocking(&last_ids)?) })
    }
}
