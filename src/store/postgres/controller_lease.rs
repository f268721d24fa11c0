//! The lease of the controller that leads: a row with its epoch and the time when it ends, by the clock of the database.
//!
//! Each transaction of the leader locks the row by its epoch (`FOR KEY SHARE`). A renewal changes no key and does not
//! wait for them. A new leader changes the epoch, so that it waits for the transactions of the one before, and that one
//! can begin none afterwards.

use std::time::Duration;

use sqlx::{Connection, PgConnection};

use super::connect::{self, LEADER_APPLICATION_NAME};
use super::error::{ErrorMapper, PgResult};
use super::exclusive_use;
use super::settings::PostgresSettings;
use crate::store::contract::{ControllerAddress, LEASE_DURATION, Leader, StoreError};

/// Longest duration of a statement: a database that does not reply sooner is away.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(3);

/// A session of a controller for the lease.
pub struct ControllerLease {
    conn: PgConnection,
    error_mapper: ErrorMapper,
}

/// A row of the lease.
type LeaseRow = (i64, String, String, Option<Vec<u8>>, bool);

impl ControllerLease {
    /// Connects to the database, after checks and migrations. No server without controllers can use it meanwhile.
    ///
    /// # Errors
    /// Those of [`PostgresStore::connect`](super::PostgresStore::connect).
    pub async fn connect(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let error_mapper = ErrorMapper { url: settings.location.to_string() };
        let mut conn = connect::open_checked(settings, &error_mapper).await?;
        let locked = exclusive_use::lock_shared(&mut conn, &error_mapper).await;
        locked.map_err(|error| error_mapper.to_store_error(&error))?;
        Ok(Self { conn, error_mapper })
    }

    /// Returns the controller that led last; `None` if none has led yet.
    ///
    /// # Errors
    /// Fails when the database is away. Connect again then.
    pub async fn leader(&mut self) -> Result<Option<Leader>, StoreError> {
        const QUERY: &str = "SELECT epoch, holder, url, certificate_sha256, expires_at < clock_timestamp()
             FROM controller_lease";
        let row = self.in_time(async |conn| Ok(sqlx::query_as(QUERY).fetch_one(conn).await?)).await?;
        let (epoch, name, url, certificate, is_expired): LeaseRow = row;
        if epoch == 0 {
            return Ok(None);
        }
        let certificate_sha256 = certificate.and_then(|bytes| bytes.try_into().ok());
        let address = ControllerAddress { name, url, certificate_sha256 };
        Ok(Some(Leader { epoch, address, is_expired }))
    }

    /// Takes the lease for `address` if it has expired; returns the epoch of the new leader.
    ///
    /// Sessions of the leader before are ended first: their transactions would be waited for, and that of a process that
    /// is stopped would last.
    ///
    /// # Errors
    /// Fails when the database is away. Connect again then.
    pub async fn take(&mut self, address: &ControllerAddress) -> Result<Option<i64>, StoreError> {
        const END_SESSIONS: &str = "SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity AS a
             WHERE a.datname = current_database() AND a.usename = current_user AND a.application_name = $1
                 AND EXISTS (SELECT 1 FROM controller_lease WHERE expires_at < clock_timestamp())";
        const TAKE: &str = "UPDATE controller_lease SET epoch = epoch + 1, holder = $1, url = $2,
                 certificate_sha256 = $3, expires_at = clock_timestamp() + $4 * interval '1 second'
             WHERE expires_at < clock_timestamp() RETURNING epoch";
        let address = address.clone();
        self.in_time(async |conn| {
            sqlx::query(END_SESSIONS).bind(LEADER_APPLICATION_NAME).execute(&mut *conn).await?;
            let taken = sqlx::query_scalar(TAKE)
                .bind(&address.name)
                .bind(&address.url)
                .bind(address.certificate_sha256.map(Vec::from))
                .bind(LEASE_DURATION.as_secs_f64());
            Ok(taken.fetch_optional(conn).await?)
        })
        .await
    }

    /// Extends the lease of the leader of `epoch`, even one that has expired; returns whether it still leads.
    ///
    /// # Errors
    /// Fails when the database is away. Connect again then.
    pub async fn renew(&mut self, epoch: i64, address: &ControllerAddress) -> Result<bool, StoreError> {
        const RENEW: &str = "UPDATE controller_lease SET certificate_sha256 = $2,
                 expires_at = clock_timestamp() + $3 * interval '1 second' WHERE epoch = $1";
        let certificate = address.certificate_sha256.map(Vec::from);
        self.in_time(async |conn| {
            let renewed = sqlx::query(RENEW).bind(epoch).bind(certificate).bind(LEASE_DURATION.as_secs_f64());
            Ok(renewed.execute(conn).await?.rows_affected() > 0)
        })
        .await
    }

    /// Gives the lease of the leader of `epoch` back, so that another one can lead at once.
    ///
    /// # Errors
    /// Fails when the database is away.
    pub async fn release(&mut self, epoch: i64) -> Result<(), StoreError> {
        const RELEASE: &str = "UPDATE controller_lease SET expires_at = '-infinity' WHERE epoch = $1";
        self.in_time(async |conn| {
            sqlx::query(RELEASE).bind(epoch).execute(conn).await?;
            Ok(())
        })
        .await
    }

    /// Runs `call` within its time limit.
    async fn in_time<T>(
        &mut self,
        call: impl AsyncFnOnce(&mut PgConnection) -> PgResult<T>,
    ) -> Result<T, StoreError> {
        let Ok(outcome) = tokio::time::timeout(STATEMENT_TIMEOUT, call(&mut self.conn)).await else {
            let seconds = STATEMENT_TIMEOUT.as_secs();
            return Err(self.error_mapper.unavailable_error(&format!("no reply within {seconds} s")));
        };
        outcome.map_err(|error| self.error_mapper.to_store_error(&error))
    }

    /// Ends the session.
    pub async fn close(self) {
        // The server notices the end by itself otherwise.
        let _ = tokio::time::timeout(STATEMENT_TIMEOUT, self.conn.close()).await;
    }
}
