//! Stored active performance alerts.

use rusqlite::{Connection, params};

use crate::domain::{LocationId, NewNotification};
use crate::store::contract::{PerformanceAlertStore, StoreFuture, StoredPerformanceAlert};

use super::outbox;
use crate::store::rows::notification_row::NotificationRow;
use crate::store::sqlite::store::SqliteStore;

impl PerformanceAlertStore for SqliteStore {
    fn active_alerts(&self) -> StoreFuture<'_, Vec<StoredPerformanceAlert>> {
        Box::pin(self.readers.call(select_active))
    }

    fn commit_changes(
        &self,
        raised: Vec<StoredPerformanceAlert>,
        cleared: Vec<(i64, LocationId)>,
        notifications: Vec<NewNotification>,
    ) -> StoreFuture<'_, ()> {
        let notifications: Vec<_> =
            notifications.into_iter().map(NotificationRow::from_notification).collect();
        Box::pin(self.writer.call(move |context| {
            for StoredPerformanceAlert { alert_id: alert, location_id: location, state_json: body } in &raised
            {
                context
                    .conn
                    .prepare_cached("INSERT OR REPLACE INTO raised VALUES (?1, ?2, ?3)")?
                    .execute(params![alert, location.0, body])?;
            }
            for (alert, location) in &cleared {
                context
                    .conn
                    .prepare_cached("DELETE FROM raised WHERE alert = ?1 AND location_id = ?2")?
                    .execute([*alert, location.0])?;
            }
            for notification in &notifications {
                outbox::insert(context.conn, notification)?;
            }
            Ok(())
        }))
    }
}

fn select_active(conn: &Connection) -> rusqlite::Result<Vec<StoredPerformanceAlert>> {
    conn.prepare_cached("SELECT alert, location_id, body FROM raised ORDER BY alert, location_id")?
        .query_map([], |row| {
            Ok(StoredPerformanceAlert {
                alert_id: row.get(0)?,
                location_id: LocationId(row.get(1)?),
                state_json: row.get(2)?,
            })
        })?
        .collect()
}
