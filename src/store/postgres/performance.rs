//! Stored active performance alerts.

use sqlx::PgConnection;

use crate::domain::{LocationId, NewNotification};
use crate::store::contract::{PerformanceAlertStore, StoreFuture, StoredPerformanceAlert};
use crate::store::rows::notification_row::NotificationRow;

use super::error::PgResult;
use super::notifications;
use super::store::PostgresStore;

impl PerformanceAlertStore for PostgresStore {
    fn active_alerts(&self) -> StoreFuture<'_, Vec<StoredPerformanceAlert>> {
        Box::pin(self.read(|conn| Box::pin(select_active(conn))))
    }

    fn commit_changes(
        &self,
        raised: Vec<StoredPerformanceAlert>,
        cleared: Vec<(i64, LocationId)>,
        notifications: Vec<NewNotification>,
    ) -> StoreFuture<'_, ()> {
        let notifications: Vec<_> =
            notifications.into_iter().map(NotificationRow::from_notification).collect();
        Box::pin(self.write(move |conn| Box::pin(write_changes(conn, raised, cleared, notifications))))
    }
}

async fn write_changes(
    conn: &mut PgConnection,
    raised: Vec<StoredPerformanceAlert>,
    cleared: Vec<(i64, LocationId)>,
    notifications: Vec<NotificationRow>,
) -> PgResult<()> {
    for alert in raised {
        sqlx::query(
            "INSERT INTO performance_alerts (alert_id, location_id, state) VALUES ($1, $2, $3)
             ON CONFLICT (alert_id, location_id) DO UPDATE SET state = excluded.state",
        )
        .bind(alert.alert_id)
        .bind(alert.location_id.0)
        .bind(alert.state_json)
        .execute(&mut *conn)
        .await?;
    }
    for (alert, location) in cleared {
        sqlx::query("DELETE FROM performance_alerts WHERE alert_id = $1 AND location_id = $2")
            .bind(alert)
            .bind(location.0)
            .execute(&mut *conn)
            .await?;
    }
    notifications::insert_all(conn, &notifications).await
}

async fn select_active(conn: &mut PgConnection) -> PgResult<Vec<StoredPerformanceAlert>> {
    let rows: Vec<(i64, i64, String)> = sqlx::query_as(
        "SELECT alert_id, location_id, state FROM performance_alerts ORDER BY alert_id, location_id",
    )
    .fetch_all(conn)
    .await?;
    let to_alert = |(alert_id, location, state_json)| StoredPerformanceAlert {
        alert_id,
        location_id: LocationId(location),
        state_json,
    };
    Ok(rows.into_iter().map(to_alert).collect())
}
