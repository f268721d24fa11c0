//! Processing of one batch of results and commands.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::command::{IngestCommand, result_key};
use super::engine::AlertEngine;
use super::monitor_entry::{AlertInput, InputContext, MonitorEntry};
use super::traceroutes::TracerouteJob;
use super::verifications::{VerificationRequest, not_verified};
use super::{baseline, stored_forms};
use crate::alerting::{Effect, NotificationDraft};
use crate::domain::{
    CheckId, CheckResult, LocationId, MonitorId, NotificationKind, RecipientId, Status, Timestamp,
    Verification,
};
use crate::store::{AlertChanges, Evidence, NewRecord, VerifiedCheck};

/// Delay of a traceroute notification, so that the alert that it belongs to is sent first.
const TRACE_NOTIFY_OFFSET: Duration = Duration::from_millis(500);

/// Outcome of a batch.
#[derive(Default)]
pub(in crate::pipeline) struct BatchOutcome {
    /// Changes to store together with the results of the batch.
    pub(in crate::pipeline) alert_changes: AlertChanges,
    /// Missed runs at offline locations, to be stored with the results.
    pub(in crate::pipeline) missed_results: Vec<CheckResult>,
    /// Actions to start after the commit.
    pub(in crate::pipeline) post_commit: PostCommitActions,
}

/// Actions to start after the commit.
#[derive(Default)]
pub(in crate::pipeline) struct PostCommitActions {
    pub(super) verifications: Vec<VerificationRequest>,
    pub(super) traceroutes: Vec<TracerouteJob>,
    /// Checks whose notifications need not wait any longer.
    pub(super) release_checks: Vec<CheckId>,
    pub(super) events: Vec<NewRecord>,
    /// Whether there are new notifications.
    pub(super) wakes_delivery: bool,
}

/// Data collected while a batch is processed.
#[derive(Default)]
pub(super) struct BatchContext {
    pub(super) now: Timestamp,
    pub(super) effects: VecDeque<(MonitorId, Effect)>,
    /// Monitors whose alert state must be stored or deleted.
    pub(super) dirty_monitors: HashSet<MonitorId>,
    pub(super) notifications: Vec<PendingNotification>,
    /// Notifications that are sent with a traceroute.
    pub(super) traceroute_notifications: Vec<PendingNotification>,
    pub(super) traceroutes: Vec<TracerouteJob>,
    /// Checks with a traceroute.
    pub(super) traced_checks: HashSet<CheckId>,
    pub(super) verification_requests: Vec<VerificationRequest>,
    pub(super) release_checks: Vec<CheckId>,
    pub(super) events: Vec<NewRecord>,
    pub(super) changes: AlertChanges,
    pub(super) missed_results: Vec<CheckResult>,
}

/// A notification for one recipient, not rendered yet.
pub(super) struct PendingNotification {
    pub(super) monitor: MonitorId,
    pub(super) recipient: RecipientId,
    pub(super) group: Option<i64>,
    pub(super) draft: NotificationDraft,
}

impl AlertEngine {
    /// Processes `results` and `commands`. Timers run only when `time_passes`, in a batch after which nothing is queued:
    /// late results all count before runs are closed.
    pub(in crate::pipeline) async fn process_batch(
        &mut self,
        results: &mut [CheckResult],
        commands: Vec<IngestCommand>,
        time_passes: bool,
    ) -> BatchOutcome {
        let mut batch = BatchContext { now: self.dependencies.clock.now(), ..BatchContext::default() };
        if time_passes {
            self.locations.refresh(batch.now);
        }
        self.accounts.refresh().await;
        let mut verifications = Vec::new();
        for command in commands {
            match command {
                IngestCommand::UpdateMonitors { upserts, removed } => {
                    self.apply_changes(upserts, removed, &mut batch).await;
                }
                IngestCommand::VerificationDone { monitor, planned_at, verification: answer } => {
                    verifications.push((monitor, planned_at, answer));
                }
                IngestCommand::TracerouteDone { result, file, messages } => {
                    batch.release_checks.push(result.check_id);
                    batch.changes.evidence.extend(file.map(|file| Evidence { result, file }));
                    let now = batch.now;
                    let due = messages.into_iter().map(move |mut message| {
                        // Due after the alert that waited for it, which is due once this is stored.
                        (message.created_at, message.not_before) = (now, now + TRACE_NOTIFY_OFFSET);
                        message
                    });
                    batch.changes.notifications.extend(due);
                }
                IngestCommand::AcknowledgeEpisode { monitor, episode } => {
                    if self.monitors.get_mut(&monitor).is_some_and(|entry| entry.state.acknowledge(episode)) {
                        batch.dirty_monitors.insert(monitor);
                    }
                }
            }
        }
        for result in &mut *results {
            self.on_result(result, &mut batch).await;
        }
        for (monitor, planned_at, answer) in verifications {
            self.on_input(monitor, AlertInput::Verification(planned_at, answer), &mut batch);
        }
        if time_passes {
            self.on_tick(&mut batch);
        }
        while let Some((monitor, effect)) = batch.effects.pop_front() {
            self.apply_effect(monitor, effect, &mut batch);
        }
        self.record_recovered_locations(&mut batch);
        self.write_notifications(&mut batch, results).await;
        self.store_states(&mut batch);
        let wakes_delivery = !batch.changes.notifications.is_empty();
        let BatchContext {
            verification_requests: asks,
            traceroutes: traces,
            release_checks: hasten,
            events,
            changes,
            missed_results: missed,
            ..
        } = batch;
        BatchOutcome {
            alert_changes: changes,
            missed_results: missed,
            post_commit: PostCommitActions {
                verifications: asks,
                traceroutes: traces,
                release_checks: hasten,
                events,
                wakes_delivery,
            },
        }
    }

    /// Applies `result` after comparing its page with earlier runs.
    async fn on_result(&mut self, result: &mut CheckResult, batch: &mut BatchContext) {
        let Some(entry) = self.monitors.get_mut(&result.monitor_id).filter(|entry| entry.active) else {
            return;
        };
        let Some((facts, version)) = self.accounts.get(entry.monitor.customer) else { return };
        let rules = entry.rules(facts, version, self.settings);
        if rules.policy.notify_on_content_change && baseline::needs_baseline(entry, result) {
            let results = self.dependencies.results.as_ref();
            let before = baseline::load_last_page(results, result.monitor_id, result.location_id).await;
            entry.pages.push((result.location_id, before));
        }
        let mut objects = None;
        if let Some(rule) = rules.page_objects
            && result.details.page.is_some()
        {
            if !entry.objects.iter().any(|(location, _)| *location == result.location_id) {
                let results = self.dependencies.results.as_ref();
                let before =
                    baseline::load_last_objects(results, result.monitor_id, result.location_id).await;
                entry.objects.push((result.location_id, before));
            }
            objects = entry.compare_objects(result, rule);
        }
        let location_result = entry.location_result(result, &rules, objects);
        let context = InputContext { facts, offline_locations: self.locations.offline(), now: batch.now };
        let effects = entry.apply(AlertInput::Result(location_result), &rules, context);
        self.queue_effects(result.monitor_id, effects, batch);
    }

    /// Applies another input to the alert state of `monitor`.
    pub(super) fn on_input(&mut self, monitor: MonitorId, input: AlertInput, batch: &mut BatchContext) {
        let Some(entry) = self.monitors.get_mut(&monitor).filter(|entry| entry.active) else { return };
        let Some((facts, version)) = self.accounts.get(entry.monitor.customer) else { return };
        let rules = entry.rules(facts, version, self.settings);
        let context = InputContext { facts, offline_locations: self.locations.offline(), now: batch.now };
        let effects = entry.apply(input, &rules, context);
        self.queue_effects(monitor, effects, batch);
    }

    /// Queues the effects for the rest of the batch and sets the next timer.
    pub(super) fn queue_effects(
        &mut self,
        monitor: MonitorId,
        effects: Vec<Effect>,
        batch: &mut BatchContext,
    ) {
        let Some(entry) = self.monitors.get_mut(&monitor) else { return };
        if entry.has_stored_state || !entry.state.is_default() {
            batch.dirty_monitors.insert(monitor);
        }
        if let Some(due) = entry.state.next_tick_at()
            && entry.timer.is_none_or(|set| due < set)
        {
            entry.timer = Some(due);
            self.timers.set(due, monitor);
        }
        batch.effects.extend(effects.into_iter().map(|effect| (monitor, effect)));
        self.publish_health(monitor);
    }

    fn on_tick(&mut self, batch: &mut BatchContext) {
        while let Some((at, monitor)) = self.timers.pop_due(batch.now) {
            let Some(entry) = self.monitors.get_mut(&monitor).filter(|entry| entry.timer == Some(at)) else {
                continue;
            };
            entry.timer = None;
            if entry.state.next_tick_at().is_some_and(|due| due <= batch.now) {
                self.on_input(monitor, AlertInput::Tick, batch);
                self.defer_timer(monitor, batch.now);
            } else {
                self.queue_effects(monitor, Vec::new(), batch);
            }
        }
    }

    /// Defers a timer that its tick did not move, so that the loop does not spin.
    fn defer_timer(&mut self, monitor: MonitorId, now: Timestamp) {
        let later = now + Duration::from_secs(1);
        if let Some(entry) =
            self.monitors.get_mut(&monitor).filter(|entry| entry.timer.is_some_and(|at| at <= now))
        {
            entry.timer = Some(later);
            self.timers.set(later, monitor);
        }
    }

    fn apply_effect(&mut self, monitor: MonitorId, effect: Effect, batch: &mut BatchContext) {
        let Some(entry) = self.monitors.get(&monitor) else { return };
        match effect {
            Effect::RequestVerification { planned_at, check, location, failed } => {
                let verifier = self.select_verifier(entry, &failed, (location, check));
                match verifier {
                    Ok((location, longest)) => {
                        batch.verification_requests.push(VerificationRequest {
                            monitor: entry.monitor.clone(),
                            planned_at,
                            location,
                            max_check_duration: longest,
                        });
                    }
                    Err(status) => {
                        self.apply_verification(monitor, planned_at, not_verified(status, batch.now), batch);
                    }
                }
            }
            Effect::RecordVerification { planned_at, location, verification: answer } => {
                batch.changes.verifications.push(VerifiedCheck {
                    result: result_key(monitor, planned_at, location),
                    verification: answer,
                });
            }
            Effect::RecordMissed { planned_at, locations } => {
                for location in locations {
                    batch.missed_results.push(stored_forms::missed_result(
                        &entry.monitor,
                        location,
                        planned_at,
                        batch.now,
                    ));
                    let customer = entry.monitor.customer;
                    if self.offline.mark_offline(customer, location) {
                        let name = self.locations.name(location);
                        batch.events.push(super::offline_locations::location_event(
                            customer, name, location, true, batch.now,
                        ));
                    }
                }
            }
            Effect::UpdateEpisode(change) => {
                batch.changes.episodes.push(stored_forms::episode_record(&entry.monitor, &change));
            }
            // Its recipients are those of the notification that follows.
            Effect::RunTraceroute { planned_at, location, check, audience: _ } => {
                if self.traceroutes.try_acquire(location, batch.now) {
                    let result = result_key(monitor, planned_at, location);
                    batch.traced_checks.insert(check);
                    let monitor = entry.monitor.clone();
                    batch.traceroutes.push(TracerouteJob {
                        monitor,
                        result,
                        address: None,
                        messages: Vec::new(),
                    });
                }
            }
            Effect::Notify { recipient, group, draft } => {
                let traced = draft.awaits_trace
                    && draft
                        .deciding_result
                        .as_ref()
                        .is_some_and(|cause| batch.traced_checks.contains(&cause.check_id));
                if traced {
                    let draft = NotificationDraft { kind: NotificationKind::Traceroute, ..draft.clone() };
                    batch.traceroute_notifications.push(PendingNotification {
                        monitor,
                        recipient,
                        group,
                        draft,
                    });
                }
                batch.notifications.push(PendingNotification { monitor, recipient, group, draft });
            }
        }
    }

    /// Returns the location to verify a failure and its longest check duration, or the status when there is none.
    fn select_verifier(
        &self,
        entry: &MonitorEntry,
        failed: &[LocationId],
        of: (LocationId, CheckId),
    ) -> Result<(LocationId, Duration), Status> {
        let known = self.accounts.get(entry.monitor.customer).zip(entry.rules.as_ref());
        let ((facts, _), (_, rules)) = known.ok_or(Status::VERIFIED_UNAVAILABLE)?;
        let location = self.locations.select_verifier(&rules.policy, facts, failed, of);
        let location = location.ok_or(Status::VERIFIED_UNAVAILABLE)?;
        if !self.verifications.has_capacity() {
            return Err(Status::VERIFIED_NO_ANSWER);
        }
        Ok((location, rules.policy.run_plan.max_check_duration))
    }

    /// Applies a verification. Its effects come before the remaining ones, as if they had followed at once.
    fn apply_verification(
        &mut self,
        monitor: MonitorId,
        planned_at: Timestamp,
        answer: Verification,
        batch: &mut BatchContext,
    ) {
        let rest = std::mem::take(&mut batch.effects);
        self.on_input(monitor, AlertInput::Verification(planned_at, answer), batch);
        batch.effects.extend(rest);
    }

    fn record_recovered_locations(&mut self, batch: &mut BatchContext) {
        for (customer, location) in self.offline.take_recovered(self.locations.offline()) {
            let name = self.locations.name(location);
            batch
                .events
                .push(super::offline_locations::location_event(customer, name, location, false, batch.now));
        }
    }

    /// Adds changed alert states to the stored changes; default states are deleted.
    fn store_states(&mut self, batch: &mut BatchContext) {
        let mut touched: Vec<MonitorId> = batch.dirty_monitors.drain().collect();
        touched.sort_unstable();
        for monitor in touched {
            let Some(entry) = self.monitors.get_mut(&monitor) else { continue };
            let body = if entry.state.is_default() { None } else { serde_json::to_string(&entry.state).ok() };
            if body.is_some() || entry.has_stored_state {
                entry.has_stored_state = body.is_some();
                batch.changes.alert_states.push((monitor, body));
            }
        }
    }
}
