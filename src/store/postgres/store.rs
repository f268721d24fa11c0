//! The store in a PostgreSQL database.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;

use crate::store::contract::{MonitorChangeLog, Store, StoreError, StoreFuture};
use crate::sync::Mutex;

use super::connect;
use super::error::ErrorMapper;
use super::exclusive_use::ExclusiveUse;
use super::known_days::KnownDays;
use super::settings::PostgresSettings;
use super::shared_texts::KnownTexts;
use super::states::KnownPairs;
use super::timeline;

/// The store in a PostgreSQL database.
pub struct PostgresStore {
    pub(super) pool: PgPool,
    pub(super) error_mapper: ErrorMapper,
    /// Longest duration of a statement.
    pub(super) query_timeout: Duration,
    pub(super) caches: Arc<Caches>,
    /// How long a call waits for a connection.
    pub(super) connect_timeout: Duration,
    /// Held by a store that writes, unless it is that of a controller.
    pub(super) exclusive_use: Option<ExclusiveUse>,
    /// The epoch of the controller that writes, while it leads.
    pub(super) leader_epoch: Option<i64>,
    /// The timeline in which the database was opened, for a store that writes.
    pub(super) timeline: Option<String>,
    /// When the server reset its statistics, as far as known (`transaction.rs`).
    pub(super) last_reset: Mutex<Option<String>>,
    /// Held by the update of throttle counters that runs (`throttles.rs`).
    pub(super) throttle_updates: tokio::sync::Mutex<()>,
}

/// What this process knows to be stored, so that it is not written again.
#[derive(Default)]
pub(super) struct Caches {
    pub(super) days: KnownDays,
    pub(super) texts: KnownTexts,
    pub(super) pairs: KnownPairs,
    /// The monitors whose states changed.
    pub(super) state_changes: MonitorChangeLog,
}

impl PostgresStore {
    /// Connects to the database and brings its tables to the newest version.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process uses the database,
    /// [`StoreError::Unavailable`] when the server cannot be reached, [`StoreError::TooNew`] for the tables of a newer
    /// Vigie, [`StoreError::Unusable`] when it refuses the user, is too old, holds the tables of another program, is
    /// read-only, or its clock is off.
    pub async fn connect(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let error_mapper = ErrorMapper { url: settings.location.to_string() };
        let (pool, mut session) = connect::open_pool(settings, &error_mapper).await?;
        let timeline = timeline::read(&mut session).await;
        let timeline = Some(timeline.map_err(|error| error_mapper.to_store_error(&error))?);
        if settings.leader_epoch.is_some() {
            // The lease of the controllers keeps others out, and its session has the lock.
            return Ok(Self { timeline, ..Self::new(pool, error_mapper, settings) });
        }
        let exclusive_use = ExclusiveUse::acquire(session, settings, &error_mapper).await?;
        Ok(Self { exclusive_use: Some(exclusive_use), timeline, ..Self::new(pool, error_mapper, settings) })
    }

    /// Connects to a database whose tables are of the newest version, for reading; changes nothing.
    ///
    /// # Errors
    /// Like [`Self::connect`], and [`StoreError::Unusable`] for tables of an older Vigie.
    pub(super) async fn connect_read_only(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let error_mapper = ErrorMapper { url: settings.location.to_string() };
        let pool = connect::open_read_only_pool(settings, &error_mapper).await?;
        Ok(Self::new(pool, error_mapper, settings))
    }

    fn new(pool: PgPool, error_mapper: ErrorMapper, settings: &PostgresSettings) -> Self {
        Self {
            pool,
            error_mapper,
            query_timeout: settings.query_timeout,
            caches: Arc::new(Caches::default()),
            connect_timeout: settings.connect_timeout,
            exclusive_use: None,
            leader_epoch: settings.leader_epoch,
            timeline: None,
            last_reset: Mutex::new(None),
            throttle_updates: tokio::sync::Mutex::default(),
        }
    }
}

impl Store for PostgresStore {
    fn describe(&self) -> &str {
        &self.error_mapper.url
    }

    fn timeline(&self) -> Option<&str> {
        self.timeline.as_deref()
    }

    fn has_lost_commits(&self) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let current = self.read(|conn| Box::pin(timeline::read(conn))).await?;
            Ok(self.timeline.as_ref().is_some_and(|opened| *opened != current))
        })
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            self.pool.close().await;
            if let Some(exclusive_use) = &self.exclusive_use {
                exclusive_use.release();
            }
        })
    }
}
