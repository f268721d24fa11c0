//! Stores what is pushed, and the tokens that pushes come with.

use sqlx::PgConnection;

use crate::domain::{CustomerId, MonitorId, Push, PushMonitor, PushState, PushStatus};
use crate::store::contract::{NewPushToken, PushStore, StoreFuture};
use crate::store::rows::host_state::{PushStateRow, push_state_from_row, push_status_code};

use super::error::PgResult;
use super::store::PostgresStore;

/// Removes the push token of a monitor and what was pushed.
pub(super) async fn delete_pushes(conn: &mut PgConnection, monitor_id: MonitorId) -> PgResult<()> {
    sqlx::query("DELETE FROM push_states WHERE monitor_id = $1").bind(monitor_id.0).execute(conn).await?;
    Ok(())
}

async fn record_push(conn: &mut PgConnection, monitor_id: MonitorId, push: Push) -> PgResult<()> {
    if push.status == PushStatus::Started {
        sqlx::query("UPDATE push_states SET started_at = $2 WHERE monitor_id = $1")
            .bind(monitor_id.0)
            .bind(push.received_at.as_micros())
            .execute(conn)
            .await?;
        return Ok(());
    }
    sqlx::query(
        "UPDATE push_states SET started_at = NULL, received_at = $2, status = $3, message = $4, duration_us = $5,
             exit_code = $6, output = $7 WHERE monitor_id = $1",
    )
    .bind(monitor_id.0)
    .bind(push.received_at.as_micros())
    .bind(push_status_code(push.status))
    .bind(push.message)
    .bind(push.duration_us.map(u64::cast_signed))
    .bind(push.exit_code.map(i64::from))
    .bind(push.output)
    .execute(conn)
    .await?;
    Ok(())
}

impl PushStore for PostgresStore {
    fn set_push_token(&self, token: NewPushToken) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                sqlx::query(
                    "INSERT INTO push_states (monitor_id, customer, token_hash, token_created_at)
                     VALUES ($1, $2, $3, $4) ON CONFLICT (monitor_id) DO UPDATE SET
                         token_hash = excluded.token_hash, token_created_at = excluded.token_created_at",
                )
                .bind(token.monitor_id.0)
                .bind(token.customer_id.0)
                .bind(token.hash.map(|hash| hash.to_vec()))
                .bind(token.created_at.as_micros())
                .execute(conn)
                .await?;
                Ok(())
            })
        }))
    }

    fn push_monitor(&self, token_hash: [u8; 32]) -> StoreFuture<'_, Option<PushMonitor>> {
        Box::pin(self.read(move |conn| {
            Box::pin(async move {
                let row: Option<(i64, i64)> =
                    sqlx::query_as("SELECT monitor_id, customer FROM push_states WHERE token_hash = $1")
                        .bind(token_hash.to_vec())
                        .fetch_optional(conn)
                        .await?;
                Ok(row.map(|(monitor, customer)| PushMonitor {
                    monitor_id: MonitorId(monitor),
                    customer_id: CustomerId(customer),
                }))
            })
        }))
    }

    fn record_push(&self, monitor_id: MonitorId, push: Push) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| Box::pin(record_push(conn, monitor_id, push))))
    }

    fn push_state(&self, monitor_id: MonitorId) -> StoreFuture<'_, Option<PushState>> {
        Box::pin(self.read(move |conn| {
            Box::pin(async move {
                let row: Option<PushStateRow> = sqlx::query_as(
                    "SELECT token_created_at, started_at, received_at, status::bigint, message, duration_us,
                         exit_code, output FROM push_states WHERE monitor_id = $1",
                )
                .bind(monitor_id.0)
                .fetch_optional(conn)
                .await?;
                Ok(row.map(|row| push_state_from_row(monitor_id.0, row)).transpose()?)
            })
        }))
    }
}
