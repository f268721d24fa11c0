//! Calls on connections of the pool: reads, and writes in a transaction whose outcome is found out even if the
//! connection breaks during the commit.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, PgConnection, Postgres};

use crate::store::contract::StoreError;
use crate::telemetry::{fault_point, panic_message};

use super::error::{PgError, PgResult};
use super::store::PostgresStore;
use super::timeline::current_timeline;

/// How much longer than the server a call waits for the reply, so that the server's error arrives first.
const REPLY_GRACE_PERIOD: Duration = Duration::from_secs(5);
/// Statements that a call may run, each as long as the settings allow.
const MAX_SLOW_STATEMENTS: u32 = 3;
/// How long, and with which pauses, the outcome of a commit is asked for.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(30);
const OUTCOME_PAUSE: Duration = Duration::from_millis(500);

/// Notes a new write as the last one of the session.
macro_rules! note_write {
    () => {
        "WITH noted AS (INSERT INTO last_writes VALUES (pg_backend_pid(), gen_random_uuid())
             ON CONFLICT (backend) DO UPDATE SET write_id = excluded.write_id RETURNING backend, write_id) "
    };
}

impl PostgresStore {
    /// Runs `work`, which only reads, on a connection.
    ///
    /// # Errors
    /// [`StoreError::QueryTimeout`] when a statement takes longer than the settings allow.
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send,
        F: for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, PgResult<T>> + Send,
    {
        let outcome = async {
            fault_point("store_reader").await?;
            let mut conn = self.pool.acquire().await?;
            let reply = self.bounded(work(&mut conn)).await;
            close_if_unanswered(&mut conn, reply)
        };
        outcome.await.map_err(|error| self.error_mapper.to_store_error(&error))
    }

    /// Like [`Self::read`]; all statements of `work` see the same state of the database.
    pub(super) async fn read_snapshot<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, PgResult<T>> + Send + 'static,
    {
        self.read(|conn| {
            Box::pin(async move {
                let mut tx = conn.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
                let value = work(&mut tx).await?;
                tx.commit().await?;
                Ok(value)
            })
        })
        .await
    }

    /// Runs `work` in a transaction; returns once that is committed.
    pub(super) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send,
        F: for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, PgResult<T>> + Send,
    {
        self.try_write(work).await.map_err(|error| self.error_mapper.to_store_error(&error))
    }

    /// Like [`Self::write`], with the error as it came.
    pub(super) async fn try_write<T, F>(&self, work: F) -> PgResult<T>
    where
        T: Send,
        F: for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, PgResult<T>> + Send,
    {
        fault_point("store_writer").await?;
        self.require_exclusive_use().await?;
        let mut conn = self.pool.acquire().await?;
        let last_reset = self.last_reset(&mut conn).await?;
        let (mut started, mut written) = (None, None);
        let reply = self
            .bounded(async {
                let mut tx = conn.begin().await?;
                started = Some(self.begin_writing(&mut tx).await?);
                written = Some(work(&mut tx).await?);
                tx.commit().await?;
                Ok(())
            })
            .await;
        let committed = close_if_unanswered(&mut conn, reply);
        drop(conn);
        match (committed, started, written) {
            (Ok(()), _, Some(value)) => Ok(value),
            // All was written, and only the reply to the commit is missing.
            (Err(error), Some(transaction), Some(value)) if error.is_reply_lost() => {
                self.resolve_commit(&transaction, &last_reset, error).await.map(|()| value)
            }
            (Err(error), ..) => Err(error),
            (Ok(()), ..) => Err(PgError::Rejected(StoreError::Closed)),
        }
    }

    /// Notes in the transaction `tx` which one it is, and makes sure that the database still has what this process knows
    /// to be stored, and that the controller of this store leads until the end of the transaction.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when another server has taken the place of the database, or another controller has
    /// taken the lead.
    async fn begin_writing(&self, tx: &mut PgConnection) -> PgResult<StartedTransaction> {
        const BEGIN: &str = concat!(
            note_write!(),
            "SELECT pg_current_xact_id()::text, backend, write_id::text, ",
            current_timeline!(),
            " FROM noted"
        );
        const BEGIN_AS_LEADER: &str = concat!(
            note_write!(),
            "SELECT pg_current_xact_id()::text, backend, write_id::text, ",
            current_timeline!(),
            " FROM noted, controller_lease WHERE epoch = $1 FOR KEY SHARE OF controller_lease"
        );
        let started: Option<(String, i32, String, String)> = match self.leader_epoch {
            None => Some(sqlx::query_as(BEGIN).fetch_one(tx).await?),
            Some(epoch) => sqlx::query_as(BEGIN_AS_LEADER).bind(epoch).fetch_optional(tx).await?,
        };
        let unavailable = |reason| self.error_mapper.unavailable_error(reason).into();
        match started {
            None => Err(unavailable("another controller has taken the lead")),
            Some((.., timeline)) if self.timeline.as_ref().is_some_and(|opened| *opened != timeline) => {
                Err(unavailable(
                    "another server has taken its place, which may lack the last commits; this process has to start anew",
                ))
            }
            Some((id, backend, write_id, _)) => Ok(StartedTransaction { id, backend, write_id }),
        }
    }

    /// Waits until this process has the database for itself.
    async fn require_exclusive_use(&self) -> Result<(), StoreError> {
        match &self.exclusive_use {
            Some(exclusive_use) if !exclusive_use.wait(self.connect_timeout).await => {
                let reason =
                    "its lock was lost with the connection and is not regained yet; check the server";
                Err(self.error_mapper.unavailable_error(reason))
            }
            _ => Ok(()),
        }
    }

    /// Runs a call until its time limit. A panic is an error.
    async fn bounded<T>(&self, call: impl Future<Output = PgResult<T>> + Send) -> Reply<T> {
        let limit = self.query_timeout * MAX_SLOW_STATEMENTS + REPLY_GRACE_PERIOD;
        match tokio::time::timeout(limit, AssertUnwindSafe(call).catch_unwind()).await {
            Ok(Ok(outcome)) => Reply::Received(outcome),
            Ok(Err(payload)) => {
                let message = panic_message(payload.as_ref()).to_owned();
                Reply::Missing(PgError::Rejected(StoreError::Panicked(message)))
            }
            Err(_) => Reply::Missing(PgError::NoReply(limit)),
        }
    }

    /// Finds out whether `transaction` was committed; returns `error` if it was not, or if the server does not come back in
    /// time.
    async fn resolve_commit(
        &self,
        transaction: &StartedTransaction,
        last_reset: &str,
        error: PgError,
    ) -> PgResult<()> {
        let give_up_at = tokio::time::Instant::now() + OUTCOME_TIMEOUT;
        while tokio::time::Instant::now() < give_up_at {
            match self.transaction_status(transaction, last_reset).await {
                Ok(Some(status)) if status == "committed" => return Ok(()),
                Ok(Some(status)) if status == "in progress" => {}
                // Also for an id that the server forgot, which is that of a finished transaction of long ago.
                Ok(_) => return Err(error),
                Err(error) if error.is_reply_lost() || error.is_pool_timeout() => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(OUTCOME_PAUSE).await;
        }
        Err(error)
    }

    /// Returns the status of a transaction; `None` when the server forgot it, or when it is not committed although the
    /// server crashed after `last_reset` was read.
    async fn transaction_status(
        &self,
        transaction: &StartedTransaction,
        last_reset: &str,
    ) -> PgResult<Option<String>> {
        let mut conn = self.pool.acquire().await?;
        let query = async {
            // After a crash the ids of transactions that were not on disk are given to others.
            let select = "SELECT coalesce(stats_reset::text, ''),
                     CASE WHEN coalesce(stats_reset::text, '') = $2 THEN pg_xact_status($1::xid8)
                          WHEN EXISTS (SELECT 1 FROM last_writes WHERE backend = $3 AND write_id = $4::uuid) THEN 'committed'
                     END
                 FROM pg_stat_bgwriter";
            let status = sqlx::query_as(select).bind(&transaction.id).bind(last_reset);
            let status = status.bind(transaction.backend).bind(&transaction.write_id);
            Ok(status.fetch_one(&mut *conn).await?)
        };
        let reply = self.bounded(query).await;
        let (current_reset, status): (String, Option<String>) = close_if_unanswered(&mut conn, reply)?;
        *self.last_reset.lock() = Some(current_reset);
        Ok(status)
    }

    /// Returns when the server reset its statistics: it does so whenever it recovers from a crash. A value that is older
    /// than a crash makes an outcome unknown that could be found out, and no more.
    async fn last_reset(&self, conn: &mut PgConnection) -> PgResult<String> {
        let known = self.last_reset.lock().clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let select = "SELECT coalesce(stats_reset::text, '') FROM pg_stat_bgwriter";
        let read: String = sqlx::query_scalar(select).fetch_one(conn).await?;
        *self.last_reset.lock() = Some(read.clone());
        Ok(read)
    }
}

/// A transaction that writes.
struct StartedTransaction {
    /// What the server calls it, until it crashes.
    id: String,
    /// Process id of its session at the server.
    backend: i32,
    /// What it notes in `last_writes` for that session.
    write_id: String,
}

/// The reply to a call, if it arrived in time.
enum Reply<T> {
    Received(PgResult<T>),
    Missing(PgError),
}

/// Returns the outcome of a call. Without a reply the connection is closed, since the server may still answer.
fn close_if_unanswered<T>(conn: &mut PoolConnection<Postgres>, reply: Reply<T>) -> PgResult<T> {
    match reply {
        Reply::Received(outcome) => outcome,
        Reply::Missing(error) => {
            conn.close_on_drop();
            Err(error)
        }
    }
}
