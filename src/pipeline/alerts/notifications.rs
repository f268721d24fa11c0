//! Notifications of a batch.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::batch::{BatchContext, UnrenderedNotification};
use super::engine::AlertEngine;
use super::notification_content::{
    ContentSources, build_notification_content, find_result, notification_idempotency_key, referenced_results,
};
use super::store_records::results_by_check;
use crate::domain::{
    CheckId, CheckResult, MonitorId, NewNotification, NotificationContent, NotificationKind, Timestamp,
};
use crate::store::MonitorLocationState;

impl AlertEngine {
    /// Builds the notifications of `batch`. Results that are not in the batch are read from the store; when that fails,
    /// the message contains less.
    pub(super) async fn build_notifications(&mut self, batch: &mut BatchContext, results: &[CheckResult]) {
        let mut notifications = std::mem::take(&mut batch.notifications);
        notifications.append(&mut batch.traceroute_notifications);
        if notifications.is_empty() && batch.traceroutes.is_empty() {
            return;
        }
        let batch_results = results_by_check(results);
        let stored_results = self.fetch_missing_results(&notifications, &batch_results).await;
        let result_by_check = |id: CheckId| find_result(&batch_results, &stored_results, id);
        let mut last_content: Option<(MonitorId, NotificationKind, Timestamp, NotificationContent)> = None;
        for unrendered in notifications {
            let UnrenderedNotification { monitor_id, recipient_id, group_id, draft } = unrendered;
            self.monitor_in_progress = Some(monitor_id);
            let kind = draft.kind;
            // Recipients of the same notification are adjacent.
            let is_same_notification =
                |(content_monitor_id, content_kind, content_planned_at, content): &(
                    MonitorId,
                    NotificationKind,
                    Timestamp,
                    NotificationContent,
                )| {
                    *content_monitor_id == monitor_id
                        && *content_kind == kind
                        && *content_planned_at == draft.planned_at
                        && content.episode_id == draft.episode_id
                };
            if !last_content.as_ref().is_some_and(is_same_notification) {
                last_content = self
                    .build_content(monitor_id, &draft, &result_by_check, batch.now)
                    .map(|content| (monitor_id, kind, draft.planned_at, content));
            }
            let Some((.., content)) = &last_content else { continue };
            let is_delayed = draft.awaits_traceroute
                && draft
                    .deciding_result
                    .is_some_and(|deciding_result| batch.traced_checks.contains(&deciding_result.check_id));
            let not_before = if is_delayed { batch.now + self.settings.traceroute_wait } else { batch.now };
            let notification = NewNotification {
                idempotency_key: notification_idempotency_key(content, recipient_id),
                recipient_id,
                group_id,
                content: content.clone(),
                created_at: batch.now,
                not_before,
            };
            if kind == NotificationKind::Traceroute {
                // Sent once the traceroute is complete.
                let traceroute = batch
                    .traceroutes
                    .iter_mut()
                    .find(|traceroute| Some(traceroute.result_key.check_id) == content.check_id);
                if let Some(traceroute) = traceroute {
                    traceroute.notifications.push(notification);
                }
            } else {
                batch.alert_changes.notifications.push(notification);
            }
        }
        for traceroute in &mut batch.traceroutes {
            traceroute.peer_address =
                result_by_check(traceroute.result_key.check_id).and_then(|result| Some(result.address?.ip()));
        }
    }

    fn build_content<'r>(
        &self,
        monitor_id: MonitorId,
        draft: &crate::alerting::NotificationDraft,
        result_by_check: &dyn Fn(CheckId) -> Option<&'r CheckResult>,
        now: Timestamp,
    ) -> Option<NotificationContent> {
        let entry = self.monitors.get(&monitor_id)?;
        let (account, _) = self.account_snapshots.get(entry.monitor.customer)?;
        let name = |location| self.locations.location_name(location).to_owned();
        let sources =
            ContentSources { monitor: &entry.monitor, account, result_by_check, location_name: &name, now };
        Some(build_notification_content(draft, &sources))
    }

    /// Reads referenced results that are not in `batch_results`.
    async fn fetch_missing_results(
        &self,
        notifications: &[UnrenderedNotification],
        batch_results: &HashMap<CheckId, &CheckResult>,
    ) -> HashMap<CheckId, CheckResult> {
        let mut requested = HashSet::new();
        let mut states: Vec<MonitorLocationState> = Vec::new();
        for unrendered in notifications {
            for location_result in referenced_results(&unrendered.draft) {
                if !batch_results.contains_key(&location_result.check_id)
                    && requested.insert(location_result.check_id)
                {
                    states.push(MonitorLocationState {
                        monitor_id: unrendered.monitor_id,
                        location_id: location_result.location_id,
                        check_id: location_result.check_id,
                        planned_at: location_result.planned_at,
                        outcome: location_result.outcome,
                        status: location_result.status,
                        duration_us: 0,
                        streak_started_at: location_result.planned_at,
                        streak: 1,
                        last_slot_at: Some(location_result.planned_at),
                        last_full_page_at: None,
                    });
                }
            }
        }
        if states.is_empty() {
            return HashMap::new();
        }
        match Arc::clone(&self.dependencies.result_store).results_for_states(states).await {
            Ok(found) => found.into_iter().flatten().map(|result| (result.check_id, result)).collect(),
            Err(error) => {
                tracing::warn!(error = %error, "failed to read results; notifications are sent without their details");
                HashMap::new()
            }
        }
    }
}
