//! What the commands of `vigie store` return, whatever the engine is.

use std::path::PathBuf;
use std::time::Duration;

use super::contract::StoreError;
use super::location::{PostgresLocation, StoreLocation};
use crate::domain::Timestamp;

/// Why a command of `vigie store` did nothing, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MaintenanceError {
    /// It would destroy or mix data; the text says what to do. Nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The store or a file failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a store contains, and whether it is sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreReport {
    /// Version of its tables.
    pub schema_version: i64,
    /// Newest version that this build knows.
    pub newest_version: i64,
    /// Its size on disk in bytes, with what is not yet moved into its main file.
    pub size_bytes: u64,
    /// What it contains; `None` when it cannot be read.
    pub contents: Option<StoreContents>,
    /// What is wrong with it; empty when it is sound.
    pub problems: Vec<String>,
}

/// What a store contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreContents {
    /// Monitors that were not removed.
    pub monitor_count: u64,
    /// Results.
    pub result_count: u64,
    /// Planned time of the oldest and the newest result; `None` without results.
    pub planned_range: Option<(Timestamp, Timestamp)>,
}

/// The versions before and after a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationSummary {
    /// Version before; 0 for a database without tables.
    pub from_version: i64,
    /// Version after.
    pub to_version: i64,
}

/// A finished backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    /// Size of the copy in bytes.
    pub size_bytes: u64,
    /// How long it took.
    pub duration: Duration,
}

/// A finished restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreSummary {
    /// Version of the tables in the backup, and after the restore.
    pub migration: MigrationSummary,
    /// Where the database that was replaced is now; `None` when there was none.
    pub previous_path: Option<PathBuf>,
}

/// Returns the file of `location`.
///
/// # Errors
/// [`MaintenanceError::Refused`] for PostgreSQL, with the command of PostgreSQL that does the same.
pub fn require_sqlite(
    location: &StoreLocation,
    postgres_command: impl FnOnce(&PostgresLocation) -> String,
) -> Result<PathBuf, MaintenanceError> {
    match location {
        StoreLocation::Sqlite(path) => Ok(path.clone()),
        StoreLocation::Postgres(postgres) => Err(MaintenanceError::Refused(format!(
            "this command is for SQLite; PostgreSQL has its own\nhint: run `{}`",
            postgres_command(postgres)
        ))),
    }
}
