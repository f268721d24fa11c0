//! Listing and acknowledging episodes.

use serde_json::{Map, Value, json};

use super::alert_service::AlertService;
use crate::alerting::{EpisodeSnapshot, LocationResult};
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::{EpisodeId, Permission, Verification};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{
    EpisodeFilter, NotificationFilter, Paginated, Pagination, StoreError, StoredEpisode, StoredJson,
};
use crate::syntax::json_object::into_object;

/// Most notifications returned with an episode.
const MAX_NOTIFICATIONS: u32 = 1000;

impl AlertService {
    /// Returns the episodes of the caller's account, newest first.
    pub async fn episodes(
        &self,
        caller: &Caller,
        filter: EpisodeFilter,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        caller.require_permission(Permission::View)?;
        let filter = EpisodeFilter { customer: Some(caller.customer), ..filter };
        let found = self.dependencies.alert_store.episodes(filter, page).await?;
        let to_object = |stored| match self.episode_to_json(stored) {
            Ok(object) => Some(object),
            Err(error) => {
                tracing::error!(error_kind = error.kind(), "outage skipped: {error}");
                None
            }
        };
        Ok(Paginated { total: found.total, items: found.items.iter().filter_map(to_object).collect() })
    }

    /// Returns one episode with its notifications.
    pub async fn episode(&self, caller: &Caller, id: EpisodeId) -> Result<Map<String, Value>, ServiceError> {
        caller.require_permission(Permission::View)?;
        let found = self.dependencies.alert_store.episode(caller.customer, id).await?;
        let mut object = self.episode_to_json(&found.ok_or(ServiceError::NotFound)?)?;
        let filter = NotificationFilter { episode: Some(id), ..NotificationFilter::default() };
        let notifications =
            self.notifications(caller, filter, Pagination { limit: MAX_NOTIFICATIONS, offset: 0 }).await?;
        object
            .insert("notifications".to_owned(), notifications.items.into_iter().map(Value::Object).collect());
        Ok(object)
    }

    /// Acknowledges an open episode: its errors are no longer notified, its end still is.
    pub async fn acknowledge_episode(
        &self,
        caller: &Caller,
        id: EpisodeId,
    ) -> Result<Map<String, Value>, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        let found = self
            .dependencies
            .alert_store
            .episode(caller.customer, id)
            .await?
            .ok_or(ServiceError::NotFound)?;
        if found.ended_at.is_some() {
            return Err(ServiceError::Conflict("This outage has ended".to_owned()));
        }
        let login = caller.login.to_string();
        let acknowledged = self
            .dependencies
            .alert_store
            .acknowledge(caller.customer, id, login, self.dependencies.clock.now())
            .await?;
        let current = self
            .dependencies
            .alert_store
            .episode(caller.customer, id)
            .await?
            .ok_or(ServiceError::NotFound)?;
        if !acknowledged && current.acknowledged_by.is_empty() {
            return Err(ServiceError::Conflict("This outage has ended".to_owned()));
        }
        // Also sent if it was acknowledged before, since the alert engine may have missed that.
        self.dependencies.alert_pipeline_handle.acknowledge_episode(found.monitor_id, id).await?;
        if acknowledged {
            self.write_audit_entry(caller, "acknowledge", "episode", id.0, &found.monitor_name).await?;
        }
        Ok(self.episode_to_json(&current)?)
    }

    /// Converts an episode to the version 3 object.
    fn episode_to_json(&self, episode: &StoredEpisode) -> Result<Map<String, Value>, StoreError> {
        let snapshot: EpisodeSnapshot =
            serde_json::from_value(Value::Object(episode.snapshot_fields.clone())).map_err(|error| {
                let (row, reason) = (format!("id {}", episode.id), error.to_string());
                let alert_store = &self.dependencies.alert_store;
                alert_store.undecodable_json_error(StoredJson::EpisodeSnapshot, row, reason)
            })?;
        Ok(into_object(json!({
            "id": episode.id.0,
            "monitor_id": episode.monitor_id.0,
            "monitor_name": episode.monitor_name,
            "started_at": format_utc_time(episode.started_at),
            "ended_at": episode.ended_at.map(format_utc_time),
            "recovered": snapshot.end.map(|end| end.is_recovery),
            "status": snapshot.last_status.0,
            "status_text": snapshot.last_status.text(),
            "runs": snapshot.failed_runs,
            "last_run": format_utc_time(snapshot.last_failed_at),
            "cause": cause_to_json(&snapshot.cause),
            "locations": snapshot.failed_locations.iter().map(|id| id.0).collect::<Vec<_>>(),
            "verification": snapshot.verification.as_ref().map(verification_to_json),
            "flapping": snapshot.is_flapping,
            "acknowledged_by": Some(&episode.acknowledged_by).filter(|login| !login.is_empty()),
            "acknowledged_at": episode.acknowledged_at.map(format_utc_time),
        })))
    }
}

fn cause_to_json(cause: &LocationResult) -> Value {
    json!({
        "check_id": cause.check_id,
        "planned_at": format_utc_time(cause.planned_at),
        "location_id": cause.location_id.0,
        "status": cause.status.0,
        "status_text": cause.status.text(),
        "step": cause.failing_step,
    })
}

fn verification_to_json(verification: &Verification) -> Value {
    json!({
        "status": verification.status.0,
        "status_text": verification.status.text(),
        "location_id": verification.location_id.map(|id| id.0),
        "found": verification.recheck_status.map(|status| status.0),
        "at": format_utc_time(verification.completed_at),
    })
}
