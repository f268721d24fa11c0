//! The timeline of the database, which changes when it loses commits: after a failover to a server that lagged behind, and
//! after a restore.

use sqlx::PgConnection;

use super::error::PgResult;

/// Returns the timeline as SQL. The first eight digits of the name of a WAL file are that of the server, which any role may
/// read; a restored database has another id.
macro_rules! current_timeline {
    () => {
        "(SELECT oid FROM pg_database WHERE datname = current_database())::text
            || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"
    };
}
pub(super) use current_timeline;

/// Returns the current timeline.
pub(super) async fn read(conn: &mut PgConnection) -> PgResult<String> {
    Ok(sqlx::query_scalar(concat!("SELECT ", current_timeline!())).fetch_one(conn).await?)
}
