//! One turn of the loop: what came in, what follows from it.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::engine::Lookout;
use super::input::{Word, key_of};
use super::trace::Trace;
use super::verify::{Ask, unasked};
use super::watched::{Happening, Moment, Watched};
use super::{baseline, records};
use crate::alerting::{Effect, NotificationDraft};
use crate::domain::{
    CheckId, CheckResult, LocationId, MonitorId, NotificationKind, RecipientId, Status, Timestamp,
    Verification,
};
use crate::store::{AlertChanges, Evidence, NewRecord, VerifiedCheck};

/// How long a traceroute waits at most for the alert that waited for it: both are made due together.
const BEHIND: Duration = Duration::from_millis(500);

/// What a turn came to.
#[derive(Default)]
pub(in crate::pipeline) struct Step {
    /// What is kept with the results of the turn.
    pub(in crate::pipeline) alarm: AlertChanges,
    /// Runs that were missed because a location was away; to be kept with the results.
    pub(in crate::pipeline) missed: Vec<CheckResult>,
    /// What begins once all is kept.
    pub(in crate::pipeline) after: After,
}

/// What begins once all is kept.
#[derive(Default)]
pub(in crate::pipeline) struct After {
    pub(super) asks: Vec<Ask>,
    pub(super) traces: Vec<Trace>,
    /// Checks whose messages need not wait any more.
    pub(super) hasten: Vec<CheckId>,
    pub(super) events: Vec<NewRecord>,
    /// Whether there are new messages.
    pub(super) rings: bool,
}

/// What is gathered in a turn.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) now: Timestamp,
    pub(super) effects: VecDeque<(MonitorId, Effect)>,
    /// Monitors whose watch is to be kept, or forgotten.
    pub(super) touched: HashSet<MonitorId>,
    pub(super) tellings: Vec<Telling>,
    /// Those that come with traceroutes.
    pub(super) later: Vec<Telling>,
    pub(super) traces: Vec<Trace>,
    /// Checks that are traced.
    pub(super) traced: HashSet<CheckId>,
    pub(super) asks: Vec<Ask>,
    pub(super) hasten: Vec<CheckId>,
    pub(super) events: Vec<NewRecord>,
    pub(super) alarm: AlertChanges,
    pub(super) missed: Vec<CheckResult>,
}

/// Somebody who is told.
pub(super) struct Telling {
    pub(super) monitor: MonitorId,
    pub(super) recipient: RecipientId,
    pub(super) group: Option<i64>,
    pub(super) news: NotificationDraft,
}

impl Lookout {
    /// Takes `results` and `words`. Time passes only in a turn after which nothing waits: where several answers are
    /// late, all of them count before runs are closed.
    pub(in crate::pipeline) async fn turn(
        &mut self,
        results: &mut [CheckResult],
        words: Vec<Word>,
        time_passes: bool,
    ) -> Step {
        let mut turn = Turn { now: self.parts.clock.now(), ..Turn::default() };
        if time_passes {
            self.places.look(turn.now);
        }
        self.accounts.refresh().await;
        let mut answers = Vec::new();
        for word in words {
            match word {
                Word::Changed { puts, removed } => self.change(puts, removed, &mut turn).await,
                Word::Answered { monitor, planned_at, answer } => answers.push((monitor, planned_at, answer)),
                Word::Traced { result, file, messages } => {
                    turn.hasten.push(result.check_id);
                    turn.alarm.evidence.extend(file.map(|file| Evidence { result, file }));
                    let now = turn.now;
                    let due = messages.into_iter().map(move |mut message| {
                        // Behind the alert that waited for it, which is made due after this is kept.
                        (message.created_at, message.not_before) = (now, now + BEHIND);
                        message
                    });
                    turn.alarm.notifications.extend(due);
                }
                Word::Acknowledged { monitor, episode } => {
                    if self
                        .watched
                        .get_mut(&monitor)
                        .is_some_and(|watched| watched.watch.acknowledge(episode))
                    {
                        turn.touched.insert(monitor);
                    }
                }
            }
        }
        for result in &mut *results {
            self.hear(result, &mut turn).await;
        }
        for (monitor, planned_at, answer) in answers {
            self.happen(monitor, Happening::Answered(planned_at, answer), &mut turn);
        }
        if time_passes {
            self.pass_time(&mut turn);
        }
        while let Some((monitor, effect)) = turn.effects.pop_front() {
            self.perform(monitor, effect, &mut turn);
        }
        self.notice_return(&mut turn);
        self.tell(&mut turn, results).await;
        self.remember(&mut turn);
        let rings = !turn.alarm.notifications.is_empty();
        let Turn { asks, traces, hasten, events, alarm, missed, .. } = turn;
        Step { alarm, missed, after: After { asks, traces, hasten, events, rings } }
    }

    /// Takes `result`; what is compared with earlier runs is judged first.
    async fn hear(&mut self, result: &mut CheckResult, turn: &mut Turn) {
        let Some(watched) = self.watched.get_mut(&result.monitor_id).filter(|watched| watched.active) else {
            return;
        };
        let Some((facts, version)) = self.accounts.get(watched.monitor.customer) else { return };
        let rules = watched.rules(facts, version, self.settings);
        if rules.policy.notify_on_content_change && baseline::is_missing(watched, result) {
            let results = self.parts.results.as_ref();
            let before = baseline::last_page(results, result.monitor_id, result.location_id).await;
            watched.pages.push((result.location_id, before));
        }
        let mut objects = None;
        if let Some(rule) = rules.page
            && result.details.page.is_some()
        {
            if !watched.objects.iter().any(|(location, _)| *location == result.location_id) {
                let results = self.parts.results.as_ref();
                let before = baseline::last_objects(results, result.monitor_id, result.location_id).await;
                watched.objects.push((result.location_id, before));
            }
            objects = watched.compare_objects(result, rule);
        }
        let heard = watched.heard(result, &rules, objects);
        let moment = Moment { facts, away: self.places.away(), now: turn.now };
        let effects = watched.take(Happening::Heard(heard), &rules, moment);
        self.settle(result.monitor_id, effects, turn);
    }

    /// Lets something else happen to `monitor`.
    pub(super) fn happen(&mut self, monitor: MonitorId, what: Happening, turn: &mut Turn) {
        let Some(watched) = self.watched.get_mut(&monitor).filter(|watched| watched.active) else { return };
        let Some((facts, version)) = self.accounts.get(watched.monitor.customer) else { return };
        let rules = watched.rules(facts, version, self.settings);
        let moment = Moment { facts, away: self.places.away(), now: turn.now };
        let effects = watched.take(what, &rules, moment);
        self.settle(monitor, effects, turn);
    }

    /// Notes what follows for the rest of the turn, and when to look again.
    pub(super) fn settle(&mut self, monitor: MonitorId, effects: Vec<Effect>, turn: &mut Turn) {
        let Some(watched) = self.watched.get_mut(&monitor) else { return };
        if watched.kept || !watched.watch.is_default() {
            turn.touched.insert(monitor);
        }
        if let Some(due) = watched.watch.next_tick_at()
            && watched.timer.is_none_or(|set| due < set)
        {
            watched.timer = Some(due);
            self.timers.set(due, monitor);
        }
        turn.effects.extend(effects.into_iter().map(|effect| (monitor, effect)));
        self.note_health(monitor);
    }

    fn pass_time(&mut self, turn: &mut Turn) {
        while let Some((at, monitor)) = self.timers.pop(turn.now) {
            let Some(watched) = self.watched.get_mut(&monitor).filter(|watched| watched.timer == Some(at))
            else {
                continue;
            };
            watched.timer = None;
            if watched.watch.next_tick_at().is_some_and(|due| due <= turn.now) {
                self.happen(monitor, Happening::Tick, turn);
                self.come_back(monitor, turn.now);
            } else {
                self.settle(monitor, Vec::new(), turn);
            }
        }
    }

    /// Puts off a timer that its look did not bring forward, so that the loop does not turn on the spot.
    fn come_back(&mut self, monitor: MonitorId, now: Timestamp) {
        let later = now + Duration::from_secs(1);
        if let Some(watched) =
            self.watched.get_mut(&monitor).filter(|watched| watched.timer.is_some_and(|at| at <= now))
        {
            watched.timer = Some(later);
            self.timers.set(later, monitor);
        }
    }

    fn perform(&mut self, monitor: MonitorId, effect: Effect, turn: &mut Turn) {
        let Some(watched) = self.watched.get(&monitor) else { return };
        match effect {
            Effect::RequestVerification { planned_at, check, location, failed } => {
                let second = self.second(watched, &failed, (location, check));
                match second {
                    Ok((location, longest)) => {
                        turn.asks.push(Ask {
                            monitor: watched.monitor.clone(),
                            planned_at,
                            location,
                            longest,
                        });
                    }
                    Err(status) => self.answer_now(monitor, planned_at, unasked(status, turn.now), turn),
                }
            }
            Effect::RecordVerification { planned_at, location, answer } => {
                turn.alarm
                    .verifications
                    .push(VerifiedCheck { result: key_of(monitor, planned_at, location), answer });
            }
            Effect::RecordMissed { planned_at, locations } => {
                for location in locations {
                    turn.missed.push(records::missed(&watched.monitor, location, planned_at, turn.now));
                    let customer = watched.monitor.customer;
                    if self.away.is_news(customer, location) {
                        let name = self.places.name(location);
                        turn.events.push(super::away::event(customer, name, location, true, turn.now));
                    }
                }
            }
            Effect::UpdateEpisode(change) => {
                turn.alarm.episodes.push(records::episode(&watched.monitor, &change))
            }
            // Its audience is that of the news that follows.
            Effect::RunTraceroute { planned_at, location, check, audience: _ } => {
                if self.traces.admit(location, turn.now) {
                    let result = key_of(monitor, planned_at, location);
                    turn.traced.insert(check);
                    let monitor = watched.monitor.clone();
                    turn.traces.push(Trace { monitor, result, address: None, messages: Vec::new() });
                }
            }
            Effect::Notify { recipient, group, news } => {
                let traced = news.awaits_trace
                    && news
                        .deciding_result
                        .as_ref()
                        .is_some_and(|cause| turn.traced.contains(&cause.check_id));
                if traced {
                    let news = NotificationDraft { kind: NotificationKind::Traceroute, ..news.clone() };
                    turn.later.push(Telling { monitor, recipient, group, news });
                }
                turn.tellings.push(Telling { monitor, recipient, group, news });
            }
        }
    }

    /// Who is asked about a failure, and how long its check may take; or why nobody is.
    fn second(
        &self,
        watched: &Watched,
        failed: &[LocationId],
        of: (LocationId, CheckId),
    ) -> Result<(LocationId, Duration), Status> {
        let known = self.accounts.get(watched.monitor.customer).zip(watched.rules.as_ref());
        let ((facts, _), (_, rules)) = known.ok_or(Status::VERIFIED_UNAVAILABLE)?;
        let location = self.places.second(&rules.policy, facts, failed, of);
        let location = location.ok_or(Status::VERIFIED_UNAVAILABLE)?;
        if !self.asks.has_room() {
            return Err(Status::VERIFIED_NO_ANSWER);
        }
        Ok((location, rules.policy.run_plan.max_check_duration))
    }

    /// What follows comes before what is left of the turn, as it would have if it had followed at once.
    fn answer_now(
        &mut self,
        monitor: MonitorId,
        planned_at: Timestamp,
        answer: Verification,
        turn: &mut Turn,
    ) {
        let rest = std::mem::take(&mut turn.effects);
        self.happen(monitor, Happening::Answered(planned_at, answer), turn);
        turn.effects.extend(rest);
    }

    fn notice_return(&mut self, turn: &mut Turn) {
        for (customer, location) in self.away.back(self.places.away()) {
            let name = self.places.name(location);
            turn.events.push(super::away::event(customer, name, location, false, turn.now));
        }
    }

    /// Adds the watches that changed to what is kept; those that are idle are forgotten.
    fn remember(&mut self, turn: &mut Turn) {
        let mut touched: Vec<MonitorId> = turn.touched.drain().collect();
        touched.sort_unstable();
        for monitor in touched {
            let Some(watched) = self.watched.get_mut(&monitor) else { continue };
            let body =
                if watched.watch.is_default() { None } else { serde_json::to_string(&watched.watch).ok() };
            if body.is_some() || watched.kept {
                watched.kept = body.is_some();
                turn.alarm.alert_states.push((monitor, body));
            }
        }
    }
}
