//! Writes alerting changes.

use rusqlite::{Connection, params};

use crate::domain::MonitorId;
use crate::store::rows::prepared_alerts::PreparedAlerts;
use crate::store::sqlite::rollup::pending_rollups::StaleRollupMarker;
use crate::store::sqlite::writer::WriteContext;

use super::{episodes, outbox, result_updates};

/// Writes all changes. The results of the transaction must be written before, since changes may refer to them.
pub(in crate::store::sqlite) fn write(
    alerts: &PreparedAlerts,
    context: &mut WriteContext<'_>,
) -> rusqlite::Result<()> {
    for (monitor, state_json) in &alerts.alert_states {
        upsert_or_delete_alert_state(context.conn, *monitor, state_json.as_deref())?;
    }
    for episode in &alerts.episodes {
        episodes::upsert(context.conn, episode)?;
    }
    for notification in &alerts.notifications {
        outbox::insert(context.conn, notification)?;
    }
    if !alerts.verified_checks.is_empty() {
        let rollup_marker = StaleRollupMarker::from_stored_bounds(context.conn)?;
        for check in &alerts.verified_checks {
            result_updates::apply_verification(context, check, &rollup_marker)?;
        }
    }
    for check in &alerts.checks_suppressed_by_dependency {
        result_updates::apply_suppression(context.conn, check)?;
    }
    for capture in &alerts.added_captures {
        result_updates::attach_capture(context.conn, capture)?;
    }
    Ok(())
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
