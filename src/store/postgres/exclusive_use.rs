//! Exclusive use of the database: a lock that one server or copy holds for as long as its session lives.

use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::store::contract::StoreError;

use super::connect::{self, APPLICATION_NAME};
use super::error::{ErrorMapper, PgResult};
use super::settings::PostgresSettings;

/// Number of the advisory lock, "Vgix".
const EXCLUSIVE_LOCK: i64 = 0x5667_6978;
/// How often, and with which pauses, the lock is tried for: the session of a process that was killed ends a little
/// later.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);
/// Pause between two looks at the transactions of the process before.
const COMMIT_PAUSE: Duration = Duration::from_millis(50);
/// How often the session is used, to notice its end.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The session that holds the lock; it is made anew when it breaks.
pub(super) struct ExclusiveUse {
    is_held: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl ExclusiveUse {
    /// Takes the lock for the session of `conn`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it.
    pub(super) async fn acquire(
        mut conn: PgConnection,
        settings: &PostgresSettings,
        error_mapper: &ErrorMapper,
    ) -> Result<Self, StoreError> {
        let locked = async {
            lock(&mut conn, error_mapper).await?;
            wait_for_commits(&mut conn, error_mapper, settings.query_timeout).await
        };
        locked.await.map_err(|error| error_mapper.to_store_error(&error))?;
        let (sender, is_held) = watch::channel(true);
        let task = tokio::spawn(hold(conn, settings.clone(), error_mapper.clone(), sender));
        Ok(Self { is_held, task })
    }

    /// Waits up to `limit` until the lock is held; returns whether it is.
    pub(super) async fn wait(&self, limit: Duration) -> bool {
        let mut is_held = self.is_held.clone();
        let waited = tokio::time::timeout(limit, is_held.wait_for(|held| *held)).await;
        matches!(waited, Ok(Ok(_)))
    }

    /// Gives the lock back.
    pub(super) fn release(&self) {
        self.task.abort();
    }
}

impl Drop for ExclusiveUse {
    fn drop(&mut self) {
        self.release();
    }
}

async fn locked_session(
    settings: &PostgresSettings,
    error_mapper: &ErrorMapper,
) -> Result<PgConnection, StoreError> {
    let mut conn = connect::connect_in_time(settings, error_mapper).await?;
    match lock(&mut conn, error_mapper).await {
        Ok(()) => Ok(conn),
        Err(error) => Err(error_mapper.to_store_error(&error)),
    }
}

/// Takes the lock for the session of `conn`.
///
/// # Errors
/// [`StoreError::Locked`] when another process has it.
pub(super) async fn lock(conn: &mut PgConnection, error_mapper: &ErrorMapper) -> PgResult<()> {
    lock_with(conn, "SELECT pg_try_advisory_lock($1)", error_mapper).await
}

/// Takes the lock for the session of `conn` together with other controllers.
///
/// # Errors
/// [`StoreError::Locked`] when a server without controllers has it.
pub(super) async fn lock_shared(conn: &mut PgConnection, error_mapper: &ErrorMapper) -> PgResult<()> {
    lock_with(conn, "SELECT pg_try_advisory_lock_shared($1)", error_mapper).await
}

async fn lock_with(conn: &mut PgConnection, query: &'static str, error_mapper: &ErrorMapper) -> PgResult<()> {
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let is_locked: bool = sqlx::query_scalar(query).bind(EXCLUSIVE_LOCK).fetch_one(&mut *conn).await?;
        if is_locked {
            return Ok(());
        }
    }
    let holder: Option<String> = sqlx::query_scalar(
        "SELECT coalesce(host(a.client_addr) || ' port ' || a.client_port, 'this host')
         FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
         WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid::bigint = $1
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1",
    )
    .bind(EXCLUSIVE_LOCK)
    .fetch_optional(conn)
    .await?;
    let holder = holder.map_or_else(String::new, |holder| format!(" (connected from {holder})"));
    Err(StoreError::Locked(format!(
        "`{}` is in use by another vigie{holder}; stop it, or use another database",
        error_mapper.url
    ))
    .into())
}

/// Waits until the server has finished the statements of the process that had the lock before, commits among them: it
/// may have been killed, and what is read before a commit of it is out of date.
async fn wait_for_commits(
    conn: &mut PgConnection,
    error_mapper: &ErrorMapper,
    limit: Duration,
) -> PgResult<()> {
    let give_up_at = Instant::now() + limit;
    loop {
        let writers: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND usename = current_user AND application_name = $1
                 AND state = 'active' AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()",
        )
        .bind(APPLICATION_NAME)
        .fetch_one(&mut *conn)
        .await?;
        if writers == 0 {
            return Ok(());
        }
        if Instant::now() >= give_up_at {
            let reason = "is still written by a vigie that has ended; try again later";
            return Err(StoreError::Locked(format!("`{}` {reason}", error_mapper.url)).into());
        }
        tokio::time::sleep(COMMIT_PAUSE).await;
    }
}

/// Uses the session again and again; takes the lock anew when it breaks.
async fn hold(
    mut conn: PgConnection,
    settings: PostgresSettings,
    error_mapper: ErrorMapper,
    is_held: watch::Sender<bool>,
) {
    loop {
        tokio::time::sleep(PROBE_INTERVAL).await;
        let probe = tokio::time::timeout(PROBE_TIMEOUT, conn.ping()).await;
        if matches!(probe, Ok(Ok(()))) {
            continue;
        }
        is_held.send_replace(false);
        tracing::warn!(database = %error_mapper.url, "the session with the lock of the database broke");
        conn = loop {
            match locked_session(&settings, &error_mapper).await {
                Ok(conn) => break conn,
                Err(error) => {
                    tracing::warn!(
                        error_kind = error.kind(),
                        "the lock of the database is not held: {error}"
                    );
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        is_held.send_replace(true);
    }
}
