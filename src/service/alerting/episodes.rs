//! Listing and acknowledging episodes.

use serde_json::{Map, Value, json};

use super::alert_service::AlertService;
use crate::alerting::{EpisodeChange, LocationResult};
use crate::catalog::json_object::into_object;
use crate::catalog::timestamp_format::format_utc;
use crate::domain::{EpisodeId, Permission, Verification};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{EpisodeFilter, NotificationFilter, Paginated, Pagination, StoreError, StoredEpisode};

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
        let shown = |stored| match episode_to_json(stored) {
            Ok(shown) => Some(shown),
            Err(error) => {
                tracing::error!(error_kind = error.kind(), "outage skipped: {error}");
                None
            }
        };
        Ok(Paginated { total: found.total, items: found.items.iter().filter_map(shown).collect() })
    }

    /// Returns one episode with its notifications.
    pub async fn episode(&self, caller: &Caller, id: EpisodeId) -> Result<Map<String, Value>, ServiceError> {
        caller.require_permission(Permission::View)?;
        let found = self.dependencies.alert_store.episode(caller.customer, id).await?;
        let mut shown = episode_to_json(&found.ok_or(ServiceError::NotFound)?)?;
        let filter = NotificationFilter { episode: Some(id), ..NotificationFilter::default() };
        let messages =
            self.notifications(caller, filter, Pagination { limit: MAX_NOTIFICATIONS, offset: 0 }).await?;
        shown.insert("notifications".to_owned(), messages.items.into_iter().map(Value::Object).collect());
        Ok(shown)
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
        self.dependencies.alert_control.acknowledge_episode(found.monitor_id, id).await?;
        if acknowledged {
            self.write_audit_entry(caller, "acknowledge", "episode", id.0, &found.monitor_name).await?;
        }
        Ok(episode_to_json(&current)?)
    }
}

/// Converts an episode to the version 3 object.
fn episode_to_json(stored: &StoredEpisode) -> Result<Map<String, Value>, StoreError> {
    let body: EpisodeChange =
        serde_json::from_value(Value::Object(stored.body.clone())).map_err(|error| {
            let (row, reason) = (format!("id {}", stored.id), error.to_string());
            StoreError::Undecodable { table: "episodes", row, column: "body", reason }
        })?;
    Ok(into_object(json!({
        "id": stored.id.0,
        "monitor_id": stored.monitor_id.0,
        "monitor_name": stored.monitor_name,
        "started_at": format_utc(stored.since),
        "ended_at": stored.ended_at.map(format_utc),
        "recovered": body.end.map(|end| end.recovered),
        "status": body.last_status.0,
        "status_text": body.last_status.text(),
        "runs": body.failed_runs,
        "last_run": format_utc(body.last_run),
        "cause": cause_to_json(&body.cause),
        "locations": body.locations.iter().map(|id| id.0).collect::<Vec<_>>(),
        "verification": body.verification.as_ref().map(verification_to_json),
        "flapping": body.flapping,
        "acknowledged_by": Some(&stored.acknowledged_by).filter(|login| !login.is_empty()),
        "acknowledged_at": stored.acknowledged_at.map(format_utc),
    })))
}

fn cause_to_json(result: &LocationResult) -> Value {
    json!({
        "check_id": result.check_id,
        "planned_at": format_utc(result.planned_at),
        "location_id": result.location.0,
        "status": result.status.0,
        "status_text": result.status.text(),
        "step": result.step,
    })
}

fn verification_to_json(verification: &Verification) -> Value {
    json!({
        "status": verification.status.0,
        "status_text": verification.status.text(),
        "location_id": verification.location_id.map(|id| id.0),
        "found": verification.found.map(|status| status.0),
        "at": format_utc(verification.at),
    })
}
