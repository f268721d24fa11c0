//! Opens the store that a location names: the only place that chooses the engine.

use std::sync::Arc;
use std::time::Duration;

use super::contract::{ReadOnlyStore, Store, StoreError};
use super::copy::{CopySource, CopyTarget};
use super::location::{PostgresLocation, StoreLocation};
use super::maintenance::{MaintenanceError, MigrationSummary, StoreReport};
use super::postgres::{
    self, ControllerLease, PostgresCopySource, PostgresCopyTarget, PostgresReadOnlyStore, PostgresSettings,
    PostgresStore,
};
use super::sqlite::{
    self, SqliteCopySource, SqliteCopyTarget, SqliteReadOnlyStore, SqliteSettings, SqliteStore, Synchronous,
};
use crate::telemetry::TaskRegistry;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// When a commit counts as durable (SQLite).
    pub synchronous: Synchronous,
    /// Most bytes of pages that SQLite caches.
    pub cache_bytes: u64,
    /// Number of threads that read SQLite.
    pub reader_threads: usize,
    /// Most connections to PostgreSQL.
    pub max_connections: u32,
    /// How long to wait for a connection to PostgreSQL.
    pub connect_timeout: Duration,
    /// Longest duration of a query.
    pub query_timeout: Duration,
    /// The epoch of the controller that writes to PostgreSQL.
    pub leader_epoch: Option<i64>,
    /// Watches the threads and tasks of the store; `None` outside of the server.
    pub tasks: Option<Arc<TaskRegistry>>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        let sqlite = SqliteSettings::default();
        Self {
            synchronous: sqlite.synchronous,
            cache_bytes: sqlite.cache_bytes,
            reader_threads: sqlite.reader_threads,
            max_connections: 10,
            connect_timeout: Duration::from_secs(10),
            query_timeout: sqlite.query_timeout,
            leader_epoch: None,
            tasks: None,
        }
    }
}

impl StoreOptions {
    /// Returns them for a command, which reads and writes one thing after the other.
    #[must_use]
    pub fn for_command(self) -> Self {
        Self { reader_threads: 1, max_connections: self.max_connections.min(2), ..self }
    }

    fn postgres_settings(self, location: PostgresLocation) -> PostgresSettings {
        PostgresSettings {
            max_connections: self.max_connections,
            connect_timeout: self.connect_timeout,
            query_timeout: self.query_timeout,
            leader_epoch: self.leader_epoch,
            ..PostgresSettings::new(location)
        }
    }

    fn sqlite_settings(self) -> SqliteSettings {
        SqliteSettings {
            synchronous: self.synchronous,
            cache_bytes: self.cache_bytes,
            reader_threads: self.reader_threads,
            query_timeout: self.query_timeout,
            tasks: self.tasks,
            ..SqliteSettings::default()
        }
    }
}

/// Opens the store at `location`, creates it if it does not exist, and migrates it.
///
/// # Errors
/// Those of [`SqliteStore::open`] and [`PostgresStore::connect`].
pub async fn open_store(
    location: &StoreLocation,
    options: StoreOptions,
) -> Result<Arc<dyn Store>, StoreError> {
    match location {
        StoreLocation::Sqlite(path) => {
            let (path, settings) = (path.clone(), options.sqlite_settings());
            Ok(Arc::new(run_blocking(move || SqliteStore::open(&path, &settings)).await?))
        }
        StoreLocation::Postgres(postgres) => {
            let settings = options.postgres_settings(postgres.clone());
            Ok(Arc::new(PostgresStore::connect(&settings).await?))
        }
    }
}

/// Opens a session for the lease of the controllers of the database at `location`.
///
/// # Errors
/// Those of [`ControllerLease::connect`].
pub async fn open_lease(
    location: &PostgresLocation,
    options: StoreOptions,
) -> Result<ControllerLease, StoreError> {
    ControllerLease::connect(&options.postgres_settings(location.clone())).await
}

/// Opens the store at `location` for reading; a server may use it meanwhile.
///
/// # Errors
/// Those of [`SqliteReadOnlyStore::open`], and of [`PostgresStore::connect`].
pub async fn open_read_only_store(
    location: &StoreLocation,
    options: StoreOptions,
) -> Result<Arc<dyn ReadOnlyStore>, StoreError> {
    match location {
        StoreLocation::Sqlite(path) => {
            let (path, settings) = (path.clone(), options.sqlite_settings());
            Ok(Arc::new(run_blocking(move || SqliteReadOnlyStore::open(&path, &settings)).await?))
        }
        StoreLocation::Postgres(postgres) => {
            let settings = options.postgres_settings(postgres.clone());
            Ok(Arc::new(PostgresReadOnlyStore::connect(&settings).await?))
        }
    }
}

/// Says what the store at `location` contains and whether it is sound; a server may use it meanwhile.
///
/// # Errors
/// [`StoreError::Unusable`] when it cannot be read or is of another program.
pub async fn inspect_store(
    location: &StoreLocation,
    options: StoreOptions,
) -> Result<StoreReport, StoreError> {
    match location {
        StoreLocation::Sqlite(path) => {
            let path = path.clone();
            run_blocking(move || sqlite::inspect(&path)).await
        }
        StoreLocation::Postgres(postgres) => {
            postgres::inspect(&options.postgres_settings(postgres.clone())).await
        }
    }
}

/// Brings the tables of the store at `location` to the newest version.
///
/// # Errors
/// [`StoreError::Locked`] while a server uses it, [`StoreError::TooNew`] when a newer Vigie wrote it.
pub async fn migrate_store(
    location: &StoreLocation,
    options: StoreOptions,
) -> Result<MigrationSummary, StoreError> {
    match location {
        StoreLocation::Sqlite(path) => {
            let path = path.clone();
            run_blocking(move || sqlite::migrate_file(&path)).await
        }
        StoreLocation::Postgres(postgres) => {
            postgres::migrate(&options.postgres_settings(postgres.clone())).await
        }
    }
}

/// Opens the store at `location` to be copied; no server can use it meanwhile.
///
/// # Errors
/// [`StoreError::Locked`] while a server uses it, [`StoreError::Unusable`] when it is of an older version.
pub async fn open_copy_source(
    location: &StoreLocation,
    options: StoreOptions,
) -> Result<Box<dyn CopySource>, StoreError> {
    match location {
        StoreLocation::Sqlite(path) => {
            let path = path.clone();
            Ok(Box::new(run_blocking(move || SqliteCopySource::open(&path)).await?))
        }
        StoreLocation::Postgres(postgres) => {
            let settings = options.postgres_settings(postgres.clone());
            Ok(Box::new(PostgresCopySource::open(&settings).await?))
        }
    }
}

/// Opens the store at `location` to be copied to; no server can use it until the copy is complete.
///
/// # Errors
/// [`MaintenanceError::Refused`] when it contains data.
pub async fn open_copy_target(
    location: &StoreLocation,
    options: StoreOptions,
) -> Result<Box<dyn CopyTarget>, MaintenanceError> {
    match location {
        StoreLocation::Sqlite(path) => Ok(Box::new(SqliteCopyTarget::open(path)?)),
        StoreLocation::Postgres(postgres) => {
            let settings = options.postgres_settings(postgres.clone());
            Ok(Box::new(PostgresCopyTarget::open(&settings).await?))
        }
    }
}

async fn run_blocking<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let outcome = tokio::task::spawn_blocking(open).await;
    outcome.unwrap_or_else(|error| Err(StoreError::Panicked(error.to_string())))
}
