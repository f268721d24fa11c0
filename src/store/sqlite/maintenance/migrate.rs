//! Brings the tables of an SQLite file to the newest version.

use std::path::Path;

use crate::store::contract::StoreError;
use crate::store::maintenance::MigrationSummary;
use crate::store::sqlite::error::ErrorMapper;
use crate::store::sqlite::settings::SqliteSettings;
use crate::store::sqlite::{migrations, open};

/// Migrates the file at `path`. Blocks.
///
/// # Errors
/// [`StoreError::Locked`] while a server uses the file, [`StoreError::TooNew`] for a file of a newer Vigie,
/// [`StoreError::Unusable`] when it does not exist or is of another program.
pub fn migrate_file(path: &Path) -> Result<MigrationSummary, StoreError> {
    let error_mapper = ErrorMapper::new(path);
    if !path.exists() {
        return Err(error_mapper.unusable_error("the file does not exist"));
    }
    let _lock = open::acquire_lock(path, &error_mapper)?;
    migrate_locked(path, &error_mapper)
}

/// Migrates the file at `path`, whose lock the caller holds or needs none, and moves its log into it.
pub(super) fn migrate_locked(
    path: &Path,
    error_mapper: &ErrorMapper,
) -> Result<MigrationSummary, StoreError> {
    let to_store_error = |error: rusqlite::Error| error_mapper.to_store_error(&error);
    let settings = SqliteSettings::default();
    let from_version = {
        let conn = open::open_reader(path, &settings, error_mapper)?;
        migrations::stored_version(&conn).map_err(to_store_error)?
    };
    let conn = open::open_writer(path, &settings, error_mapper)?;
    let to_version = migrations::stored_version(&conn).map_err(to_store_error)?;
    let (): () = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(to_store_error)?;
    conn.close().map_err(|(_, error)| to_store_error(error))?;
    Ok(MigrationSummary { from_version, to_version })
}
