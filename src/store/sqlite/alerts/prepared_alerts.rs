//! Alerting changes as rows.

use rusqlite::{Connection, params};

use crate::domain::MonitorId;
use crate::store::contract::{AlertChanges, CheckSuppression, CheckVerification};
use crate::store::sqlite::rollup::pending_rollups::StaleRollupMarker;
use crate::store::sqlite::writer::WriteContext;

use super::{episodes, outbox, result_updates};

/// Alerting changes, ready to be written. JSON is serialized and files are compressed already, on the caller's
/// thread, to keep the writer thread free.
pub(in crate::store::sqlite) struct PreparedAlerts {
    alert_states: Vec<(MonitorId, Option<String>)>,
    episodes: Vec<episodes::EpisodeRow>,
    notifications: Vec<outbox::NotificationRow>,
    verified_checks: Vec<CheckVerification>,
    checks_suppressed_by_dependency: Vec<CheckSuppression>,
    added_captures: Vec<result_updates::CompressedCapture>,
}

impl PreparedAlerts {
    pub(in crate::store::sqlite) fn prepare(changes: AlertChanges) -> Self {
        Self {
            alert_states: changes.alert_states,
            episodes: changes.episodes.into_iter().map(episodes::EpisodeRow::from_episode).collect(),
            notifications: changes
                .notifications
                .into_iter()
                .map(outbox::NotificationRow::from_notification)
                .collect(),
            verified_checks: changes.verified_checks,
            checks_suppressed_by_dependency: changes.checks_suppressed_by_dependency,
            added_captures: changes
                .added_captures
                .into_iter()
                .filter_map(result_updates::CompressedCapture::from_added_capture)
                .collect(),
        }
    }

    /// Writes all changes. The results of the transaction must be written before, since changes may refer to them.
    pub(in crate::store::sqlite) fn write(&self, context: &mut WriteContext<'_>) -> rusqlite::Result<()> {
        for (monitor, state_json) in &self.alert_states {
            upsert_or_delete_alert_state(context.conn, *monitor, state_json.as_deref())?;
        }
        for episode in &self.episodes {
            episode.upsert(context.conn)?;
        }
        for notification in &self.notifications {
            notification.insert(context.conn)?;
        }
        if !self.verified_checks.is_empty() {
            let rollup_marker = StaleRollupMarker::from_stored_bounds(context.conn)?;
            for check in &self.verified_checks {
                result_updates::apply_verification(context, check, &rollup_marker)?;
            }
        }
        for check in &self.checks_suppressed_by_dependency {
            result_updates::apply_suppression(context.conn, check)?;
        }
        for capture in &self.added_captures {
            capture.attach(context.conn)?;
        }
        Ok(())
    }
}

fn upsert_or_delete_alert_state(
    conn: &Connection,
    monitor: MonitorId,
    state_json: Option<&str>,
) -> rusqlite::Result<()> {
    match state_json {
        Some(state_json) => conn
            .prepare_cached("INSERT INTO watches VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = ?2")?
            .execute(params![monitor.0, state_json])?,
        None => conn.prepare_cached("DELETE FROM watches WHERE monitor_id = ?1")?.execute([monitor.0])?,
    };
    Ok(())
}
