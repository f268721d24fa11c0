//! Alerting changes as rows.

use crate::domain::MonitorId;
use crate::store::contract::{AlertChanges, CheckSuppression, CheckVerification, StoreError};

use super::captures::CompressedCapture;
use super::episode_row::EpisodeRow;
use super::notification_row::NotificationRow;

/// Alerting changes, ready to be written: JSON is serialized and files are compressed already, on the caller's thread.
pub(in crate::store) struct PreparedAlerts {
    pub(in crate::store) alert_states: Vec<(MonitorId, Option<String>)>,
    pub(in crate::store) episodes: Vec<EpisodeRow>,
    pub(in crate::store) notifications: Vec<NotificationRow>,
    pub(in crate::store) verified_checks: Vec<CheckVerification>,
    pub(in crate::store) checks_suppressed_by_dependency: Vec<CheckSuppression>,
    pub(in crate::store) added_captures: Vec<CompressedCapture>,
}

impl PreparedAlerts {
    /// Prepares `changes` for writing. Files are compressed on a blocking thread.
    pub(in crate::store) async fn prepare(changes: AlertChanges) -> Result<Self, StoreError> {
        if changes.added_captures.is_empty() {
            return Ok(Self::from_changes(changes));
        }
        // Fails only when the runtime shuts down.
        tokio::task::spawn_blocking(move || Self::from_changes(changes)).await.map_err(|_| StoreError::Closed)
    }

    pub(super) fn from_changes(changes: AlertChanges) -> Self {
        Self {
            alert_states: changes.alert_states,
            episodes: changes.episodes.into_iter().map(EpisodeRow::from_episode).collect(),
            notifications: changes
                .notifications
                .into_iter()
                .map(NotificationRow::from_notification)
                .collect(),
            verified_checks: changes.verified_checks,
            checks_suppressed_by_dependency: changes.checks_suppressed_by_dependency,
            added_captures: changes
                .added_captures
                .into_iter()
                .filter_map(CompressedCapture::from_added_capture)
                .collect(),
        }
    }
}
