//! Messages of a turn.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::batch::{BatchContext, PendingNotification};
use super::engine::AlertEngine;
use super::notification_content::{
    ContentSources, build_content, deduplication_key, find_result, referenced_results,
};
use super::stored_forms::results_by_check;
use crate::domain::{
    CheckId, CheckResult, MonitorId, NewNotification, NotificationContent, NotificationKind, Timestamp,
};
use crate::store::MonitorState;

impl AlertEngine {
    /// Writes what `turn` has to tell. Results that are not of this turn are read from the store; where that fails,
    /// the message goes out with less.
    pub(super) async fn write_notifications(&self, batch: &mut BatchContext, results: &[CheckResult]) {
        let mut tellings = std::mem::take(&mut batch.notifications);
        tellings.append(&mut batch.traceroute_notifications);
        if tellings.is_empty() && batch.traces.is_empty() {
            return;
        }
        let at_hand = results_by_check(results);
        let fetched = self.fetch_missing_results(&tellings, &at_hand).await;
        let find = |id: CheckId| find_result(&at_hand, &fetched, id);
        let mut written: Option<(MonitorId, NotificationKind, Timestamp, NotificationContent)> = None;
        for pending in tellings {
            let PendingNotification { monitor, recipient, group, draft } = pending;
            let kind = draft.kind;
            // Recipients of the same news follow one another.
            let same =
                |(of, told, at, notice): &(MonitorId, NotificationKind, Timestamp, NotificationContent)| {
                    *of == monitor
                        && *told == kind
                        && *at == draft.planned_at
                        && notice.episode == draft.episode
                };
            if !written.as_ref().is_some_and(same) {
                written = self
                    .build_content(monitor, &draft, &find, batch.now)
                    .map(|notice| (monitor, kind, draft.planned_at, notice));
            }
            let Some((.., notice)) = &written else { continue };
            let waits = draft.awaits_trace
                && draft.deciding_result.is_some_and(|cause| batch.traced_checks.contains(&cause.check_id));
            let not_before = if waits { batch.now + self.settings.trace_wait } else { batch.now };
            let message = NewNotification {
                key: deduplication_key(notice, recipient),
                recipient,
                group,
                content: notice.clone(),
                created_at: batch.now,
                not_before,
            };
            if kind == NotificationKind::Traceroute {
                // Goes out with what it found.
                let trace =
                    batch.traces.iter_mut().find(|trace| Some(trace.result.check_id) == notice.check_id);
                if let Some(trace) = trace {
                    trace.messages.push(message);
                }
            } else {
                batch.changes.notifications.push(message);
            }
        }
        for trace in &mut batch.traces {
            trace.address = find(trace.result.check_id).and_then(|result| Some(result.address?.ip()));
        }
    }

    fn build_content<'r>(
        &self,
        monitor: MonitorId,
        draft: &crate::alerting::NotificationDraft,
        find: &dyn Fn(CheckId) -> Option<&'r CheckResult>,
        now: Timestamp,
    ) -> Option<NotificationContent> {
        let entry = self.monitors.get(&monitor)?;
        let (facts, _) = self.accounts.get(entry.monitor.customer)?;
        let name = |location| self.locations.name(location).to_owned();
        let sources = ContentSources { monitor: &entry.monitor, facts, results: find, name: &name, now };
        Some(build_content(draft, &sources))
    }

    /// Results that are wanted and not `at_hand`.
    async fn fetch_missing_results(
        &self,
        tellings: &[PendingNotification],
        at_hand: &HashMap<CheckId, &CheckResult>,
    ) -> HashMap<CheckId, CheckResult> {
        let mut seen = HashSet::new();
        let mut places: Vec<MonitorState> = Vec::new();
        for pending in tellings {
            for heard in referenced_results(&pending.draft) {
                if !at_hand.contains_key(&heard.check_id) && seen.insert(heard.check_id) {
                    places.push(MonitorState {
                        monitor_id: pending.monitor,
                        location_id: heard.location,
                        check_id: heard.check_id,
                        planned_at: heard.planned_at,
                        outcome: heard.outcome,
                        status: heard.status,
                        total_us: 0,
                        since: heard.planned_at,
                        streak: 1,
                        full_page_at: None,
                    });
                }
            }
        }
        if places.is_empty() {
            return HashMap::new();
        }
        match Arc::clone(&self.dependencies.results).latest_results(places).await {
            Ok(found) => found.into_iter().flatten().map(|result| (result.check_id, result)).collect(),
            Err(error) => {
                tracing::warn!(error = %error, "failed to read results; notifications are sent without their details");
                HashMap::new()
            }
        }
    }
}
