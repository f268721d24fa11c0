//! Processing of one batch of results and commands.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::command::{IngestCommand, result_key};
use super::engine::AlertEngine;
use super::parent_checks::ParentCheckRequest;
use super::store_records;
use super::traceroutes::TracerouteJob;
use super::tracked_monitor::{AlertInput, InputContext, TrackedMonitor};
use super::verifications::{VerificationRequest, verification_without_check};
use crate::alerting::{Effect, NotificationDraft};
use crate::domain::{
    CapturedFile, CheckId, CheckResult, LocationId, MonitorId, NotificationKind, RecipientId, Status,
    Timestamp, Verification,
};
use crate::store::{AddedCapture, AlertChanges, CheckVerification, NewConfigRecord};
use crate::telemetry::fault_point;

/// Delay of a traceroute notification, so that the alert that it belongs to is sent first.
const TRACEROUTE_NOTIFICATION_DELAY: Duration = Duration::from_millis(500);

/// Outcome of a batch.
#[derive(Default)]
pub(in crate::pipeline) struct BatchOutput {
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
    pub(super) parent_checks: Vec<ParentCheckRequest>,
    /// Checks whose notifications need not wait any longer.
    pub(super) checks_to_release: Vec<CheckId>,
    pub(super) events: Vec<NewConfigRecord>,
    /// Whether there are new notifications.
    pub(super) has_notifications: bool,
}

/// Data collected while a batch is processed.
#[derive(Default)]
pub(super) struct BatchContext {
    pub(super) now: Timestamp,
    /// Effects of alert states that are not applied yet.
    pub(super) effects: VecDeque<(MonitorId, Effect)>,
    /// Monitors whose alert state must be stored or deleted.
    pub(super) dirty_monitors: HashSet<MonitorId>,
    pub(super) notifications: Vec<UnrenderedNotification>,
    /// Notifications that are sent with a traceroute.
    pub(super) traceroute_notifications: Vec<UnrenderedNotification>,
    pub(super) traceroutes: Vec<TracerouteJob>,
    /// Checks with a traceroute.
    pub(super) traced_checks: HashSet<CheckId>,
    pub(super) verification_requests: Vec<VerificationRequest>,
    pub(super) parent_checks: Vec<ParentCheckRequest>,
    /// Monitors that others depend on and that nothing can check now.
    pub(super) unavailable_parents: Vec<MonitorId>,
    pub(super) checks_to_release: Vec<CheckId>,
    pub(super) events: Vec<NewConfigRecord>,
    pub(super) alert_changes: AlertChanges,
    pub(super) missed_results: Vec<CheckResult>,
}

/// A notification for one recipient, not rendered yet.
pub(super) struct UnrenderedNotification {
    pub(super) monitor_id: MonitorId,
    pub(super) recipient_id: RecipientId,
    /// The notifier group through which the recipient gets it.
    pub(super) group_id: Option<i64>,
    pub(super) draft: NotificationDraft,
}

impl AlertEngine {
    /// Processes `results` and `commands`. Timers run only when `runs_timers`, in a batch after which nothing is
    /// queued: late results all count before runs are closed.
    pub(in crate::pipeline) async fn process_batch(
        &mut self,
        results: &mut [CheckResult],
        commands: &[IngestCommand],
        runs_timers: bool,
    ) -> BatchOutput {
        let mut batch = BatchContext { now: self.dependencies.clock.now(), ..BatchContext::default() };
        if runs_timers {
            self.locations.refresh(batch.now);
        }
        self.account_snapshots.refresh().await;
        let (mut verifications, mut checked_parents) = (Vec::new(), Vec::new());
        for command in commands {
            match command {
                IngestCommand::UpdateMonitors { upserts, removed } => {
                    self.apply_monitor_changes(upserts.clone(), removed.clone(), &mut batch).await;
                }
                IngestCommand::VerificationDone { monitor_id, planned_at, verification } => {
                    verifications.push((*monitor_id, *planned_at, verification.clone()));
                }
                IngestCommand::ParentChecked { parent, outcome } => checked_parents.push((*parent, *outcome)),
                IngestCommand::TracerouteDone {
                    result_key: traced_result_key,
                    output_file: file,
                    notifications,
                } => {
                    batch.checks_to_release.push(traced_result_key.check_id);
                    batch.alert_changes.added_captures.extend(
                        file.clone()
                            .map(|file| AddedCapture { result_key: *traced_result_key, capture: file }),
                    );
                    let now = batch.now;
                    let due_notifications = notifications.iter().cloned().map(move |mut notification| {
                        // Due after the alert that waited for it, which is due once this is stored.
                        (notification.created_at, notification.not_before) =
                            (now, now + TRACEROUTE_NOTIFICATION_DELAY);
                        notification
                    });
                    batch.alert_changes.notifications.extend(due_notifications);
                }
                IngestCommand::AddCaptures { result_key, files } => {
                    let added = |capture: &CapturedFile| AddedCapture {
                        result_key: *result_key,
                        capture: capture.clone(),
                    };
                    batch.alert_changes.added_captures.extend(files.iter().map(added));
                }
                IngestCommand::UpdateSettings(settings) => self.apply_settings(*settings),
                IngestCommand::AcknowledgeEpisode { monitor_id, episode_id } => {
                    if self
                        .monitors
                        .get_mut(monitor_id)
                        .is_some_and(|entry| entry.alert_state.acknowledge_episode(*episode_id))
                    {
                        batch.dirty_monitors.insert(*monitor_id);
                    }
                }
            }
        }
        self.load_baselines(results).await;
        for result in &mut *results {
            self.on_result(result, &mut batch).await;
        }
        for (monitor_id, planned_at, verification) in verifications {
            self.on_input(monitor_id, AlertInput::Verification(planned_at, verification), &mut batch);
        }
        for (parent, outcome) in checked_parents {
            self.on_parent_checked(parent, outcome, &mut batch);
        }
        if runs_timers {
            self.run_due_timers(&mut batch);
        }
        self.apply_effects(&mut batch);
        self.record_recovered_locations(&mut batch);
        self.build_notifications(&mut batch, results).await;
        self.add_changed_states(&mut batch);
        self.monitor_in_progress = None;
        let has_notifications = !batch.alert_changes.notifications.is_empty();
        let BatchContext {
            verification_requests,
            traceroutes,
            parent_checks,
            checks_to_release,
            events,
            alert_changes,
            missed_results,
            ..
        } = batch;
        BatchOutput {
            alert_changes,
            missed_results,
            post_commit: PostCommitActions {
                verifications: verification_requests,
                traceroutes,
                parent_checks,
                checks_to_release,
                events,
                has_notifications,
            },
        }
    }

    /// Applies `result` after comparing its page with earlier runs. A first check sets the health alone.
    async fn on_result(&mut self, result: &mut CheckResult, batch: &mut BatchContext) {
        if !result.trigger.is_schedule() {
            if let Some(entry) = self.monitors.get_mut(&result.monitor_id).filter(|entry| entry.is_active) {
                entry.alert_state.on_first_check(result.planned_at, result.outcome);
                self.publish_health(result.monitor_id);
            }
            return;
        }
        let parents = self.parent_states(result.monitor_id, batch.now);
        let Some(entry) = self.monitors.get_mut(&result.monitor_id).filter(|entry| entry.is_active) else {
            return;
        };
        let Some((account, account_version)) = self.account_snapshots.get(entry.monitor.customer) else {
            return;
        };
        self.monitor_in_progress = Some(result.monitor_id);
        // What the store cannot read is logged where it is read.
        let _ = fault_point("alerts").await;
        let rules = entry.rules(account, account_version, self.settings);
        let mut object_change = None;
        if let Some(rule) = rules.object_comparison
            && result.details.page_load.is_some()
        {
            object_change = entry.apply_object_comparison(result, rule);
        }
        let location_result = entry.build_location_result(result, &rules, object_change);
        let offline_locations = self.locations.offline_locations();
        let context = InputContext { account, offline_locations, parents: &parents, now: batch.now };
        let effects = entry.apply_input(AlertInput::Result(location_result), &rules, context);
        self.queue_effects(result.monitor_id, effects, batch);
    }

    /// Applies another input to the alert state of `monitor_id`.
    pub(super) fn on_input(&mut self, monitor_id: MonitorId, input: AlertInput, batch: &mut BatchContext) {
        self.monitor_in_progress = Some(monitor_id);
        let parents = self.parent_states(monitor_id, batch.now);
        let Some(entry) = self.monitors.get_mut(&monitor_id).filter(|entry| entry.is_active) else { return };
        let Some((account, account_version)) = self.account_snapshots.get(entry.monitor.customer) else {
            return;
        };
        let rules = entry.rules(account, account_version, self.settings);
        let offline_locations = self.locations.offline_locations();
        let context = InputContext { account, offline_locations, parents: &parents, now: batch.now };
        let effects = entry.apply_input(input, &rules, context);
        self.queue_effects(monitor_id, effects, batch);
    }

    /// Queues the effects for the rest of the batch and sets the next timer.
    pub(super) fn queue_effects(
        &mut self,
        monitor_id: MonitorId,
        effects: Vec<Effect>,
        batch: &mut BatchContext,
    ) {
        let Some(entry) = self.monitors.get_mut(&monitor_id) else { return };
        if entry.has_stored_state || !entry.alert_state.is_derivable() {
            batch.dirty_monitors.insert(monitor_id);
        }
        if let Some(next_tick_at) = entry.alert_state.next_tick_at()
            && entry.next_timer_at.is_none_or(|current_timer| next_tick_at < current_timer)
        {
            entry.next_timer_at = Some(next_tick_at);
            self.timers.push(next_tick_at, monitor_id);
        }
        batch.effects.extend(effects.into_iter().map(|effect| (monitor_id, effect)));
        self.publish_health(monitor_id);
    }

    /// Ticks the alert states whose timer is due.
    fn run_due_timers(&mut self, batch: &mut BatchContext) {
        while let Some((due_at, monitor_id)) = self.timers.pop_due(batch.now) {
            let Some(entry) =
                self.monitors.get_mut(&monitor_id).filter(|entry| entry.next_timer_at == Some(due_at))
            else {
                continue;
            };
            entry.next_timer_at = None;
            if entry.alert_state.next_tick_at().is_some_and(|due| due <= batch.now) {
                self.on_input(monitor_id, AlertInput::Tick, batch);
                self.defer_timer(monitor_id, batch.now);
            } else {
                self.queue_effects(monitor_id, Vec::new(), batch);
            }
        }
    }

    /// Defers a timer that its tick did not move, so that the loop does not spin.
    fn defer_timer(&mut self, monitor_id: MonitorId, now: Timestamp) {
        let retry_at = now + Duration::from_secs(1);
        if let Some(entry) =
            self.monitors.get_mut(&monitor_id).filter(|entry| entry.next_timer_at.is_some_and(|at| at <= now))
        {
            entry.next_timer_at = Some(retry_at);
            self.timers.push(retry_at, monitor_id);
        }
    }

    /// Applies the queued effects, and those that follow from them.
    fn apply_effects(&mut self, batch: &mut BatchContext) {
        loop {
            while let Some((monitor_id, effect)) = batch.effects.pop_front() {
                self.apply_effect(monitor_id, effect, batch);
            }
            if batch.unavailable_parents.is_empty() {
                return;
            }
            self.answer_for_unavailable_parents(batch);
        }
    }

    /// Turns `effect` into changes to store, events, and actions after the commit.
    fn apply_effect(&mut self, monitor_id: MonitorId, effect: Effect, batch: &mut BatchContext) {
        self.monitor_in_progress = Some(monitor_id);
        let Some(entry) = self.monitors.get(&monitor_id) else { return };
        match effect {
            Effect::RequestVerification {
                planned_at,
                check_id,
                location_id: location,
                failed_locations: failed,
            } => {
                let verifying_location = self.select_verifying_location(entry, &failed, (location, check_id));
                match verifying_location {
                    Ok((location, max_check_duration)) => {
                        batch.verification_requests.push(VerificationRequest {
                            monitor: entry.monitor.clone(),
                            planned_at,
                            verifying_location: location,
                            max_check_duration,
                        });
                    }
                    Err(status) => {
                        self.apply_verification(
                            monitor_id,
                            planned_at,
                            verification_without_check(status, batch.now),
                            batch,
                        );
                    }
                }
            }
            Effect::RecordVerification { planned_at, location, verification } => {
                batch.alert_changes.verified_checks.push(CheckVerification {
                    result_key: result_key(monitor_id, planned_at, location),
                    verification,
                });
            }
            Effect::CheckParents { planned_at, failed_location, parents } => {
                self.request_parent_checks(monitor_id, planned_at, failed_location, &parents, batch);
            }
            Effect::RecordSuppression { planned_at, locations, suppressed_by } => {
                let checks =
                    store_records::suppressed_checks(monitor_id, planned_at, &locations, &suppressed_by);
                batch.alert_changes.checks_suppressed_by_dependency.extend(checks);
            }
            Effect::RecordMissed { planned_at, locations } => {
                for location in locations {
                    batch.missed_results.push(store_records::missed_result(
                        &entry.monitor,
                        location,
                        planned_at,
                        batch.now,
                    ));
                    let customer = entry.monitor.customer;
                    if self.reported_offline_locations.insert_if_new(customer, location) {
                        let name = self.locations.location_name(location);
                        batch.events.push(super::offline_locations::location_event(
                            customer, name, location, true, batch.now,
                        ));
                    }
                }
            }
            Effect::UpdateEpisode(change) => {
                batch.alert_changes.episodes.push(store_records::episode_record(&entry.monitor, &change));
            }
            // Its recipients are those of the notification that follows.
            Effect::RunTraceroute { planned_at, location, check_id, recipients: _ } => {
                if self.traceroute_runner.try_acquire(location, batch.now) {
                    let traced_result_key = result_key(monitor_id, planned_at, location);
                    batch.traced_checks.insert(check_id);
                    let traced_monitor = entry.monitor.clone();
                    batch.traceroutes.push(TracerouteJob {
                        monitor: traced_monitor,
                        result_key: traced_result_key,
                        peer_address: None,
                        notifications: Vec::new(),
                    });
                }
            }
            Effect::Notify { recipient_id: recipient, group_id: group, draft } => {
                let has_traceroute = draft.awaits_traceroute
                    && draft.deciding_result.as_ref().is_some_and(|deciding_result| {
                        batch.traced_checks.contains(&deciding_result.check_id)
                    });
                if has_traceroute {
                    let draft = NotificationDraft { kind: NotificationKind::Traceroute, ..draft.clone() };
                    batch.traceroute_notifications.push(UnrenderedNotification {
                        monitor_id,
                        recipient_id: recipient,
                        group_id: group,
                        draft,
                    });
                }
                batch.notifications.push(UnrenderedNotification {
                    monitor_id,
                    recipient_id: recipient,
                    group_id: group,
                    draft,
                });
            }
        }
    }

    /// Returns the location to verify a failure and its longest check duration, or the status when there is none.
    fn select_verifying_location(
        &self,
        entry: &TrackedMonitor,
        failed_locations: &[LocationId],
        failed_check: (LocationId, CheckId),
    ) -> Result<(LocationId, Duration), Status> {
        let account_and_rules =
            self.account_snapshots.get(entry.monitor.customer).zip(entry.cached_rules.as_ref());
        let ((account, _), (_, rules)) = account_and_rules.ok_or(Status::VERIFICATION_UNAVAILABLE)?;
        let location =
            self.locations.select_verifying_location(&rules.policy, account, failed_locations, failed_check);
        let location = location.ok_or(Status::VERIFICATION_UNAVAILABLE)?;
        if !self.verification_runner.has_capacity() {
            return Err(Status::VERIFICATION_NO_RESPONSE);
        }
        Ok((location, rules.policy.run_plan.max_check_duration))
    }

    /// Applies a verification. Its effects come before the remaining ones, as if they had followed at once.
    fn apply_verification(
        &mut self,
        monitor_id: MonitorId,
        planned_at: Timestamp,
        verification: Verification,
        batch: &mut BatchContext,
    ) {
        let remaining_effects = std::mem::take(&mut batch.effects);
        self.on_input(monitor_id, AlertInput::Verification(planned_at, verification), batch);
        batch.effects.extend(remaining_effects);
    }

    /// Adds events about locations that are back.
    fn record_recovered_locations(&mut self, batch: &mut BatchContext) {
        for (customer, location) in
            self.reported_offline_locations.take_recovered(self.locations.offline_locations())
        {
            let name = self.locations.location_name(location);
            batch
                .events
                .push(super::offline_locations::location_event(customer, name, location, false, batch.now));
        }
    }

    /// Adds changed alert states to the stored changes; default states are deleted.
    fn add_changed_states(&mut self, batch: &mut BatchContext) {
        let mut monitor_ids: Vec<MonitorId> = batch.dirty_monitors.drain().collect();
        monitor_ids.sort_unstable();
        for monitor_id in monitor_ids {
            let Some(entry) = self.monitors.get_mut(&monitor_id) else { continue };
            let body = if entry.alert_state.is_derivable() {
                None
            } else {
                serde_json::to_string(&entry.alert_state).ok()
            };
            if body.is_some() || entry.has_stored_state {
                entry.has_stored_state = body.is_some();
                batch.alert_changes.alert_states.push((monitor_id, body));
            }
        }
    }
}
