//! One turn of the loop: what came in, what follows from it.

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

/// How long a traceroute waits at most for the alert that waited for it: both are made due together.
const TRACE_NOTIFY_OFFSET: Duration = Duration::from_millis(500);

/// What a turn came to.
#[derive(Default)]
pub(in crate::pipeline) struct BatchOutcome {
    /// What is kept with the results of the turn.
    pub(in crate::pipeline) alert_changes: AlertChanges,
    /// Runs that were missed because a location was away; to be kept with the results.
    pub(in crate::pipeline) missed_results: Vec<CheckResult>,
    /// What begins once all is kept.
    pub(in crate::pipeline) after: PostCommitActions,
}

/// What begins once all is kept.
#[derive(Default)]
pub(in crate::pipeline) struct PostCommitActions {
    pub(super) verifications: Vec<VerificationRequest>,
    pub(super) traceroutes: Vec<TracerouteJob>,
    /// Checks whose messages need not wait any more.
    pub(super) release_checks: Vec<CheckId>,
    pub(super) events: Vec<NewRecord>,
    /// Whether there are new messages.
    pub(super) wakes_delivery: bool,
}

/// What is gathered in a turn.
#[derive(Default)]
pub(super) struct BatchContext {
    pub(super) now: Timestamp,
    pub(super) effects: VecDeque<(MonitorId, Effect)>,
    /// Monitors whose watch is to be kept, or forgotten.
    pub(super) dirty_monitors: HashSet<MonitorId>,
    pub(super) notifications: Vec<PendingNotification>,
    /// Those that come with traceroutes.
    pub(super) traceroute_notifications: Vec<PendingNotification>,
    pub(super) traces: Vec<TracerouteJob>,
    /// Checks that are traced.
    pub(super) traced_checks: HashSet<CheckId>,
    pub(super) asks: Vec<VerificationRequest>,
    pub(super) hasten: Vec<CheckId>,
    pub(super) events: Vec<NewRecord>,
    pub(super) alarm: AlertChanges,
    pub(super) missed: Vec<CheckResult>,
}

/// Somebody who is told.
pub(super) struct PendingNotification {
    pub(super) monitor: MonitorId,
    pub(super) recipient: RecipientId,
    pub(super) group: Option<i64>,
    pub(super) draft: NotificationDraft,
}

impl AlertEngine {
    /// Takes `results` and `words`. Time passes only in a turn after which nothing waits: where several answers are
    /// late, all of them count before runs are closed.
    pub(in crate::pipeline) async fn process_batch(
        &mut self,
        results: &mut [CheckResult],
        words: Vec<IngestCommand>,
        time_passes: bool,
    ) -> BatchOutcome {
        let mut turn = BatchContext { now: self.parts.clock.now(), ..BatchContext::default() };
        if time_passes {
            self.locations.refresh(turn.now);
        }
        self.accounts.refresh().await;
        let mut answers = Vec::new();
        for word in words {
            match word {
                IngestCommand::UpdateMonitors { puts, removed } => {
                    self.apply_changes(puts, removed, &mut turn).await;
                }
                IngestCommand::VerificationDone { monitor, planned_at, answer } => {
                    answers.push((monitor, planned_at, answer));
                }
                IngestCommand::TracerouteDone { result, file, messages } => {
                    turn.hasten.push(result.check_id);
                    turn.alarm.evidence.extend(file.map(|file| Evidence { result, file }));
                    let now = turn.now;
                    let due = messages.into_iter().map(move |mut message| {
                        // Behind the alert that waited for it, which is made due after this is kept.
                        (message.created_at, message.not_before) = (now, now + TRACE_NOTIFY_OFFSET);
                        message
                    });
                    turn.alarm.notifications.extend(due);
                }
                IngestCommand::AcknowledgeEpisode { monitor, episode } => {
                    if self
                        .monitors
                        .get_mut(&monitor)
                        .is_some_and(|watched| watched.state.acknowledge(episode))
                    {
                        turn.dirty_monitors.insert(monitor);
                    }
                }
            }
        }
        for result in &mut *results {
            self.on_result(result, &mut turn).await;
        }
        for (monitor, planned_at, answer) in answers {
            self.on_input(monitor, AlertInput::Verification(planned_at, answer), &mut turn);
        }
        if time_passes {
            self.on_tick(&mut turn);
        }
        while let Some((monitor, effect)) = turn.effects.pop_front() {
            self.apply_effect(monitor, effect, &mut turn);
        }
        self.record_recovered_locations(&mut turn);
        self.write_notifications(&mut turn, results).await;
        self.store_states(&mut turn);
        let rings = !turn.alarm.notifications.is_empty();
        let BatchContext { asks, traces, hasten, events, alarm, missed, .. } = turn;
        BatchOutcome {
            alert_changes: alarm,
            missed_results: missed,
            after: PostCommitActions {
                verifications: asks,
                traceroutes: traces,
                release_checks: hasten,
                events,
                wakes_delivery: rings,
            },
        }
    }

    /// Takes `result`; what is compared with earlier runs is judged first.
    async fn on_result(&mut self, result: &mut CheckResult, turn: &mut BatchContext) {
        let Some(watched) = self.monitors.get_mut(&result.monitor_id).filter(|watched| watched.active) else {
            return;
        };
        let Some((facts, version)) = self.accounts.get(watched.monitor.customer) else { return };
        let rules = watched.rules(facts, version, self.settings);
        if rules.policy.notify_on_content_change && baseline::needs_baseline(watched, result) {
            let results = self.parts.results.as_ref();
            let before = baseline::load_last_page(results, result.monitor_id, result.location_id).await;
            watched.pages.push((result.location_id, before));
        }
        let mut objects = None;
        if let Some(rule) = rules.page_objects
            && result.details.page.is_some()
        {
            if !watched.objects.iter().any(|(location, _)| *location == result.location_id) {
                let results = self.parts.results.as_ref();
                let before =
                    baseline::load_last_objects(results, result.monitor_id, result.location_id).await;
                watched.objects.push((result.location_id, before));
            }
            objects = watched.compare_objects(result, rule);
        }
        let heard = watched.location_result(result, &rules, objects);
        let moment = InputContext { facts, offline_locations: self.locations.offline(), now: turn.now };
        let effects = watched.apply(AlertInput::Result(heard), &rules, moment);
        self.queue_effects(result.monitor_id, effects, turn);
    }

    /// Lets something else happen to `monitor`.
    pub(super) fn on_input(&mut self, monitor: MonitorId, what: AlertInput, turn: &mut BatchContext) {
        let Some(watched) = self.monitors.get_mut(&monitor).filter(|watched| watched.active) else { return };
        let Some((facts, version)) = self.accounts.get(watched.monitor.customer) else { return };
        let rules = watched.rules(facts, version, self.settings);
        let moment = InputContext { facts, offline_locations: self.locations.offline(), now: turn.now };
        let effects = watched.apply(what, &rules, moment);
        self.queue_effects(monitor, effects, turn);
    }

    /// Notes what follows for the rest of the turn, and when to look again.
    pub(super) fn queue_effects(
        &mut self,
        monitor: MonitorId,
        effects: Vec<Effect>,
        turn: &mut BatchContext,
    ) {
        let Some(watched) = self.monitors.get_mut(&monitor) else { return };
        if watched.has_stored_state || !watched.state.is_default() {
            turn.dirty_monitors.insert(monitor);
        }
        if let Some(due) = watched.state.next_tick_at()
            && watched.timer.is_none_or(|set| due < set)
        {
            watched.timer = Some(due);
            self.timers.set(due, monitor);
        }
        turn.effects.extend(effects.into_iter().map(|effect| (monitor, effect)));
        self.publish_health(monitor);
    }

    fn on_tick(&mut self, turn: &mut BatchContext) {
        while let Some((at, monitor)) = self.timers.pop_due(turn.now) {
            let Some(watched) = self.monitors.get_mut(&monitor).filter(|watched| watched.timer == Some(at))
            else {
                continue;
            };
            watched.timer = None;
            if watched.state.next_tick_at().is_some_and(|due| due <= turn.now) {
                self.on_input(monitor, AlertInput::Tick, turn);
                self.defer_timer(monitor, turn.now);
            } else {
                self.queue_effects(monitor, Vec::new(), turn);
            }
        }
    }

    /// Puts off a timer that its look did not bring forward, so that the loop does not turn on the spot.
    fn defer_timer(&mut self, monitor: MonitorId, now: Timestamp) {
        let later = now + Duration::from_secs(1);
        if let Some(watched) =
            self.monitors.get_mut(&monitor).filter(|watched| watched.timer.is_some_and(|at| at <= now))
        {
            watched.timer = Some(later);
            self.timers.set(later, monitor);
        }
    }

    fn apply_effect(&mut self, monitor: MonitorId, effect: Effect, turn: &mut BatchContext) {
        let Some(watched) = self.monitors.get(&monitor) else { return };
        match effect {
            Effect::RequestVerification { planned_at, check, location, failed } => {
                let second = self.select_verifier(watched, &failed, (location, check));
                match second {
                    Ok((location, longest)) => {
                        turn.asks.push(VerificationRequest {
                            monitor: watched.monitor.clone(),
                            planned_at,
                            location,
                            longest,
                        });
                    }
                    Err(status) => {
                        self.apply_verification(monitor, planned_at, not_verified(status, turn.now), turn);
                    }
                }
            }
            Effect::RecordVerification { planned_at, location, answer } => {
                turn.alarm
                    .verifications
                    .push(VerifiedCheck { result: result_key(monitor, planned_at, location), answer });
            }
            Effect::RecordMissed { planned_at, locations } => {
                for location in locations {
                    turn.missed.push(stored_forms::missed_result(
                        &watched.monitor,
                        location,
                        planned_at,
                        turn.now,
                    ));
                    let customer = watched.monitor.customer;
                    if self.offline.mark_offline(customer, location) {
                        let name = self.locations.name(location);
                        turn.events.push(super::offline_locations::location_event(
                            customer, name, location, true, turn.now,
                        ));
                    }
                }
            }
            Effect::UpdateEpisode(change) => {
                turn.alarm.episodes.push(stored_forms::episode_record(&watched.monitor, &change));
            }
            // Its audience is that of the news that follows.
            Effect::RunTraceroute { planned_at, location, check, audience: _ } => {
                if self.traceroutes.try_acquire(location, turn.now) {
                    let result = result_key(monitor, planned_at, location);
                    turn.traced_checks.insert(check);
                    let monitor = watched.monitor.clone();
                    turn.traces.push(TracerouteJob { monitor, result, address: None, messages: Vec::new() });
                }
            }
            Effect::Notify { recipient, group, news } => {
                let traced = news.awaits_trace
                    && news
                        .deciding_result
                        .as_ref()
                        .is_some_and(|cause| turn.traced_checks.contains(&cause.check_id));
                if traced {
                    let news = NotificationDraft { kind: NotificationKind::Traceroute, ..news.clone() };
                    turn.traceroute_notifications.push(PendingNotification {
                        monitor,
                        recipient,
                        group,
                        draft: news,
                    });
                }
                turn.notifications.push(PendingNotification { monitor, recipient, group, draft: news });
            }
        }
    }

    /// Who is asked about a failure, and how long its check may take; or why nobody is.
    fn select_verifier(
        &self,
        watched: &MonitorEntry,
        failed: &[LocationId],
        of: (LocationId, CheckId),
    ) -> Result<(LocationId, Duration), Status> {
        let known = self.accounts.get(watched.monitor.customer).zip(watched.rules.as_ref());
        let ((facts, _), (_, rules)) = known.ok_or(Status::VERIFIED_UNAVAILABLE)?;
        let location = self.locations.select_verifier(&rules.policy, facts, failed, of);
        let location = location.ok_or(Status::VERIFIED_UNAVAILABLE)?;
        if !self.verifications.has_capacity() {
            return Err(Status::VERIFIED_NO_ANSWER);
        }
        Ok((location, rules.policy.run_plan.max_check_duration))
    }

    /// What follows comes before what is left of the turn, as it would have if it had followed at once.
    fn apply_verification(
        &mut self,
        monitor: MonitorId,
        planned_at: Timestamp,
        answer: Verification,
        turn: &mut BatchContext,
    ) {
        let rest = std::mem::take(&mut turn.effects);
        self.on_input(monitor, AlertInput::Verification(planned_at, answer), turn);
        turn.effects.extend(rest);
    }

    fn record_recovered_locations(&mut self, turn: &mut BatchContext) {
        for (customer, location) in self.offline.take_recovered(self.locations.offline()) {
            let name = self.locations.name(location);
            turn.events
                .push(super::offline_locations::location_event(customer, name, location, false, turn.now));
        }
    }

    /// Adds the watches that changed to what is kept; those that are idle are forgotten.
    fn store_states(&mut self, turn: &mut BatchContext) {
        let mut touched: Vec<MonitorId> = turn.dirty_monitors.drain().collect();
        touched.sort_unstable();
        for monitor in touched {
            let Some(watched) = self.monitors.get_mut(&monitor) else { continue };
            let body =
                if watched.state.is_default() { None } else { serde_json::to_string(&watched.state).ok() };
            if body.is_some() || watched.has_stored_state {
                watched.has_stored_state = body.is_some();
                turn.alarm.alert_states.push((monitor, body));
            }
        }
    }
}
