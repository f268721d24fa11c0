//! Reads and writes alert states, episodes and notifications.

use sqlx::PgConnection;

use crate::domain::{CustomerId, EpisodeId, MonitorId, Timestamp};
use crate::store::contract::{
    AlertChanges, AlertStore, EpisodeFilter, Paginated, Pagination, StoreFuture, StoredEpisode, StoredJson,
    StoredJsonNames,
};
use crate::store::rows::prepared_alerts::PreparedAlerts;

use super::error::PgResult;
use super::retention::{DELETE_ENDED_EPISODES, DELETE_FINISHED_NOTIFICATIONS};
use super::rollup::pending_rollups::StaleRollupMarker;
use super::store::PostgresStore;
use super::{episodes, notifications, result_updates};

impl StoredJsonNames for PostgresStore {
    fn table_and_column(&self, json: StoredJson) -> (&'static str, &'static str) {
        match json {
            StoredJson::AlertState => ("alert_states", "state"),
            StoredJson::EpisodeSnapshot => ("episodes", "snapshot_fields"),
            StoredJson::PerformanceAlertState => ("performance_alerts", "state"),
        }
    }
}

impl AlertStore for PostgresStore {
    fn alert_states(&self) -> StoreFuture<'_, Vec<(MonitorId, String)>> {
        Box::pin(self.read(|conn| Box::pin(select_alert_states(conn))))
    }

    fn commit_alerts(&self, changes: AlertChanges) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let prepared = PreparedAlerts::prepare(changes).await?;
            self.write(move |conn| Box::pin(async move { write(conn, &prepared).await })).await
        })
    }

    fn episodes(&self, filter: EpisodeFilter, page: Pagination) -> StoreFuture<'_, Paginated<StoredEpisode>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(episodes::read_page(conn, filter, page))))
    }

    fn episode(&self, customer: CustomerId, id: EpisodeId) -> StoreFuture<'_, Option<StoredEpisode>> {
        Box::pin(self.read(move |conn| Box::pin(episodes::by_id(conn, customer, id))))
    }

    fn acknowledge(
        &self,
        customer: CustomerId,
        id: EpisodeId,
        login: String,
        acknowledged_at: Timestamp,
    ) -> StoreFuture<'_, bool> {
        Box::pin(
            self.write(move |conn| {
                Box::pin(episodes::acknowledge(conn, customer, id, login, acknowledged_at))
            }),
        )
    }

    fn remove_finished_before(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let removed = self.delete_in_chunks(DELETE_ENDED_EPISODES, before.as_micros()).await?;
            Ok(removed + self.delete_in_chunks(DELETE_FINISHED_NOTIFICATIONS, before.as_micros()).await?)
        })
    }
}

async fn select_alert_states(conn: &mut PgConnection) -> PgResult<Vec<(MonitorId, String)>> {
    let rows: Vec<(i64, String)> =
        sqlx::query_as("SELECT monitor_id, state FROM alert_states ORDER BY monitor_id")
            .fetch_all(conn)
            .await?;
    Ok(rows.into_iter().map(|(monitor, state)| (MonitorId(monitor), state)).collect())
}

/// Writes all changes. The results of the transaction must be written before, since changes may refer to them.
pub(super) async fn write(conn: &mut PgConnection, alerts: &PreparedAlerts) -> PgResult<()> {
    write_alert_states(conn, &alerts.alert_states).await?;
    for episode in &alerts.episodes {
        episodes::upsert(conn, episode).await?;
    }
    notifications::insert_all(conn, &alerts.notifications).await?;
    if !alerts.verified_checks.is_empty() {
        let rollup_marker = StaleRollupMarker::from_stored_bounds(conn).await?;
        for check in &alerts.verified_checks {
            result_updates::apply_verification(conn, check, &rollup_marker).await?;
        }
    }
    for check in &alerts.checks_suppressed_by_dependency {
        result_updates::apply_suppression(conn, check).await?;
    }
    for capture in &alerts.added_captures {
        result_updates::attach_capture(conn, capture).await?;
    }
    Ok(())
}

/// Writes alert states; of several of a monitor, the last one counts.
async fn write_alert_states(
    conn: &mut PgConnection,
    alert_states: &[(MonitorId, Option<String>)],
) -> PgResult<()> {
    let newest: std::collections::BTreeMap<i64, Option<&str>> =
        alert_states.iter().map(|(monitor, state)| (monitor.0, state.as_deref())).collect();
    let removed: Vec<i64> =
        newest.iter().filter(|(_, state)| state.is_none()).map(|(monitor, _)| *monitor).collect();
    let (monitors, states): (Vec<i64>, Vec<&str>) =
        newest.into_iter().filter_map(|(monitor, state)| Some((monitor, state?))).unzip();
    if !monitors.is_empty() {
        sqlx::query(
            "INSERT INTO alert_states (monitor_id, state) SELECT * FROM unnest($1::bigint[], $2::text[])
             ON CONFLICT (monitor_id) DO UPDATE SET state = excluded.state",
        )
        .bind(monitors)
        .bind(states)
        .execute(&mut *conn)
        .await?;
    }
    if !removed.is_empty() {
        sqlx::query("DELETE FROM alert_states WHERE monitor_id = ANY ($1)")
            .bind(removed)
            .execute(conn)
            .await?;
    }
    Ok(())
}
