//! The tables, and the migration of databases of older versions. A migration only adds, so that processes of the
//! version before go on working beside it; what they still use is removed a version later.

use sqlx::{Connection, PgConnection};

use crate::store::contract::StoreError;

use super::error::{ErrorMapper, PgResult};

/// The migrations in order; the version is the number of applied migrations. Released migrations are never edited.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("migrations/1.sql"), usable_since: 1 },
    Migration { sql: include_str!("migrations/2.sql"), usable_since: 1 },
    Migration { sql: include_str!("migrations/3.sql"), usable_since: 1 },
    Migration { sql: include_str!("migrations/4.sql"), usable_since: 1 },
    Migration { sql: include_str!("migrations/5.sql"), usable_since: 1 },
    Migration { sql: include_str!("migrations/6.sql"), usable_since: 1 },
];

/// A migration to the next version.
struct Migration {
    sql: &'static str,
    /// The oldest version of the program that works with the tables afterwards: the version before, unless it removes
    /// what that one uses.
    usable_since: i64,
}

/// Number of the advisory lock that is held while tables are changed, "Vgie".
const MIGRATION_LOCK: i64 = 0x5667_6965;

/// Brings the tables to the newest version, each migration in a transaction of its own. Processes that start together
/// wait for each other.
///
/// # Errors
/// [`StoreError::TooNew`] for the tables of a newer Vigie, [`StoreError::Unusable`] for those of another program.
pub(super) async fn migrate(conn: &mut PgConnection, error_mapper: &ErrorMapper) -> PgResult<()> {
    sqlx::query("SELECT pg_advisory_lock($1)").bind(MIGRATION_LOCK).execute(&mut *conn).await?;
    let outcome = apply_migrations(conn, error_mapper).await;
    // The lock ends with the connection in any case.
    let _ = sqlx::query("SELECT pg_advisory_unlock($1)").bind(MIGRATION_LOCK).execute(conn).await;
    outcome
}

async fn apply_migrations(conn: &mut PgConnection, error_mapper: &ErrorMapper) -> PgResult<()> {
    let version = schema_version(conn, error_mapper).await?;
    check_usable(conn, version).await?;
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(usize::try_from(version).unwrap_or(0)) {
        let mut tx = conn.begin().await?;
        sqlx::raw_sql(migration.sql).execute(&mut *tx).await?;
        sqlx::query("INSERT INTO vigie_schema (version, usable_since) VALUES ($1, $2)")
            .bind(i64::try_from(index + 1).unwrap_or(i64::MAX))
            .bind(migration.usable_since)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Checks that this build works with tables of `version`, which may be a newer one.
async fn check_usable(conn: &mut PgConnection, version: i64) -> PgResult<()> {
    let known = newest_version();
    if version <= known {
        return Ok(());
    }
    let usable_since: Option<i64> =
        sqlx::query_scalar("SELECT max(usable_since) FROM vigie_schema").fetch_one(conn).await?;
    if usable_since.is_some_and(|usable_since| usable_since <= known) {
        return Ok(());
    }
    Err(StoreError::TooNew { found: version, known }.into())
}

/// Returns the newest version that this build knows.
pub(super) fn newest_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Checks that the tables can be read without a migration.
///
/// # Errors
/// Like [`migrate`], and [`StoreError::Unusable`] for tables of an older version, which only a server migrates.
pub(super) async fn check_version(conn: &mut PgConnection, error_mapper: &ErrorMapper) -> PgResult<()> {
    match stored_version(conn, error_mapper).await? {
        Some(version) if version >= newest_version() => check_usable(conn, version).await,
        Some(_) => {
            let reason = "its tables are of an older version; run `vigie store migrate`, or start the server";
            Err(error_mapper.unusable_error(reason).into())
        }
        None => {
            let reason = "it has no tables; run `vigie store migrate`, or start the server";
            Err(error_mapper.unusable_error(reason).into())
        }
    }
}

/// Returns the version of the tables, 0 for an empty database; creates the table that records it.
async fn schema_version(conn: &mut PgConnection, error_mapper: &ErrorMapper) -> PgResult<i64> {
    if let Some(version) = stored_version(conn, error_mapper).await? {
        return Ok(version);
    }
    let create = "CREATE TABLE vigie_schema (version BIGINT PRIMARY KEY, usable_since BIGINT NOT NULL,
         applied_at TIMESTAMPTZ NOT NULL DEFAULT now())";
    sqlx::query(create).execute(conn).await?;
    Ok(0)
}

/// Returns the version of the tables; `None` for an empty database.
pub(super) async fn stored_version(
    conn: &mut PgConnection,
    error_mapper: &ErrorMapper,
) -> PgResult<Option<i64>> {
    let (is_vigie, has_tables): (bool, bool) = sqlx::query_as(
        "SELECT to_regclass('vigie_schema') IS NOT NULL,
             EXISTS (SELECT 1 FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace)",
    )
    .fetch_one(&mut *conn)
    .await?;
    match (is_vigie, has_tables) {
        (true, _) => {
            let version: Option<i64> =
                sqlx::query_scalar("SELECT max(version) FROM vigie_schema").fetch_one(conn).await?;
            Ok(Some(version.unwrap_or(0)))
        }
        (false, true) => Err(error_mapper
            .unusable_error("it holds the tables of another program; use a database of its own")
            .into()),
        (false, false) => Ok(None),
    }
}
