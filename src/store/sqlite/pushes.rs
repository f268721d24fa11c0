//! Stores what is pushed, and the tokens that pushes come with.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{CustomerId, MonitorId, Push, PushMonitor, PushState, PushStatus};
use crate::store::contract::{NewPushToken, PushStore, StoreFuture};
use crate::store::rows::host_state::{push_state_from_row, push_status_code};

use super::store::SqliteStore;

/// Removes the push token of a monitor and what was pushed.
pub(super) fn delete_pushes(conn: &Connection, monitor_id: MonitorId) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM push_states WHERE monitor_id = ?1")?.execute([monitor_id.0])?;
    Ok(())
}

fn record_push(conn: &Connection, monitor_id: MonitorId, push: &Push) -> rusqlite::Result<()> {
    if push.status == PushStatus::Started {
        conn.prepare_cached("UPDATE push_states SET started_at = ?2 WHERE monitor_id = ?1")?
            .execute([monitor_id.0, push.received_at.as_micros()])?;
        return Ok(());
    }
    conn.prepare_cached(
        "UPDATE push_states SET started_at = NULL, received_at = ?2, status = ?3, message = ?4, duration_us = ?5,
             exit_code = ?6, output = ?7 WHERE monitor_id = ?1",
    )?
    .execute(params![
        monitor_id.0,
        push.received_at.as_micros(),
        push_status_code(push.status),
        push.message,
        push.duration_us.map(u64::cast_signed),
        push.exit_code,
        push.output,
    ])?;
    Ok(())
}

fn select_push_state(conn: &Connection, monitor_id: MonitorId) -> rusqlite::Result<Option<PushState>> {
    let row = conn
        .prepare_cached(
            "SELECT token_created_at, started_at, received_at, status, message, duration_us, exit_code, output
             FROM push_states WHERE monitor_id = ?1",
        )?
        .query_row([monitor_id.0], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
                row.get(6)?,
                row.get(7)?,
            ))
        })
        .optional()?;
    Ok(row.map(|row| push_state_from_row(monitor_id.0, row)).transpose()?)
}

impl PushStore for SqliteStore {
    fn set_push_token(&self, token: NewPushToken) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| {
            context
                .conn
                .prepare_cached(
                    "INSERT INTO push_states (monitor_id, customer, token_hash, token_created_at)
                     VALUES (?1, ?2, ?3, ?4) ON CONFLICT (monitor_id) DO UPDATE SET
                         token_hash = excluded.token_hash, token_created_at = excluded.token_created_at",
                )?
                .execute(params![
                    token.monitor_id.0,
                    token.customer_id.0,
                    token.hash,
                    token.created_at.as_micros()
                ])?;
            Ok(())
        }))
    }

    fn push_monitor(&self, token_hash: [u8; 32]) -> StoreFuture<'_, Option<PushMonitor>> {
        Box::pin(self.readers.call(move |conn| {
            conn.prepare_cached("SELECT monitor_id, customer FROM push_states WHERE token_hash = ?1")?
                .query_row([token_hash], |row| {
                    Ok(PushMonitor {
                        monitor_id: MonitorId(row.get(0)?),
                        customer_id: CustomerId(row.get(1)?),
                    })
                })
                .optional()
        }))
    }

    fn record_push(&self, monitor_id: MonitorId, push: Push) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| record_push(context.conn, monitor_id, &push)))
    }

    fn push_state(&self, monitor_id: MonitorId) -> StoreFuture<'_, Option<PushState>> {
        Box::pin(self.readers.call(move |conn| select_push_state(conn, monitor_id)))
    }
}
